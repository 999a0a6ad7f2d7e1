from typing import Any

from accounts.management.base import DomainCommand
from corpora.wording import counted
from leaderboard.services.scoring import score_waiting


class Command(DomainCommand):
    help = (
        "Score the submissions to challenges that wait, each in a process of its own with limits "
        "of time and memory. Several of these commands can run at the same time."
    )

    def handle(self, **_: Any) -> None:
        runs = 0
        for submission in score_waiting():
            runs += 1
            status = submission.get_status_display().lower()
            self.stdout.write(f"{submission.challenge} {submission.pk}: {status}")
            self.stdout.flush()
        self.stdout.write(f"{counted(runs, 'run')} ended.")
