"""Create releases: check that all tasks are complete, draw the responses and copy them.

For nocaps, 11 captions per image were collected; one, drawn at random, is the human baseline and
the other ten are the references (Agrawal et al. 2019, section 3.1). The task type decides what the
drawn responses become.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from annotate.errors import DomainError
from annotate.exports.hiding import Rule
from annotate.exports.records import context_of
from annotate.kinds import KINDS
from annotate.kinds.base import Candidate, Drawn
from annotate.models import Campaign, Release, Response, Task
from annotate.selection.domains import DEFAULT_PRESET
from annotate.services.campaigns import incomplete_tasks
from annotate.site.snapshots import SnapshotConflict, in_one_snapshot

# Checks by other apps before a release. Each returned sentence names one unfinished matter.
OpenQuestions = Callable[[Campaign], Sequence[str]]


def no_questions(_campaign: Campaign) -> Sequence[str]:
    return ()


class ReleaseRefused(DomainError):
    """The campaign cannot be released now; `missing` lists the reasons."""

    def __init__(self, message: str, missing: Sequence[str] = ()) -> None:
        super().__init__("\n".join([message, *(f"- {line}" for line in missing)]))
        self.missing = list(missing)


def missing(campaign: Campaign) -> list[str]:
    """One line for each incomplete task, at most twenty, and then the number of further ones. By
    the counters of the tasks, for pages; a release counts the responses themselves."""
    counters = campaign.tasks.unfinished().annotate(has=F("wanted") - F("answers_missing"))
    return _in_lines(campaign, counters)


def _in_lines(campaign: Campaign, incomplete: QuerySet[Task]) -> list[str]:
    columns = ("number", "image__key", "subject", "has", "wanted")
    tasks = incomplete.order_by("number").values_list(*columns)
    kind = KINDS[campaign.kind]
    lines = [
        f"{f'{kind.subject_name} {number} of ' if subject else ''}image {key} "
        f"has {has} of {wanted} {kind.answers_name}"
        for number, key, subject, has, wanted in tasks[:20]
    ]
    if len(lines) == 20 and (more := incomplete.count() - 20):
        lines.append(f"and {more} more {kind.subject_name}s")
    return lines


def freeze(
    *,
    campaign: Campaign,
    name: str,
    seed: int,
    at: datetime,
    partial: bool = False,
    hidden: Rule | None = None,
    domains: str = DEFAULT_PRESET,
    open_questions: OpenQuestions = no_questions,
) -> Release:
    """Create a release of all complete tasks; raises ReleaseRefused and HidingRefused.

    With `partial`, incomplete tasks are left out and open questions are ignored; otherwise either
    refuses the release. The draw depends only on the seed and the responses. Everything is read in
    one snapshot, so concurrent changes do not affect it.

    `hidden` is a rule of `annotate.exports.hiding`: the captions of these images are not in public
    files, pages or API answers. `domains` is the name of a preset table.
    """

    def make() -> Release:
        lacking = _in_lines(campaign, incomplete_tasks(campaign))
        wanting = [*lacking, *open_questions(campaign)]
        if wanting and not partial:
            raise ReleaseRefused(f"{campaign} is not complete:", wanting)
        release = _create(
            campaign,
            name,
            seed=seed,
            is_partial=bool(wanting),
            hidden=_with_seed(campaign, hidden, seed),
            context=context_of(campaign, domains),
            created_at=at,
        )
        _fill(release)
        return release

    try:
        return in_one_snapshot(make)
    except SnapshotConflict as error:
        raise ReleaseRefused(
            f"{campaign} changed each time while the release was being saved. Please try again."
        ) from error


def _with_seed(campaign: Campaign, hidden: Rule | None, seed: int) -> Rule | None:
    """The rule as the release stores it, with the seed of a share; raises ReleaseRefused."""
    if hidden is None:
        return None
    if not KINDS[campaign.kind].has_references:
        raise ReleaseRefused(
            f"{campaign} is a campaign of the task type {campaign.kind}. Only references of "
            "captions can be hidden."
        )
    return {**hidden, "seed": seed} if "share" in hidden else hidden


def _create(campaign: Campaign, name: str, **values: Any) -> Release:
    """Create the release's row, after waiting for another release of this name in progress."""
    try:
        with transaction.atomic():
            return Release.objects.create(name=name, campaign=campaign, **values)
    except IntegrityError as error:
        raise ReleaseRefused(
            f"The name {name!r} is not available: releases cannot be replaced. Choose another one."
        ) from error


def _fill(release: Release) -> None:
    """Draw responses for each complete task and copy them into the release."""
    campaign, kind = release.campaign, KINDS[release.campaign.kind]
    by_task = _responses_by_task(campaign)
    tasks = [
        task
        for task in campaign.tasks.with_subject().order_by("number")
        if len(by_task[task.pk]) >= task.wanted
    ]
    if not tasks:
        raise ReleaseRefused(
            f"{campaign} has no {kind.subject_name} with all its {kind.answers_name}."
        )
    drawn = list(_draw(tasks, by_task, release.seed))
    kind.freeze(release, drawn, _worker_numbers(drawn))
    _check_count(release)


def _check_count(release: Release) -> None:
    """Check that a complete release has all tasks of the campaign; raises ReleaseRefused."""
    saved, tasks = release.images.count(), release.campaign.tasks.count()
    if saved != tasks and not release.is_partial:
        raise ReleaseRefused(
            f"The release would be called complete, but has {saved} of the campaign's {tasks} "
            f"{KINDS[release.campaign.kind].subject_name}s. Nothing was saved."
        )


def _responses_by_task(campaign: Campaign) -> dict[int, list[Candidate]]:
    by_task: dict[int, list[Candidate]] = defaultdict(list)
    rows = Response.objects.of(campaign).counting().order_by("pk")
    kind = KINDS[campaign.kind]
    columns = ("task_id", "pk", "worker_id", "seconds", "primed")
    for task_id, *candidate in kind.with_answers(rows, *columns).iterator():
        by_task[task_id].append(Candidate(*candidate))
    return by_task


def _draw(
    tasks: Iterable[Task], by_task: Mapping[int, list[Candidate]], seed: int
) -> Iterator[Drawn]:
    rng = random.Random(seed)
    for task in tasks:
        yield Drawn(task, rng.sample(by_task[task.pk], task.wanted))


def _worker_numbers(drawn: Iterable[Drawn]) -> dict[int, int]:
    """Number the release's workers in a random order.

    The order is not stored, so that workers cannot be matched across releases.
    """
    workers = sorted({response.worker_id for _, responses in drawn for response in responses})
    random.SystemRandom().shuffle(workers)
    return {worker: number for number, worker in enumerate(workers, start=1)}
