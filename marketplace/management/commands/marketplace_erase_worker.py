"""The command that prints or erases the data of one worker."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from marketplace import clock
from marketplace.management.base import DomainCommand
from marketplace.models import Worker
from marketplace.services.operators import noted
from marketplace.services.retention import data_of, erase_worker


class Command(DomainCommand):
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
        account = Worker.objects.filter(public_id=worker.strip().upper()).first()
        if account is None:
            raise CommandError(f"No worker has the id {worker}.")
        if not confirm:
            self.stdout.write(
                json.dumps(data_of(account), cls=DjangoJSONEncoder, indent=2, ensure_ascii=False)
            )
            return
        at = clock.now()
        about = "erased worker"
        with noted(actor="command", action="erased a worker's data", about=about, at=at):
            erase_worker(worker=account, at=at)
        self.stdout.write(f"The personal data of {account} is erased, and the account is closed.")
