"""The board of a challenge: the scored submissions of a track, in the order of a metric."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Q

from leaderboard.models import Challenge, Submission

WHOLE = ""


@dataclass(frozen=True)
class Row:
    """A submission on the board, with its figures in the order of the board's metrics."""

    submission: Submission
    rank: int | None
    team: str
    figures: list[float | None]


@dataclass(frozen=True)
class Board:
    """The rows of one track and one subset; `subset` is empty for all images."""

    rows: list[Row]
    images: int
    metrics: list[str]
    subsets: list[str]
    track: str
    subset: str
    sort: str


def board_of(challenge: Challenge, *, track: str, subset: str = WHOLE, sort: str = "") -> Board:
    """The board; unknown subsets and metrics stand for all images and the first metric."""
    scored = challenge.submissions.scored().filter(Q(track=track) | Q(is_baseline=True))
    submissions = list(scored.select_related("submitter__submitter").order_by("created_at", "pk"))
    metrics, subsets = names_of(submissions)
    subset = subset if subset in subsets else WHOLE
    sort = sort if sort in metrics else next(iter(metrics), "")
    submissions.sort(key=lambda submission: _rank_key(figures_of(submission, subset).get(sort)))
    return Board(
        rows=list(_rows(submissions, metrics, subset, sort)),
        images=max((image_count(submission, subset) for submission in submissions), default=0),
        metrics=metrics,
        subsets=subsets,
        track=track,
        subset=subset,
        sort=sort,
    )


def figures_of(submission: Submission, subset: str = WHOLE) -> dict[str, Any]:
    """The figures of a scored submission by metric, for all images or for a subset."""
    scores = submission.scores or {"overall": {}, "subsets": {}}
    return dict(scores["subsets"].get(subset, {}) if subset else scores["overall"])


def image_count(submission: Submission, subset: str = WHOLE) -> int:
    """The number of images whose mean the figures of a scored submission are."""
    scores = submission.scores or {"images": 0}
    return int(scores["subset_images"].get(subset, 0) if subset else scores["images"])


def team_of(submission: Submission) -> str:
    """The name for a submission's row; empty for the human baseline."""
    if submission.submitter is None:
        return ""
    found = getattr(submission.submitter, "submitter", None)
    return found.team if found else submission.submitter.get_username()


class Names(NamedTuple):
    """The metrics and the subsets of scored submissions."""

    metrics: list[str]
    subsets: list[str]


def names_of(submissions: Iterable[Submission]) -> Names:
    scores = [submission.scores for submission in submissions if submission.scores]
    metrics = _in_order(each["overall"] for each in scores)
    return Names(sorted(metrics, key=_is_second), _in_order(each["subsets"] for each in scores))


def _is_second(metric: str) -> bool:
    """CIDEr comes first, and boards are sorted by it at first, as in nocaps."""
    return metric != "CIDEr"


def _in_order(mappings: Iterable[Any]) -> list[str]:
    """The keys of all mappings, in the order in which they first occur."""
    return list(dict.fromkeys(key for mapping in mappings for key in mapping))


def _rank_key(figure: float | None) -> tuple[bool, float]:
    """Highest figures first, and rows without one last."""
    return (figure is None, -(figure or 0.0))


def _rows(
    submissions: Sequence[Submission], metrics: Sequence[str], subset: str, sort: str
) -> Iterator[Row]:
    """The rows. Equal figures have one rank; the human baseline and rows without one have none."""
    ranked = [
        figures_of(submission, subset).get(sort)
        for submission in submissions
        if not submission.is_baseline
    ]
    for submission in submissions:
        figures = figures_of(submission, subset)
        has_rank = sort in figures and not submission.is_baseline
        yield Row(
            submission=submission,
            rank=1 + ranked.index(figures[sort]) if has_rank else None,
            team=team_of(submission),
            figures=[figures.get(metric) for metric in metrics],
        )
