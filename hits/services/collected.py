"""Import captions that were collected elsewhere. They are then treated like ingested ones."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q

from annotate.kinds import KINDS
from annotate.models import Behaviour, Campaign, Image, ImportedFile, Response
from annotate.queries.images import names_of_images
from annotate.services.campaigns import CampaignChanged
from annotate.services.responses import add_collected
from corpora.datasets.collected import Collected, Columns, Fault, read_collected
from corpora.datasets.image_names import ImageNames, Named, image_names
from corpora.errors import DomainError
from corpora.language.text import normalise
from corpora.reading.files import Faults, Progress, no_progress, printable
from hits.services.accounts import ERASED, KEPT_DIGEST, known_workers, workers_for
from qualcontrol.services.intake import compare_submitted, review_submitted
from qualcontrol.services.locks import lock_workers
from qualcontrol.services.policies import decide
from qualcontrol.services.sampling import lock_check_share
from qualcontrol.services.worker_risks import learn
from shared.database.transactions import batches

# Number of captions per transaction, which takes one to three seconds.
BATCH = 2_000


@dataclass
class Intake:
    """The result of an import so far: numbers of new, known and rejected entries, and faults."""

    new: int = 0
    known: int = 0
    rejected: int = 0
    faults: Faults = field(default_factory=Faults)
    # The last line that is imported, and whether the whole file is.
    line: int = 0
    is_complete: bool = False

    @property
    def read(self) -> int:
        return self.new + self.known + self.rejected + self.faults.count


def import_collected(
    *,
    campaign: Campaign,
    path: Path,
    columns: Columns,
    at: datetime,
    name: str | None = None,
    with_rejected: bool = False,
    progress: Progress = no_progress,
    intake: Intake | None = None,
) -> Intake:
    """Import a file's captions in its order, one transaction per batch, and return the result.

    Captions that are stored already are not changed. `intake` is updated after each batch.

    Each batch follows the campaign's file as it is then. Raises DomainError, before anything is
    stored, if the campaign does not collect captions, or MalformedFile if the file cannot be read
    to its end. If something else stops the import, as CampaignChanged if the campaign got other
    tasks, the worker risks and the policy still include the captions that were stored.
    """
    if not KINDS[campaign.kind].takes_text:
        raise DomainError(f"{campaign} collects no captions, its kind is {campaign.kind}.")
    read = partial(read_collected, path, columns=columns, at=at, name=name)
    for _ in read():
        pass
    with path.open("rb") as content:
        digest = file_digest(content, "sha256").hexdigest()
    file = ImportedFile(name=Path(name or path).name, sha256=digest, at=at)
    intake = intake or Intake()
    importer = _Importer(campaign, file, with_rejected, intake)
    entries = read(progress=progress)
    try:
        for batch in batches(entries, BATCH):
            importer.take(batch)
        intake.is_complete = True
    finally:
        try:
            # If the process is killed here, the next import of the file compares the captions.
            compare_submitted(campaign=importer.campaign, tasks=importer.touched)
        finally:
            if intake.new:
                # A draft may have been edited since the last batch.
                campaign = Campaign.objects.get(pk=campaign.pk)
                learn(campaign=campaign)
                decide(campaign=campaign, at=at)
    return intake


class _Placed(NamedTuple):
    """An entry of the file whose task was found."""

    entry: Collected
    task: int


class _Importer:
    """Finds the task and the worker of each entry, and stores new captions."""

    def __init__(
        self, campaign: Campaign, file: ImportedFile, with_rejected: bool, intake: Intake
    ) -> None:
        self.campaign, self.file, self.at, self.intake = campaign, file, file.at, intake
        self.with_rejected = with_rejected
        self.kind = KINDS[campaign.kind]
        # By their images' ids, own file names and addresses.
        rows = campaign.tasks.values_list("pk", "image__key", "image__file_name", "image__url")
        self.tasks = ImageNames(Named(*row) for row in rows)
        self.touched: set[int] = set()
        # The ids of erased workers, by task and text.
        self.passed: defaultdict[tuple[int, Any], set[str]] = defaultdict(set)

    def take(self, batch: Sequence[Collected | Fault]) -> None:
        """Store a batch of entries and update the intake."""
        new, known, faults = self._store(batch)
        rejected = sum(self._is_unwanted(entry) for entry in batch)
        self.intake.new += new
        self.intake.known += known
        self.intake.rejected += rejected
        for fault in sorted(faults):
            self.intake.faults.add(*fault)
        self.intake.line = batch[-1].line

    @transaction.atomic
    def _store(self, batch: Sequence[Collected | Fault]) -> tuple[int, int, list[Fault]]:
        """Store the new captions; return the numbers of new and known ones, and the faults. Raises
        CampaignChanged."""
        self._lock_campaign()
        faults = [entry for entry in batch if isinstance(entry, Fault)]
        placed = list(self._place(batch, faults))
        kept = list(self._without_erased(placed))
        workers = workers_for(
            endpoint=self.campaign.endpoint,
            marketplace_ids={placement.entry.worker for placement in kept},
        )
        # Workers are locked before tasks, as everywhere. This also waits for an exclusion that is
        # being made.
        lock_workers(workers.values())
        lock_check_share(self.campaign)
        before = len(faults)
        new = list(self._without_known(kept, workers, faults))
        known = len(placed) - len(new) - (len(faults) - before)
        responses = self._add(new, workers)
        review_submitted(campaign=self.campaign, responses=responses, at=self.at, compares=False)
        self.touched.update(placement.task for placement in placed)
        return len(new), known, faults

    def _lock_campaign(self) -> None:
        """Read the campaign as it is now; a draft may be edited during an import."""
        tasks = self.campaign.kind, self.campaign.config.of_tasks
        self.campaign = Campaign.objects.locked(self.campaign.pk)
        if tasks != (self.campaign.kind, self.campaign.config.of_tasks):
            raise CampaignChanged(
                f"{self.campaign} got other tasks while the file was imported. Import it again."
            )

    def _without_erased(self, placed: Sequence[_Placed]) -> Iterator[_Placed]:
        """Yield the entries without those of erased workers, which an earlier import of this file
        has stored. They are known: their workers are not to be stored again.

        Several workers may have the same text. The first ones without an answer are the erased
        ones, because files are stored in their order.
        """
        tasks = {placement.task for placement in placed}
        numbers = self._of_erased(tasks)
        workers = known_workers(
            endpoint=self.campaign.endpoint,
            marketplace_ids={placement.entry.worker for placement in placed},
        )
        theirs = Response.objects.filter(task__in=tasks, worker__in=workers.values())
        stored = set(theirs.values_list("task", "worker"))
        for placement in placed:
            task, worker, text = placement.task, placement.entry.worker, placement.entry.caption
            passed = self.passed[task, text]
            if len(passed) < numbers[task, text] and (task, workers.get(worker)) not in stored:
                passed.add(worker)
            if worker not in passed:
                yield placement

    def _of_erased(self, tasks: set[int]) -> Counter[tuple[int, Any]]:
        """The numbers of answers, by task and text, that were imported from this file and whose
        workers' ids were erased since."""
        rows = Response.objects.filter(
            task__in=tasks,
            imported_from__sha256=self.file.sha256,
            worker__account__marketplace_id__startswith=ERASED,
        )
        answers = self.kind.with_answers(rows, "task", "cannot_describe")
        return Counter((task, reason or self.kind.text(answer)) for task, reason, answer in answers)

    def _is_unwanted(self, entry: Collected | Fault) -> bool:
        return isinstance(entry, Collected) and entry.is_rejected and not self.with_rejected

    def _place(self, batch: Iterable[Collected | Fault], faults: list[Fault]) -> Iterator[_Placed]:
        """Yield the entries with a task and a caption; append a fault for each of the others.

        Rejected entries that are not wanted are skipped.
        """
        lost: list[Collected] = []
        for entry in batch:
            if isinstance(entry, Fault) or self._is_unwanted(entry):
                continue
            task = self.tasks.find(entry.image)
            if task is None:
                lost.append(entry)
            elif not normalise(entry.caption):
                faults.append(Fault(entry.line, "the caption is empty"))
            elif entry.worker.startswith((KEPT_DIGEST, ERASED)):
                faults.append(Fault(entry.line, "the worker's id is one that was deleted"))
            else:
                yield _Placed(entry, task)
        if lost:
            faults += self._explained(lost)

    def _explained(self, lost: Sequence[Collected]) -> Iterator[Fault]:
        """Yield a fault for each entry without a task.

        One query serves all of them. Of images that the team cannot use nothing is said.
        """
        usable = Image.objects.of_team(self.campaign.team)
        asked = {name for entry in lost for name in image_names(entry.image)}
        here = names_of_images(usable.filter(Q(key__in=asked) | Q(file_name__in=asked)))
        for entry in lost:
            name = printable(entry.image)
            if self.tasks.is_ambiguous(entry.image):
                reason = f"several images of the campaign match {name}"
            elif here.find(entry.image) is not None or here.is_ambiguous(entry.image):
                reason = f"the campaign has no image {name}"
            else:
                reason = f"there is no image {name}"
            yield Fault(entry.line, reason)

    def _without_known(
        self, placed: Sequence[_Placed], workers: dict[str, int], faults: list[Fault]
    ) -> Iterator[_Placed]:
        """Yield the entries that are not stored yet.

        If the worker has a different caption of the same image, append a fault.
        """
        rows = Response.objects.filter(
            task__in={placement.task for placement in placed}, worker__in=workers.values()
        )
        texts = {
            (task, worker): reason or self.kind.text(answer)
            for task, worker, reason, answer in self.kind.with_answers(
                rows, "task", "worker", "cannot_describe"
            )
        }
        for placement in placed:
            key = placement.task, workers[placement.entry.worker]
            if key not in texts:
                texts[key] = placement.entry.caption
                yield placement
            elif texts[key] != placement.entry.caption:
                reason = "the worker has another caption of this image already"
                faults.append(Fault(placement.entry.line, reason))

    def _add(self, new: Sequence[_Placed], workers: dict[str, int]) -> list[Response]:
        """Store responses for the new captions and return them.

        The submission time is the file's, or the time of the import if the file has none. Whether
        the worker saw keywords is unknown unless the file says so: nobody saw a page of ours.
        """
        if new and self.file.pk is None:
            self.file.save()
        tasks = self.campaign.tasks.select_related("image").in_bulk(
            {placement.task for placement in new}
        )
        # A text that is one of these stands in place of a caption, as in VizWiz-Captions.
        reasons = frozenset(self.campaign.config.captions.cannot_describe)
        responses = [
            Response(
                campaign=self.campaign,
                task=tasks[placement.task],
                worker_id=workers[placement.entry.worker],
                submitted_at=placement.entry.submitted_at or self.at,
                seconds=placement.entry.seconds,
                primed=placement.entry.primed,
                imported_from=self.file,
                cannot_describe=placement.entry.caption
                if placement.entry.caption in reasons
                else "",
            )
            for placement in new
        ]
        answers = [
            self.kind.from_text("" if response.cannot_describe else placement.entry.caption)
            for response, placement in zip(responses, new, strict=True)
        ]
        add_collected(kind=self.kind, answers=list(zip(responses, answers, strict=True)))
        Behaviour.objects.bulk_create(
            Behaviour(
                response=response,
                characters={
                    "pasted": len(placement.entry.caption) if placement.entry.pasted else 0
                },
            )
            for response, placement in zip(responses, new, strict=True)
            if placement.entry.pasted is not None
        )
        return responses
