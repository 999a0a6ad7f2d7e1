"""The command that prints hours or withdrawals of a group of people as CSV."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser

from marketplace.management.base import DomainCommand
from marketplace.models import PeopleGroup
from marketplace.services import people_work
from marketplace.services.accounts import normal_name
from shared.tables import csv_lines


class Command(DomainCommand):
    help = (
        "Print a group's people as CSV: hours and tasks by person for whoever pays, or the "
        "withdrawn work, which import_withdrawals reads."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("group", metavar="GROUP", help="name of the group")
        parser.add_argument(
            "--withdrawals", action="store_true", help="print the withdrawn work instead of hours"
        )
        parser.add_argument(
            "--requester", metavar="NAME", help="requester whose program made the group"
        )
        parser.add_argument("--since", metavar="DAY", help="only tasks sent on this day or later")
        parser.add_argument("--before", metavar="DAY", help="only tasks sent before this day")

    def handle(self, *, group: str, withdrawals: bool, **options: Any) -> None:
        if withdrawals and (options["since"] or options["before"]):
            raise CommandError("--since and --before go without --withdrawals.")
        people_group = _find(group, options["requester"])
        if withdrawals:
            rows = people_work.withdrawals(people_group.offers.all())
            self._print(people_work.WITHDRAWAL_COLUMNS, rows)
            return
        span = {name: _day(options[name]) for name in ("since", "before")}
        work = people_work.work_by_person(group=people_group, **span)
        self._print(people_work.HOURS_COLUMNS, (person.row for person in work))

    def _print(self, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        for lines in csv_lines(head, rows):
            self.stdout.write(lines, ending="")


def _find(name: str, requester: str | None) -> PeopleGroup:
    """The group with this name; raises CommandError if there is none, or several."""
    groups = PeopleGroup.objects.filter(name=normal_name(name))
    if requester is not None:
        groups = groups.filter(requester__name=requester)
    found = groups[:2]
    if not found:
        raise CommandError(f"There is no group of people called {name!r}.")
    if len(found) > 1:
        raise CommandError(f"Several groups are called {name!r}. Give --requester.")
    return found[0]


def _day(text: str | None) -> datetime | None:
    """Midnight of the day in UTC; raises CommandError."""
    try:
        return None if text is None else datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise CommandError(f"{text!r} is not a day, such as 2026-03-01.") from error
