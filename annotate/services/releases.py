"""Create releases: check that all tasks are complete, draw the responses and copy them.

For nocaps, 11 captions per image were collected; one, drawn at random, is the human baseline and
the other ten are the references (Agrawal et al. 2019, section 3.1). The task type decides what the
drawn responses become.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from accounts.models import Team
from annotate.exports.files import save_documents
from annotate.exports.records import Rule, context_of, import_record
from annotate.kinds import KINDS
from annotate.kinds.freezing import Candidate, Drawn, Part
from annotate.models import Campaign, HiddenExport, ImportedFile, Release, Response, Task
from annotate.services import names
from annotate.services.campaigns import incomplete_tasks
from annotate.writing import Characters, shares_of
from corpora.errors import DomainError
from corpora.selection.domains import DEFAULT_PRESET
from shared.database.transactions import SnapshotConflict, in_one_snapshot

# Lookups from a response to what the draw needs to know of its task.
OF_TASK = ("task__number", "task__wanted")

# Checks by other apps before a release. Each returned sentence names one unfinished matter.
OpenQuestions = Callable[[Campaign], Sequence[str]]
# What spot checks estimate of a campaign's answers, as Release.context has it; None without checks.
Estimates = Callable[[Campaign], Mapping[str, Any] | None]
# Writes, for a paper's appendix, how the responses of these campaigns were collected.
Methods = Callable[[Release, Sequence[Campaign]], str]


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
    columns = ("number", "image__file_name", "image__key", "subject", "has", "wanted")
    tasks = incomplete.order_by("number").values_list(*columns)
    kind = KINDS[campaign.kind]
    lines = [
        f"{f'{kind.subject_name} {number} of ' if subject else ''}image {name or key} "
        f"has {has} of {wanted} {kind.answers_name}"
        for number, name, key, subject, has, wanted in tasks[:20]
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
    open_questions: OpenQuestions = lambda _campaign: (),
    methods: Methods = lambda _release, _campaigns: "",
    estimate: Estimates = lambda _campaign: None,
    in_all_languages: bool = False,
) -> Release:
    """Create a release of all complete tasks; raises ReleaseRefused and HidingRefused.

    With `in_all_languages`, it is a release of the campaign and of those of its family.

    With `partial`, incomplete tasks are left out and open questions are ignored; otherwise either
    refuses the release. The draw depends only on the seed and the responses. Everything is read in
    one snapshot, so concurrent changes do not affect it. The release's time is that of the
    snapshot: `at`, or earlier if something was being stored meanwhile that it does not have.

    `hidden` is a rule of `annotate.exports.records`: the captions of these images are not in public
    files, pages or API answers. `domains` is the name of a preset table. `methods` writes the
    release's text on its methods, in the same snapshot.
    """

    def make(complete_until: datetime | None) -> Release:
        members = _members(campaign) if in_all_languages else [campaign]
        wanting = [
            f"{member}: {line}" if in_all_languages else line
            for member in members
            for line in [*_in_lines(member, incomplete_tasks(member)), *open_questions(member)]
        ]
        if wanting and not partial:
            raise ReleaseRefused(f"{campaign} is not complete:", wanting)
        release = _create(
            members[0],
            name,
            languages=[each.config.language for each in members] if in_all_languages else [],
            seed=seed,
            is_partial=bool(wanting),
            hidden=_with_seed(members[0], hidden, seed),
            context=_context(members, domains, estimate),
            # Nobody finds later that the release lacks what happened before this time.
            created_at=min(at, complete_until or at),
        )
        _fill(release, members)
        save_documents(release, members, methods(release, members))
        return release

    try:
        return in_one_snapshot(make)
    except SnapshotConflict as error:
        raise ReleaseRefused(
            f"{campaign} changed each time while the release was being saved. Please try again."
        ) from error


def missing_in_all_languages(campaign: Campaign, open_questions: OpenQuestions) -> list[str]:
    """What a release of the whole family lacks, by the counters of the tasks, for pages."""
    return [
        f"{member}: {line}"
        for member in Campaign.objects.family_of(campaign)
        for line in [*missing(member), *open_questions(member)]
    ]


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
    images = {member: dict(member.tasks.values_list("number", "image_id")) for member in members}
    for member in members[1:]:
        if member.kind != campaign.kind or images[member] != images[members[0]]:
            raise ReleaseRefused(f"{member} has other images than {members[0]}.")
    return members


def _context(members: Sequence[Campaign], domains: str, estimate: Estimates) -> dict[str, Any]:
    """What the release records of its campaigns; of several, all of their files."""
    found = context_of(members[0], domains)
    checked = [(member.config.language, estimate(member)) for member in members]
    found["spot_checks"] = [{"language": tag, **said} for tag, said in checked if said]
    if len(members) > 1:
        files = {member.config.language: member.config_json for member in members}
        found["campaign_files"] = files
    return found


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
    draws = [Draw(member, release.seed) for member in members]
    origins = Counter(chain.from_iterable(draw.origins() for draw in draws))
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
        release.context["writing"] = shares_of(chain.from_iterable(map(Draw.characters, draws)))
    release.save(update_fields=["context"])
    for draw in draws:
        draw.imports = {file.pk: number for number, file in enumerate(imports, start=1)}
    if release.languages:
        parts = [Part(member.config, draw) for member, draw in zip(members, draws, strict=True)]
        kind.freeze_languages(release, parts, numbers)
    else:
        kind.freeze(release, draws[0], numbers)
    _check_count(release)


def _check_count(release: Release) -> None:
    """Check that a complete release has all tasks of the campaign; raises ReleaseRefused."""
    saved, tasks = release.images.count(), release.campaign.tasks.count()
    if saved != tasks and not release.is_partial:
        raise ReleaseRefused(
            f"The release would be called complete, but has {saved} of the campaign's {tasks} "
            f"{KINDS[release.campaign.kind].subject_name}s. Nothing was saved."
        )


class Draw:
    """The responses drawn for each complete task of a campaign, in the order of the tasks.

    It can be read several times in the transaction of a release, and is the same each time. So
    nobody has to hold all answers of a campaign in memory.
    """

    def __init__(self, campaign: Campaign, seed: int) -> None:
        self.campaign, self.seed = campaign, seed
        # The numbers in the release of the files that responses were imported from.
        self.imports: dict[int | None, int] = {}

    def __iter__(self) -> Iterator[Drawn]:
        with_answers = KINDS[self.campaign.kind].with_answers
        columns = ("pk", "worker_id", "seconds", "primed", "cannot_describe", "imported_from_id")
        tasks = self.campaign.tasks.with_material().order_by("number").iterator()
        for number, rows in self._sampled(lambda rows: with_answers(rows, *OF_TASK, *columns)):
            task = next(task for task in tasks if task.number == number)
            task.campaign = self.campaign
            yield Drawn(
                task,
                [
                    Candidate._make([*values, self.imports.get(file), answer])
                    for *values, file, answer in rows
                ],
            )

    def origins(self) -> Iterator[tuple[int, int | None]]:
        """The worker of each drawn response, and the file that it was imported from, if any."""
        columns = ("worker_id", "imported_from_id")
        for _, rows in self._sampled(lambda rows: rows.values_list(*OF_TASK, *columns)):
            yield from rows

    def characters(self) -> Iterator[Characters]:
        """The characters of each drawn text by the way in which they came. A reason is no text."""
        columns = ("cannot_describe", "behaviour__characters")
        for _, rows in self._sampled(lambda rows: rows.values_list(*OF_TASK, *columns)):
            yield from (characters for reason, characters in rows if not reason)

    def _sampled(
        self, values_of: Callable[[QuerySet[Response]], QuerySet[Any, Any]]
    ) -> Iterator[tuple[int, list[Any]]]:
        """The number of each complete task, with the values of the responses drawn for it: what
        `values_of` selects after OF_TASK."""
        rng = random.Random(self.seed)
        # By the campaign of the task, so that SQLite reads the tasks in their order, with the
        # responses of each, instead of sorting all responses.
        responses = Response.objects.filter(task__campaign=self.campaign).counting()
        rows = values_of(responses.order_by("task__number", "pk")).iterator()
        for (number, wanted), of_task in groupby(rows, key=itemgetter(0, 1)):
            values = [row[len(OF_TASK) :] for row in of_task]
            # The positions that are drawn depend on the number of responses alone.
            if len(values) >= wanted:
                yield number, rng.sample(values, wanted)


def _worker_numbers(drawn: Iterable[int]) -> dict[int, int]:
    """Number the release's workers in a random order.

    The order is not stored, so that workers cannot be matched across releases.
    """
    workers = sorted(drawn)
    random.SystemRandom().shuffle(workers)
    return {worker: number for number, worker in enumerate(workers, start=1)}


def write_with_hidden(*, release: Release, out_dir: Path, actor: User, at: datetime) -> list[Path]:
    """Log that this person exports the captions that the release hides, and write its files with
    them; return the files' paths.

    Raises DomainError if the release hides nothing, or if a file cannot be written.
    """
    if release.hidden is None:
        raise DomainError(f"Release {release} hides no captions. Export it without --hidden.")
    HiddenExport.objects.create(release=release, actor=actor, at=at)
    return KINDS[release.campaign.kind].write(release, out_dir, hidden=True)
