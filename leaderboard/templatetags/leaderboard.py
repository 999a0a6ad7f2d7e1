"""Template filters and tags for scores and boards."""

from typing import Any
from urllib.parse import urlencode

from django import template

from corpora.evaluation.tokenisers import OFFICIAL
from leaderboard.models import Submission
from leaderboard.queries import Board, figures_of, names_of
from leaderboard.scoring import decimals

register = template.Library()


@register.filter
def figure(value: float | None, images: int) -> str:
    """A figure of this many images, with its decimals; a dash if it was not computed."""
    return "–" if value is None else f"{value:.{decimals(images)}f}"


@register.filter
def last_line(log: str) -> str:
    """The last line of a submission's log without its time."""
    lines = log.strip().splitlines()
    return lines[-1].split(" ", 2)[-1] if lines else ""


@register.filter
def tokeniser_name(name: str) -> str:
    return "official" if name == OFFICIAL else name


@register.filter
def metric_name(name: str) -> str:
    """A metric's name as papers write it: `CIDEr` for `cider`, `ROUGE-L` for `rouge-l`."""
    return "CIDEr" if name == "cider" else name.upper()


@register.inclusion_tag("leaderboard/scores_table.html")
def scores_table(submission: Submission) -> dict[str, Any]:
    """The figures of a scored submission: a row for all images, and one for each subset."""
    scores = submission.scores or {}
    metrics, subsets = names_of([submission])
    counts = {"": scores["images"], **{name: scores["subset_images"][name] for name in subsets}}
    rows = [
        (
            name,
            count,
            [figure(figures_of(submission, name).get(metric), count) for metric in metrics],
        )
        for name, count in counts.items()
    ]
    return {
        "submission": submission,
        "metrics": metrics,
        "rows": rows,
        "failed": sorted(scores.get("failed", {}).items()),
    }


@register.simple_tag
def board_url(board: Board, **changes: str) -> str:
    """The address of a board that differs from this one in the given parts."""
    parts = {"track": board.track, "subset": board.subset, "sort": board.sort, **changes}
    return "?" + urlencode({name: value for name, value in parts.items() if value})
