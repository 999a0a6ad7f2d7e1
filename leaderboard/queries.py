"""What pages, the API and commands read: boards, the table of all submissions, the images that
submitters caption and what scoring needs of them, and how many submissions are left."""

import json
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from itertools import chain, permutations
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet

from annotate.images.copies import whole_url
from annotate.models import Release, ReleasedImage, Role
from annotate.queries.releases import captions_with_hidden, domains_of_release, has_few
from corpora.evaluation.metrics import CIDER, FIGURES
from corpora.evaluation.results import WrongResults, check_images, listed, read_results
from corpora.language.text import normalise
from leaderboard.models import Challenge, Submission
from shared.tables import Column, csv_table


def state_of(challenge: Challenge, at: datetime) -> str:
    """Whether the challenge takes submissions at this time, in words."""
    if challenge.is_closed(at):
        return "closed"
    return "open" if challenge.is_open(at) else "not open yet"


WHOLE = ""
# Sorts a board by what people said.
PEOPLE = "people"


@dataclass(frozen=True)
class Row:
    """A submission on the board, with its figures in the order of the board's metrics."""

    submission: Submission
    rank: int | None
    team: str
    figures: list[float | None]
    # What people said: the mean, and the rank among the submissions that people rated.
    people: float | None
    people_rank: int | None


@dataclass(frozen=True)
class Board:
    """The rows of one track and one subset; `subset` is empty for all images.

    Of the pairs that people tell apart, `disagreements` has those (better, worse) that `metric`
    orders the other way, and `agreements` counts those that it orders alike. `people` is empty
    without ratings.
    """

    rows: list[Row]
    images: int
    metrics: list[str]
    subsets: list[str]
    track: str
    subset: str
    sort: str
    people: Mapping[str, Any]
    metric: str
    disagreements: list[tuple[Submission, Submission]]
    agreements: int


def board_of(challenge: Challenge, *, track: str, subset: str = WHOLE, sort: str = "") -> Board:
    """The board; unknown subsets and metrics stand for all images and the first metric."""
    scored = challenge.submissions.scored().filter(Q(track=track) | Q(is_baseline=True))
    submissions = list(scored.select_related("submitter__submitter").order_by("created_at", "pk"))
    metrics, subsets = names_of(submissions)
    subset = subset if subset in subsets else WHOLE
    people = challenge.people if challenge.people and subset == WHOLE else {}
    first = next(iter(metrics), "")
    sort = sort if sort in metrics or (people and sort == PEOPLE) else first
    figures = {
        submission.pk: figures_of(submission, subset) | _of_people(people, submission)
        for submission in submissions
    }
    submissions.sort(key=lambda submission: _rank_key(figures[submission.pk].get(sort)))
    metric = first if sort == PEOPLE else sort
    compared = [submission for submission in submissions if metric in figures[submission.pk]]
    pairs = list(_told_apart(people, compared))
    wrong = [p for p in pairs if figures[p[0].pk][metric] < figures[p[1].pk][metric]]
    right = [p for p in pairs if figures[p[0].pk][metric] > figures[p[1].pk][metric]]
    return Board(
        rows=list(_rows(submissions, figures, metrics, sort)),
        images=max((image_count(submission, subset) for submission in submissions), default=0),
        metrics=metrics,
        subsets=subsets,
        track=track,
        subset=subset,
        sort=sort,
        people=people,
        metric=metric,
        disagreements=wrong,
        agreements=len(right),
    )


def _of_people(people: Mapping[str, Any], submission: Submission) -> dict[str, float]:
    """People's mean rating of a submission, with the decimals that the board shows; empty if they
    did not rate it."""
    source = people.get("sources", {}).get(str(submission.pk))
    return {PEOPLE: round(people["scores"][source], 2)} if source else {}


def _told_apart(
    people: Mapping[str, Any], submissions: Sequence[Submission]
) -> Iterator[tuple[Submission, Submission]]:
    """The pairs of these submissions that people tell apart, the better one first."""
    apart = set(map(tuple, people.get("apart", ())))
    sources = people.get("sources", {})
    for pair in permutations(submissions, 2):
        if tuple(sources.get(str(submission.pk)) for submission in pair) in apart:
            yield pair


def figures_of(submission: Submission, subset: str = WHOLE) -> dict[str, Any]:
    """The figures of a scored submission by metric, for all images or for a subset."""
    scores = submission.scores or {"overall": {}, "subsets": {}}
    return dict(scores["subsets"].get(subset, {}) if subset else scores["overall"])


