"""Pictures of what is believed, drawn as SVG: the pages' security policy allows no inline style."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from django import template

from annotate.templatetags.campaigns import percent
from qualcontrol.queries.quality_report import WorkerFigures

register = template.Library()

# The log of how many times likelier something made it, at which a bar is full.
FULL_EFFECT = math.log(100)


class Interval(Protocol):
    """An expected share with the ends of its interval, all from 0 to 1."""

    share: float
    low: float
    high: float


@register.filter
def probability(value: float) -> str:
    """`12%`; never rounded to a certainty, as there is none."""
    return "over 99%" if value > 0.99 else "under 1%" if value < 0.01 else percent(value)


@register.filter
def busiest(workers: Iterable[WorkerFigures]) -> int:
    """The most that one of these workers submitted, which the bars of all are measured by."""
    return max((worker.submitted for worker in workers), default=0)


@register.inclusion_tag("qualcontrol/share_bar.html")
def share_bar(label: str, figure: Interval, limit: float, end: float = 0.5) -> dict[str, Any]:
    """A share and its interval beside the limit, from 0 to `end`, or to 1 where something lies
    beyond it; most shares are small."""
    low, high = figure.low, figure.high
    end = 1.0 if max(high, limit) > end else end
    # An interval of hardly any width is shown as a line.
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
    """What moved a worker's figure, each with a bar: to the right what makes it likelier that they
    are careless, to the left what makes it less so."""
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
    """How far from the left, in hundredths of the picture's width; never beyond its end."""
    return f"{min(99.0, 100 * share):.2f}"
