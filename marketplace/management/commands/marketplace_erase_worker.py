"""The command that prints or erases the data of one worker."""

import json
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from marketplace import clock
from marketplace.errors import DomainError
from marketplace.models import Worker
from marketplace.services.operators import noted
from marketplace.services.retention import data_of, erase_worker


class Command(BaseCommand):
    help = (
        "Print everything that is stored about a worker as JSON, or erase the personal data and "
        "close the account. HITs, answers and payments stay under the worker id."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("worker", help="the worker's id")
        parser.add_argument(
            "--confirm", action="store_true", help="erase; without it, only print the data"
        )

    def handle(self, *, worker: str, confirm: bool, **_: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        found = Worker.objects.filter(public_id=worker.strip().upper()).first()
        if found is None:
            raise CommandError(f"No worker has the id {worker}.")
        if not confirm:
            self.stdout.write(
                json.dumps(data_of(found), cls=DjangoJSONEncoder, indent=2, ensure_ascii=False)
            )
            return
        at = clock.now()
        about = "erased worker"
        try:
            with noted(actor="command", action="erased a worker's data", about=about, at=at):
                erase_worker(worker=found, at=at)
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"The personal data of {found} is erased, and the account is closed.")
