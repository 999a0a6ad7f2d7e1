import zlib
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand, named
from annotate.management.base import release_named
from corpora.commands import write
from corpora.reading.files import decoded
from corpora.wording import counted
from leaderboard.models import Challenge
from leaderboard.queries import state_of, submission_table
from leaderboard.services.challenges import (
    close_challenge,
    hide_board,
    publish_board,
    set_people,
)


class Command(DomainCommand):
    help = (
        "Show a challenge, publish its board, close it, write its submissions as CSV, or show on "
        "its board what people said of them."
    )

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

        act.add_argument(
            "--save",
            type=Path,
            metavar="DIR",
            help="write the results file of each scored submission into this folder, to have its "
            "captions rated",
        )
        act.add_argument(
            "--people",
            metavar="RELEASE",
            help="show people's ratings on the board: a release of ratings of the submissions' "
            "captions",
        )
        parser.add_argument(
            "--criterion",
            metavar="NAME",
            help="the question of --people that counts (default: the total, or the first one)",
        )

    def handle(self, *, challenge: str, **options: Any) -> None:
        if options["criterion"] is not None and not options["people"]:
            raise CommandError("--criterion goes with --people.")
        found = challenge_named(challenge)
        if options["publish"]:
            publish_board(challenge=found, at=timezone.now())
        elif options["hide"]:
            hide_board(challenge=found)
        elif options["close"]:
            close_challenge(challenge=found, at=timezone.now())
        elif options["csv"]:
            write(options["csv"], "".join(submission_table(found)))
            self.stdout.write(str(options["csv"]))
            return
        elif options["save"]:
            self._save(found, options["save"])
            return
        elif options["people"]:
            release = release_named(options["people"])
            count = set_people(challenge=found, release=release, criterion=options["criterion"])
            self.stdout.write(f"{counted(count, 'submission')} found among the rated captions.")
        self._show(challenge_named(challenge))

    def _save(self, challenge: Challenge, folder: Path) -> None:
        submissions = challenge.submissions.scored()
        if challenge.release.images.filter(is_hidden=True).exists():
            # Hidden captions leave the site by an export that is recorded.
            submissions = submissions.filter(is_baseline=False)
        for submission in submissions:
            path = folder / f"{submission.pk}.json"
            write(path, decoded(path.name, zlib.decompress(submission.file.content)))
            self.stdout.write(f"{path}: {submission.method}")

    def _show(self, challenge: Challenge) -> None:
        at = timezone.now()
        board = "public" if challenge.is_published else "private"
        counts = challenge.submissions.by_status()
        self.stdout.write(f"{challenge}: {state_of(challenge, at)}, board {board}")
        for status, number in counts.items():
            self.stdout.write(f"  {status.lower()}: {number}")


def challenge_named(name: str) -> Challenge:
    """The challenge; raises CommandError, which lists existing names."""
    return named(Challenge, "name", name, "challenge")
