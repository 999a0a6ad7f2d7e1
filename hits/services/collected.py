"""Taking in captions that were collected elsewhere, by the road that ingested ones take."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from django.db import transaction

from annotate.datasets.collected import Collected, Columns, Fault, image_names, read_collected
from annotate.datasets.csv_files import Progress, no_progress
from annotate.errors import DomainError
from annotate.language.text import normalise
from annotate.models import Behaviour, Campaign, Image, Response, ResponseStatus, Worker
from annotate.services.responses import add_collected
from hits.services.accounts import account_for
from qualcontrol.services import decide, learn, review_submitted

# Captions that go in as one transaction, which takes about a second.
BATCH = 500


@dataclass
class Intake:
    """What became of a file's entries."""

    new: int = 0
    known: int = 0
    rejected: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def read(self) -> int:
        return self.new + self.known + self.rejected + len(self.faults)


def import_collected(
    *,
    campaign: Campaign,
    path: Path,
    columns: Columns,
    at: datetime,
    with_rejected: bool = False,
    progress: Progress = no_progress,
) -> Intake:
    """Take in a file's captions in its order, a batch a transaction; what is in already stays as
    it is. Raises DomainError, and MalformedFile for a file that cannot be read (to its end)."""
    if campaign.kind != "caption":
        raise DomainError(f"{campaign} collects no captions, its kind is {campaign.kind}.")
    intake = Intake()
    importer = _Importer(campaign, at, with_rejected, intake)
    entries = read_collected(path, columns=columns, progress=progress)
    while batch := list(islice(entries, BATCH)):
        importer.take(batch)
    if intake.new:
        learn(campaign=campaign)
        decide(campaign=campaign, at=at)
    return intake


class _Placed(NamedTuple):
    """A caption of the file, whose image and worker were found."""

    entry: Collected
    text: str
    task: int
    worker: int


class _Importer:
    """Finds each entry's task and worker, and stores what is new."""

    def __init__(
        self, campaign: Campaign, at: datetime, with_rejected: bool, intake: Intake
    ) -> None:
        self.campaign, self.at, self.intake = campaign, at, intake
        self.with_rejected = with_rejected
        self.tasks = _tasks_by_name(campaign)
        self.workers: dict[str, int] = {}
        self.lines: dict[tuple[int, int], int] = {}

    @transaction.atomic
    def take(self, batch: Sequence[Collected | Fault]) -> None:
        placed = [found for entry in batch if (found := self._place(entry))]
        workers = {found.worker for found in placed}
        # Before the tasks, as everywhere; and an exclusion that is being made is waited for.
        list(Worker.objects.select_for_update().filter(pk__in=workers).order_by("pk"))
        new = list(self._without_known(placed))
        review_submitted(campaign=self.campaign, responses=self._store(new), at=self.at)
        self.intake.new += len(new)

    def _place(self, entry: Collected | Fault) -> _Placed | None:
        """The entry's task and worker; what has none, or is not wanted, is counted."""
        if isinstance(entry, Fault):
            self.intake.faults.append(entry)
            return None
        if entry.is_rejected and not self.with_rejected:
            self.intake.rejected += 1
            return None
        task = self._task(entry.image)
        text = normalise(entry.caption)
        if isinstance(task, str) or not text:
            reason = task if isinstance(task, str) else "the caption is empty"
            self.intake.faults.append(Fault(entry.line, reason))
            return None
        worker = self._worker(entry.worker)
        if first := self.lines.get((task, worker)):
            reason = f"the worker has captioned the image before, in line {first}"
            self.intake.faults.append(Fault(entry.line, reason))
            return None
        self.lines[task, worker] = entry.line
        return _Placed(entry, text, task, worker)

    def _task(self, name: str) -> int | str:
        """The task of the image that is meant, or what is wrong with the name."""
        names = image_names(name)
        for candidate in names:
            if (task := self.tasks.get(candidate)) is not None:
                return task
        if any(candidate in self.tasks for candidate in names):
            return f"more than one image of the campaign may be meant by {name}"
        if Image.objects.filter(key__in=names).exists():
            return f"the campaign does not have the image {name}"
        return f"there is no image {name}"

    def _worker(self, marketplace_id: str) -> int:
        """The worker with this id at the campaign's marketplace, made if they are new."""
        if marketplace_id not in self.workers:
            account = account_for(endpoint=self.campaign.endpoint, marketplace_id=marketplace_id)
            self.workers[marketplace_id] = account.worker_id
        return self.workers[marketplace_id]

    def _without_known(self, placed: Sequence[_Placed]) -> Iterator[_Placed]:
        """Those of which nothing is here yet."""
        known = Response.objects.filter(
            task__in={found.task for found in placed}, worker__in={found.worker for found in placed}
        )
        texts = {
            (task, worker): text
            for task, worker, text in known.values_list("task", "worker", "caption__text")
        }
        for found in placed:
            text = texts.get((found.task, found.worker))
            if text is None:
                yield found
            elif text == found.text:
                self.intake.known += 1
            else:
                reason = "another caption of the image by this worker is here already"
                self.intake.faults.append(Fault(found.entry.line, reason))

    def _store(self, new: Sequence[_Placed]) -> list[Response]:
        """The new captions' responses, submitted at the file's time where it says one."""
        tasks = self.campaign.tasks.select_related("image").in_bulk({found.task for found in new})
        responses = [
            Response(
                task=tasks[found.task],
                worker_id=found.worker,
                status=ResponseStatus.SUBMITTED,
                stored_at=found.entry.submitted_at or self.at,
                submitted_at=found.entry.submitted_at or self.at,
                seconds=found.entry.seconds,
            )
            for found in new
        ]
        add_collected(responses=responses, texts=[found.text for found in new])
        Behaviour.objects.bulk_create(
            Behaviour(response=response, pastes=int(found.entry.pasted))
            for response, found in zip(responses, new, strict=True)
            if found.entry.pasted is not None
        )
        return responses


def _tasks_by_name(campaign: Campaign) -> dict[str, int | None]:
    """The campaign's tasks by what their images may be called; None where several may be meant.
    A key goes before an address's last part."""
    keys: dict[str, int | None] = {}
    others: dict[str, int | None] = {}
    for task, key, url in campaign.tasks.values_list("pk", "image__key", "image__url"):
        keys[key] = None if key in keys else task
        for name in image_names(url) if url else []:
            others[name] = task if others.get(name, task) == task else None
    return others | keys
