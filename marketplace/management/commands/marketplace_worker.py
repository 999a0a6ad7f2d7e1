"""The command that creates workers, or new sign-in links for them."""

import json
from argparse import BooleanOptionalAction
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from marketplace import clock
from marketplace.management.base import DomainCommand
from marketplace.services.accounts import LONGEST_NAME, normal_name
from marketplace.services.links import sign_in_url
from marketplace.services.operators import MOST_APPROVED, get_or_create_worker, profile_columns
from shared.number_fields import whole


class Command(DomainCommand):
    help = (
        "Create workers and print a sign-in link for each. The same name gives the same worker, "
        "with a new link."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="+", metavar="NAME", help="name of the worker")
        parser.add_argument(
            "--country",
            help="country of the worker, such as US, or US-PA with a state; HITs can require it",
        )
        parser.add_argument(
            "--approved",
            type=whole(0, MOST_APPROVED),
            help="number of approved assignments to give the worker",
        )
        parser.add_argument(
            "--rate",
            type=whole(1, 100),
            help="approval rate for --approved, 1 to 100 (default: 100)",
        )
        parser.add_argument(
            "--masters",
            action=BooleanOptionalAction,
            help="grant or revoke the Masters qualification",
        )
        parser.add_argument(
            "--adult",
            action=BooleanOptionalAction,
            help="set whether the worker is an adult who accepts HITs with adult content",
        )
        parser.add_argument("--json", action="store_true", help="print a JSON object per line")

    def handle(self, *, names: list[str], **options: Any) -> None:
        columns = self._columns(options)
        names = list(map(normal_name, names))
        if not all(1 <= len(name) <= LONGEST_NAME for name in names):
            raise CommandError(f"A worker's name must have 1 to {LONGEST_NAME} characters.")
        for name in names:
            worker = get_or_create_worker(name=name, columns=columns, at=clock.now())
            url = sign_in_url(worker)
            if options["json"]:
                line = json.dumps({"worker_id": worker.public_id, "sign_in_url": url})
            else:
                line = f"{name} ({worker.public_id}): {url}"
            self.stdout.write(line)

    def _columns(self, options: Mapping[str, Any]) -> dict[str, int | str]:
        if options["rate"] is not None and options["approved"] is None:
            raise CommandError("--rate needs --approved.")
        given = {name: options[name] for name in ("country", "approved", "rate")}
        try:
            return profile_columns(**given, is_master=options["masters"], is_adult=options["adult"])
        except ValueError as error:  # the numbers were read as such
            raise CommandError("--country must be two letters, such as US, or US-PA.") from error