def image_count(submission: Submission, subset: str) -> int:
    """The number of images whose mean the figures of a scored submission are."""
    scores = submission.scores or {"images": 0}
    return int(scores["subset_images"].get(subset, 0) if subset else scores["images"])


def team_of(submission: Submission) -> str:
    """The name for a submission's row; empty for the human baseline."""
    if submission.submitter is None:
        return ""
    profile = getattr(submission.submitter, "submitter", None)
    return profile.team if profile else submission.submitter.get_username()


class Names(NamedTuple):
    """The metrics and the subsets of scored submissions."""

    metrics: list[str]
    subsets: list[str]


def names_of(submissions: Iterable[Submission]) -> Names:
    scores = [submission.scores for submission in submissions if submission.scores]
    # In the order of FIGURES, because not every database keeps that of a JSON object's keys.
    metrics = _first_met(sorted(score["overall"], key=FIGURES.index) for score in scores)
    # CIDEr comes first, and boards are sorted by it at first, as in nocaps.
    metrics.sort(key=lambda metric: metric != CIDER)
    return Names(metrics, _first_met(sorted(score["subsets"]) for score in scores))


def _first_met(lists: Iterable[Sequence[str]]) -> list[str]:
    """The members of all lists, in the order in which they first occur."""
    return list(dict.fromkeys(chain.from_iterable(lists)))


def _rank_key(figure: float | None) -> tuple[bool, float]:
    """Highest figures first, and rows without one last."""
    return (figure is None, -(figure or 0.0))


def _rows(
    submissions: Sequence[Submission],
    figures: Mapping[int, Mapping[str, Any]],
    metrics: Sequence[str],
    sort: str,
) -> Iterator[Row]:
    """The rows. Equal figures have one rank; the human baseline and rows without one have none."""
    ranked = [figures[submission.pk] for submission in submissions if not submission.is_baseline]
    for submission in submissions:
        own = figures[submission.pk]
        places = [
            None if submission.is_baseline else _rank(own.get(name), name, ranked)
            for name in (sort, PEOPLE)
        ]
        yield Row(
            submission=submission,
            rank=places[0],
            team=team_of(submission),
            figures=[own.get(metric) for metric in metrics],
            people=own.get(PEOPLE),
            people_rank=places[1],
        )


def _rank(figure: float | None, name: str, ranked: Sequence[Mapping[str, Any]]) -> int | None:
    """1 plus the number of submissions with a higher figure of this name."""
    if figure is None:
        return None
    return 1 + sum(bool(name in row and row[name] > figure) for row in ranked)


COLUMNS = (
    Column("id", value=lambda row: row.pk),
    Column("submitted_at", value=lambda row: row.created_at),
    Column("team", value=team_of),
    Column("account", value=lambda row: row.submitter and row.submitter.get_username()),
    *map(Column, ("method", "track", "training_data", "status", "sha256")),
)


def submission_table(challenge: Challenge) -> Iterator[str]:
    """CSV with a row for each submission, in the order of their arrival.

    The columns of figures are named `METRIC` and `METRIC SUBSET`.
    """
    rows = challenge.submissions.select_related("submitter__submitter")
    submissions = list(rows.order_by("created_at", "pk"))
    names = names_of([submission for submission in submissions if submission.scores])
    figures = [
        Column(f"{metric} {subset}".strip(), value=partial(_figure, metric, subset))
        for subset in ("", *names.subsets)
        for metric in names.metrics
    ]
    return csv_table([*COLUMNS, *figures], submissions)


def _figure(metric: str, subset: str, submission: Submission) -> float | None:
    figure: float | None = figures_of(submission, subset).get(metric)
    return figure


# What submitters get of an image's record.
PUBLIC = ("file_name", "width", "height", "coco_url", "date_captured", "region")
UPLOAD = "Your file"


def images_of(release: Release) -> QuerySet[ReleasedImage]:
    """The images that a challenge on this release scores: the hidden ones, or all if none is."""
    images = release.images.order_by("number")
    hidden = images.filter(is_hidden=True)
    return hidden if hidden.exists() else images


def numbers_of(release: Release) -> list[int]:
    """The numbers of those images, which are their ids in files."""
    return list(images_of(release).values_list("number", flat=True))


