from typing import Any

from django.utils import timezone

from annotate.management.base import DomainCommand
from corpora.errors import DomainError
from corpora.wording import counted
from hits.queries.worker_data import worker_named
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
        found = worker_named(input() if worker == "-" else worker)
        if confirm:
            done = erase_worker(worker=found, by=None, at=timezone.now())
        else:
            done = preview_erasure(found)
        self.stdout.write(
            f"{found}: {counted(done.behaviours, 'behaviour count')}, "
            f"{counted(done.pages, 'task page')} and {counted(done.texts, 'text')} of appeals and "
            f"remarks {'deleted' if confirm else 'would be deleted, with the id'}; "
            f"{counted(done.kept_answers, 'answer')} kept without the id."
        )
        if done.open_campaigns:
            self.stdout.write(
                f"{counted(done.open_campaigns, 'campaign')} of the worker not finished: "
                "a worker who comes back counts as a new one there."
            )
        if not confirm:
            raise DomainError("Nothing was erased. Repeat with --confirm. It cannot be undone.")
