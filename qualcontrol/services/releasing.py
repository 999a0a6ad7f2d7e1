"""Create releases: check that nothing is missing or undecided, draw the responses and copy them.

For nocaps, 11 captions per image were collected; one, drawn at random, is the human baseline and
the other ten are the references (Agrawal et al. 2019, section 3.1). The task type decides what the
drawn responses become.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F, QuerySet

from accounts.models import Team
from annotate.characters import shares_of
from annotate.exports.files import save_documents
from annotate.exports.records import Rule, context_of, import_record
from annotate.kinds import KINDS
from annotate.kinds.freezing import Draw
from annotate.models import Campaign, ImportedFile, Release, ResponseStatus, Task
from annotate.queries.progress import progress
from annotate.services import names
from annotate.services.campaigns import incomplete_tasks
from corpora.errors import DomainError
from corpora.selection.domains import DEFAULT_PRESET
from corpora.wording import counted
from qualcontrol.models import SecondOpinion, SpotCheck, Verdict
from qualcontrol.queries.methods import methods_text
from qualcontrol.queries.quality_report import estimate_of
from qualcontrol.services.exclusions import count_unwelcome
from shared.database.transactions import SnapshotConflict, in_one_snapshot


class ReleaseRefused(DomainError):
    """The campaign cannot be released now; `missing` lists the reasons."""

    def __init__(self, message: str, missing: Sequence[str] = ()) -> None:
        super().__init__("\n".join([message, *(f"- {line}" for line in missing)]))
        self.missing = list(missing)


def open_questions(campaign: Campaign) -> list[str]:
    """The open questions of quality control before a release, one sentence for each sort."""
    checks = SpotCheck.objects.of(campaign)
    of_kept = checks.exclude(response__status=ResponseStatus.DISCARDED).order_by()
    unsettled = of_kept.filter(verdict__in=["", Verdict.BAD]).values_list("verdict")
    number_of = Counter(dict(unsettled.annotate(Count("pk"))))
    disputed = checks.half_judged().count()
    matters = [
        (
            number_of[""] - disputed,
            "required check is not done",
            "required checks are not done",
        ),
        (
            disputed + SecondOpinion.objects.of(campaign).without_check().count(),
            "response needs another reviewer's judgement",
            "responses need another reviewer's judgement",
        ),
        (
            campaign.proposals.open().count(),
            "worker is proposed for exclusion and needs a decision",
            "workers are proposed for exclusion and need a decision",
        ),
        (
            count_unwelcome(campaign),
            "response of an excluded worker is not discarded yet",
            "responses of excluded workers are not discarded yet",
        ),
        (
            number_of[Verdict.BAD],
            "response that is judged bad still counts",
            "responses that are judged bad still count",
        ),
    ]
    return [counted(number, one, many) for number, one, many in matters if number]


def missing(campaign: Campaign, *, in_all_languages: bool = False) -> list[str]:
    """The `missing_answers` and `open_questions` of a release; with `in_all_languages`, of each
    campaign of the family."""
    members = Campaign.objects.family_of(campaign) if in_all_languages else [campaign]
    return _lacking(members, _unfinished, with_names=in_all_languages)


def missing_answers(campaign: Campaign) -> list[str]:
    """One line for each incomplete task, at most twenty, and then the number of further ones. By
    the counters of the tasks, for pages; a release counts the responses themselves."""
    return _in_lines(campaign, _unfinished(campaign))


def _unfinished(campaign: Campaign) -> QuerySet[Task]:
    return campaign.tasks.unfinished().annotate(has=F("wanted") - F("answers_missing"))


def _lacking(
    members: Iterable[Campaign],
    incomplete: Callable[[Campaign], QuerySet[Task]],
    *,
    with_names: bool,
) -> list[str]:
    """The lines about each campaign, with its name or without."""
    return [
        f"{member}: {line}" if with_names else line
        for member in members
        for line in [*_in_lines(member, incomplete(member)), *open_questions(member)]
    ]


def _in_lines(campaign: Campaign, incomplete: QuerySet[Task]) -> list[str]:
    columns = ("number", "image__file_name", "image__key", "subject", "has", "wanted")
    tasks = incomplete.order_by("number").values_list(*columns)
    kind = KINDS[campaign.kind]
    lines = [
        f"{f'{kind.subject_name} {number} of ' if subject else ''}image {name or key} "
        f"has {has} of {wanted} {kind.answers_name}"
        for number, name, key, subject, has, wanted in tasks[:20]
    ]
    if len(lines) == 20 and (more := incomplete.count() - 20):
        lines.append(f"and {counted(more, f'more {kind.subject_name}')}")
    return lines


def release_campaign(
    *,
    campaign: Campaign,
    name: str,
    seed: int,
    at: datetime,
    partial: bool = False,
    hidden: Rule | None = None,
    domains: str = DEFAULT_PRESET,
    in_all_languages: bool = False,
) -> Release:
    """Create a release of all complete tasks; raises ReleaseRefused and HidingRefused, and
    DomainError for a name that no address can have.

    With `in_all_languages`, it is a release of the campaign and of those of its family.

    With `partial`, incomplete tasks are left out and open questions are ignored; otherwise either
    refuses the release. The draw depends only on the seed and the responses. Everything is read in
    one snapshot, so concurrent changes do not affect it. The release's time is that of the
    snapshot: `at`, or earlier if something was being stored meanwhile that it does not have.

    `hidden` is a rule of `annotate.exports.records`: the captions of these images are not in public
    files, pages or API answers. `domains` is the name of a preset table.
    """
    names.check(name, "release")

    def make(complete_until: datetime | None) -> Release:
        # Read in the snapshot: a draft may have been edited since the caller read it.
        alone = Campaign.objects.get(pk=campaign.pk)
        members = _members(campaign) if in_all_languages else [alone]
        lacking = _lacking(members, incomplete_tasks, with_names=in_all_languages)
        if lacking and not partial:
            raise ReleaseRefused(f"{campaign} is not complete:", lacking)
        release = _create(
            members[0],
            name,
            languages=[member.config.language for member in members] if in_all_languages else [],
            seed=seed,
            is_partial=bool(lacking),
            hidden=_with_seed(members[0], hidden, seed),
            context=_context(members, domains),
            # Nobody finds later that the release lacks what happened before this time.
            created_at=min(at, complete_until or at),
        )
        _fill(release, members)
        save_documents(release, members, methods_text(release, members))
        return release

    try:
        return in_one_snapshot(make)
    except SnapshotConflict as error:
        raise ReleaseRefused(
            f"{campaign} changed each time while the release was being saved. Please try again."
        ) from error


def _members(campaign: Campaign) -> list[Campaign]:
    """The campaigns of the family, in their order; raises ReleaseRefused if they do not fit."""
    members = list(Campaign.objects.family_of(campaign))
    languages = [member.config.language for member in members]
    if len(members) < 2:
        raise ReleaseRefused(f"{campaign} has no campaigns in other languages.")
    if len({*languages}) < len(languages) or not KINDS[campaign.kind].has_families:
        raise ReleaseRefused(
            f"Two campaigns of {campaign.family} are in one language: {', '.join(languages)}."
        )
    columns = ("number", "image", "payload__region")
    subjects = {
        member: [*member.tasks.order_by("number").values_list(*columns)] for member in members
    }
    for member in members[1:]:
        if member.kind != campaign.kind or subjects[member] != subjects[members[0]]:
            subject = KINDS[campaign.kind].subject_name
            raise ReleaseRefused(f"{member} has other {subject}s than {members[0]}.")
    return members


def _context(members: Sequence[Campaign], domains: str) -> dict[str, Any]:
    """The release's record of its campaigns, with all of their files."""
    context = context_of(members[0], domains)
    checked = [(member, estimate_of(member, progress(member).submitted)) for member in members]
    context["spot_checks"] = [
        {"language": member.config.language, **asdict(estimate)}
        for member, estimate in checked
        if estimate.checks
    ]
    if len(members) > 1:
        files = {member.config.language: member.config_json for member in members}
        context["campaign_files"] = files
    return context


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


