import sys
from typing import Any

from django.utils import timezone

from accounts.management.base import DomainCommand
from corpora.errors import DomainError
from corpora.wording import counted
from hits.services.accounts import worker_named
from hits.services.worker_data import erase_worker, preview_erasure


class Command(DomainCommand):
    help = (
        "Erase the personal data of one worker at the worker's request: the id, behaviour counts, "
        "task pages, and texts of appeals and remarks. Answers, payments and decisions stay under "
        "the pseudonym."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument(
            "worker",
            help="pseudonym, or the worker's id at the marketplace; - reads it from a line",
        )
        parser.add_argument(
            "--confirm", action="store_true", help="erase; without it, only say what would change"
        )

    def handle(self, *, worker: str, confirm: bool, **_: Any) -> None:
        found = worker_named(sys.stdin.readline() if worker == "-" else worker)
        if confirm:
            erasure = erase_worker(worker=found, by=None, at=timezone.now())
        else:
            erasure = preview_erasure(found)
        self.stdout.write(
            f"{found}: {counted(erasure.behaviours, 'behaviour count')}, "
            f"{counted(erasure.pages, 'task page')} and {counted(erasure.texts, 'text')} of "
            f"appeals and remarks {'deleted' if confirm else 'would be deleted, with the id'}; "
            f"{counted(erasure.kept_answers, 'answer')} kept without the id."
        )
        if erasure.open_campaigns:
            self.stdout.write(
                f"{counted(erasure.open_campaigns, 'campaign')} of the worker not finished: "
                "a worker who comes back counts as a new one there."
            )
        if not confirm:
            raise DomainError("Nothing was erased. Repeat with --confirm. It cannot be undone.")
