import time
from typing import Any, NoReturn

from django.core.management.base import CommandParser

from annotate.management.base import DomainCommand
from annotate.management.retry import Retry
from annotate.wording import counted
from leaderboard.models import Submission
from leaderboard.scoring.queue import score_waiting


class Command(DomainCommand):
    help = (
        "Score the submissions to challenges that wait, each in a process of its own with limits "
        "of time and memory. Several of these commands can run at the same time."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--watch",
            type=float,
            metavar="SECONDS",
            help="look for submissions every SECONDS, until a signal ends the command",
        )

    def handle(self, *, watch: float | None, **_: Any) -> None:
        if watch:
            self._watch(watch)
        scored = self._score()
        self.stdout.write(f"{counted(scored, 'run')} ended.")

    def _watch(self, seconds: float) -> NoReturn:
        retry = Retry()
        while True:
            retry.attempt(self._score)
            time.sleep(seconds)

    def _score(self) -> int:
        """Score until nothing waits; return the number of runs."""
        runs = 0
        for submission in score_waiting():
            runs += 1
            self.stdout.write(_line(submission))
            self.stdout.flush()
        return runs


def _line(submission: Submission) -> str:
    return f"{submission.challenge} {submission.pk}: {submission.get_status_display().lower()}"