def name_refusal(name: str, team: Team) -> str:
    """Why the team cannot give this name, which a release has, to a new one."""
    rows = Release.objects.all()
    if rows.of_team(team).filter(name=name).exists():
        return f"A release named {name} exists. Releases cannot be changed: choose another name."
    return names.refusal(rows, name=name, team=team, noun="release")


def _fill(release: Release, members: Sequence[Campaign]) -> None:
    """Draw responses for each complete task and copy them into the release."""
    kind = KINDS[release.campaign.kind]
    drawn = Draw(members, release.seed, kind.with_answers)
    origins = Counter(drawn.origins())
    numbers = _worker_numbers({worker for worker, _ in origins})
    if not numbers:
        raise ReleaseRefused(
            f"{release.source} has no {kind.subject_name} with all its {kind.answers_name}."
        )
    files: Counter[int | None] = Counter()
    for (_, file), count in origins.items():
        files[file] += count
    imported = ImportedFile.objects.filter(pk__in=[file for file in files if file])
    imports = list(imported.order_by("at", "pk"))
    if imports:
        release.context |= {
            "imports": [import_record(file, files[file.pk]) for file in imports],
            "collected": files[None],
        }
    if kind.has_references:
        release.context["writing"] = shares_of(drawn.characters())
    release.save(update_fields=["context"])
    drawn.imports = {file.pk: number for number, file in enumerate(imports, start=1)}
    kind.freeze(release, drawn, numbers)
    _check_count(release)


def _check_count(release: Release) -> None:
    """Check that a complete release has all tasks of the campaign; raises ReleaseRefused."""
    saved, tasks = release.images.count(), release.campaign.tasks.count()
    if saved != tasks and not release.is_partial:
        raise ReleaseRefused(
            f"The release would be called complete, but has {saved} of the campaign's {tasks} "
            f"{KINDS[release.campaign.kind].subject_name}s. Nothing was saved."
        )


def _worker_numbers(drawn: Iterable[int]) -> dict[int, int]:
    """Number the release's workers in a random order.

    The order is not stored, so that workers cannot be matched across releases.
    """
    workers = sorted(drawn)
    random.SystemRandom().shuffle(workers)
    return {worker: number for number, worker in enumerate(workers, start=1)}
