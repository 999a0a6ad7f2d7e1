from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotate.management.base import DomainCommand
from leaderboard.models import Challenge
from leaderboard.queries.tables import submission_table
from leaderboard.services.challenges import hide_board, publish_board, set_closing


class Command(DomainCommand):
    help = "Show a challenge, publish its board, close it, or write its submissions as CSV."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("challenge", metavar="CHALLENGE", help="name of the challenge")
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--publish", action="store_true", help="show the board to everybody")
        act.add_argument("--hide", action="store_true", help="make the board private again")
        act.add_argument(
            "--close", action="store_true", help="take no more submissions from now on"
        )
        act.add_argument(
            "--csv", type=Path, metavar="FILE", help="write all submissions with their scores"
        )

    def handle(self, *, challenge: str, **options: Any) -> None:
        found = challenge_named(challenge)
        if options["publish"]:
            publish_board(challenge=found, at=timezone.now())
        elif options["hide"]:
            hide_board(challenge=found)
        elif options["close"]:
            set_closing(challenge=found, closes_at=timezone.now())
        elif options["csv"]:
            _write(found, options["csv"])
            self.stdout.write(str(options["csv"]))
            return
        self._show(challenge_named(challenge))

    def _show(self, challenge: Challenge) -> None:
        at = timezone.now()
        state = "open" if challenge.is_open(at) else "closed"
        board = "public" if challenge.is_published else "private"
        counts = challenge.submissions.by_status()
        self.stdout.write(f"{challenge}: {state}, board {board}")
        for status, number in counts.items():
            self.stdout.write(f"  {status.lower()}: {number}")


def challenge_named(name: str) -> Challenge:
    """The challenge; raises CommandError, which lists existing names."""
    found = Challenge.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(Challenge.objects.values_list("name", flat=True)[:20]) or "none"
        raise CommandError(f"There is no challenge {name!r}. Existing names: {names}.")
    return found


def _write(challenge: Challenge, path: Path) -> None:
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            file.writelines(submission_table(challenge))
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise CommandError(f"Cannot write {path}: {error.strerror}.") from error
