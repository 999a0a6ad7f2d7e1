"""Columns of tables, and small SVG charts of risks. The charts are drawn on the server, because the
pages' security policy allows no inline styles."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from django import template

from annotate.kinds import TaskKind
from corpora.wording import probability
from qualcontrol.flags.flag import label_of
from qualcontrol.queries import decision_log
from qualcontrol.queries.workers import WORKER_COLUMNS, WorkerSummary
from shared.tables import Column

register = template.Library()

# The change of the log odds at which a bar has its full length.
FULL_EFFECT = math.log(100)


class Interval(Protocol):
    """An expected share with the ends of its interval, all from 0 to 1."""

    share: float
    low: float
    high: float


register.filter("probability", probability)
register.filter("flag_label", label_of)


@register.simple_tag
def worker_columns(kind: TaskKind, *, is_short: bool) -> list[Column]:
    """The columns of a page's list of workers; in a short list, those without details."""
    names = {"answers": kind.answers_name, "estimated": "Bad" if is_short else "Estimated bad"}
    return [
        replace(column, heading=column.heading.format(**names))
        for column in WORKER_COLUMNS
        if column.heading and not (is_short and column.is_detail)
    ]


@register.simple_tag
def decision_columns(kind: TaskKind) -> list[Column]:
    """The columns of a page's list of decisions."""
    return [column for column in decision_log.decision_columns(kind) if column.heading]


@register.filter
def cell(column: Column, row: Any) -> Any:
    return column.cell(row)


@register.filter
def busiest(workers: Iterable[WorkerSummary]) -> int:
    """The largest number of submissions among these workers, the length of a full bar."""
    return max((worker.submitted for worker in workers), default=0)


@register.inclusion_tag("qualcontrol/share_bar.html")
def share_bar(label: str, figure: Interval, limit: float, end: float = 0.5) -> dict[str, Any]:
    """A share with its interval, compared with the tolerated share. The axis ends at `end`, or at 1
    if something is larger."""
    low, high = figure.low, figure.high
    end = 1.0 if max(high, limit) > end else end
    # A very narrow interval is shown as a line.
    width = max(1.0, 100 * (high - low) / end)
    return {
        "label": label,
        "low": _place(low / end),
        "width": f"{width:.2f}",
        "share": _place(figure.share / end),
        "limit": _place(limit / end),
        "limit_share": limit,
        "end": end,
    }


@register.inclusion_tag("qualcontrol/reasons.html")
def moved_by(reasons: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The reasons for a worker's risk, each with a bar: to the right if it raises the risk, to the
    left if it lowers it."""
    return {"reasons": [_reason(reason["sentence"], reason["effect"]) for reason in reasons]}


def _reason(sentence: str, effect: float) -> dict[str, Any]:
    length = 50 * min(1.0, abs(effect) / FULL_EFFECT)
    return {
        "sentence": sentence,
        "raises": effect > 0,
        "start": f"{50 if effect > 0 else 50 - length:.1f}",
        "length": f"{length:.1f}",
    }


def _place(share: float) -> str:
    """The distance from the left in percent of the chart's width, at most 99."""
    return f"{min(99.0, 100 * share):.2f}"