def image_list(challenge: Challenge) -> Iterator[dict[str, Any]]:
    """The images with their ids, as the key `images` of a COCO file has them; no captions.

    The address of an image that has a file here and no address in its dataset is that of a copy,
    which needs no sign-in.
    """
    rows = images_of(challenge.release).select_related("task__image").defer("details")
    for image in rows.iterator():
        facts = {name: image.record[name] for name in PUBLIC if name in image.record}
        facts["coco_url"] = facts.get("coco_url") or whole_url(image.task.image)
        yield {"id": image.number, **facts}


def check_results(challenge: Challenge, content: bytes) -> None:
    """Check that results have one caption for each image; raises MalformedFile and WrongResults.

    The message names the first twenty images that are missing, unknown or repeated.
    """
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(content)
        file.flush()
        results = read_results(Path(file.name), name=UPLOAD)
    check_images(results, wanted=numbers_of(challenge.release), name=UPLOAD)
    if empty := [image for image, caption in results.items() if not normalise(caption)]:
        raise WrongResults(f"{UPLOAD}: Images with an empty caption: {listed(empty)}.")


def baseline_results(release: Release) -> list[dict[str, Any]]:
    """The human baseline in COCO's results form; empty if the release has none."""
    captions = captions_of(release, Role.BASELINE)
    return [{"image_id": image, "caption": text} for image, text in captions]


def captions_of(release: Release, role: Role) -> Iterator[tuple[int, str]]:
    """The number of the image and the text of each caption, also of hidden ones.

    For scoring only: no page, log or message may show them.
    """
    scored = set(numbers_of(release))
    return ((image, text) for image, text in captions_with_hidden(release, role) if image in scored)


def job_of(submission: Submission) -> dict[str, Any]:
    """The input of the scoring process (`leaderboard.scoring`)."""
    challenge = submission.challenge
    references: dict[int, list[str]] = defaultdict(list)
    for image, text in captions_of(challenge.release, Role.REFERENCE):
        references[image].append(text)
    return {
        "references": references,
        "results": captions_submitted(submission),
        "subsets": subsets_of(challenge.release),
        "metrics": challenge.metrics,
        "tokeniser": challenge.tokeniser,
    }


def captions_submitted(submission: Submission) -> dict[int, str]:
    """The submission's caption of each image."""
    results = json.loads(zlib.decompress(submission.file.content))
    return {entry["image_id"]: entry["caption"] for entry in results}


def subsets_of(release: Release) -> dict[int, str]:
    """The subset of each image by its number; empty if one has few images."""
    domains = domains_of_release(release)
    subsets = {number: domains[number] for number in numbers_of(release)}
    if has_few(subsets.values()):
        return {}
    return {number: subset for number, subset in subsets.items() if subset}


@dataclass(frozen=True)
class Allowance:
    """The limits of a challenge, and how much of them one submitter has used."""

    per_day: int
    in_total: int
    used_today: int
    used: int
    resets_at: datetime

    @property
    def left_in_total(self) -> int:
        return max(0, self.in_total - self.used)

    @property
    def left(self) -> int:
        """How many submissions are possible now."""
        return min(max(0, self.per_day - self.used_today), self.left_in_total)


def day_of(at: datetime) -> date:
    """The day for the limit per day. It begins at midnight UTC for everybody."""
    return at.astimezone(UTC).date()


def next_day(at: datetime) -> datetime:
    """When the limit per day starts again."""
    return datetime.combine(day_of(at) + timedelta(days=1), time(), UTC)


def allowance_of(challenge: Challenge, user: User, *, at: datetime) -> Allowance:
    counting = Submission.objects.counting().filter(challenge=challenge, submitter=user)
    used = counting.aggregate(total=Count("pk"), today=Count("pk", filter=Q(day=day_of(at))))
    return Allowance(
        per_day=challenge.per_day,
        in_total=challenge.in_total,
        used_today=used["today"],
        used=used["total"],
        resets_at=next_day(at),
    )


# After this time without a run, the process that scores is probably not running.
LONG = timedelta(minutes=10)


def turns_of_waiting() -> dict[int, int]:
    """By the key of each submission that waits, how many will be scored before it."""
    keys = Submission.objects.waiting().values_list("pk", flat=True)
    return {pk: turn for turn, pk in enumerate(keys)}


def stuck_since(at: datetime) -> datetime | None:
    """Since when a submission has waited, if that is long and nothing is being scored."""
    if Submission.objects.running().filter(due_at__gt=at).exists():
        return None
    first = Submission.objects.waiting().filter(due_at__lt=at - LONG).first()
    return first.due_at if first else None
