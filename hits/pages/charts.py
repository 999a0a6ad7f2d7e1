"""Charts for the SVG of the pages, in coordinates from 0 to 100."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import floor

from annotate.kinds import TaskKind
from annotate.queries.progress import Step
from corpora.wording import counted
from hits.queries.statistics import Hour, Moment, Pay

# Maximum number of bars in the chart of hourly pay.
PAY_BARS = 16


@dataclass(frozen=True)
class Bar:
    """A bar with its title, which says what it shows."""

    title: str
    x: float
    y: int
    width: float
    height: int
    label: str = ""
    count: int = 0


def bars(values: Sequence[int], titles: Sequence[str]) -> list[Bar]:
    """Bars next to each other; the highest has the height of the chart."""
    most, width = max(values, default=0) or 1, 100 / (len(values) or 1)
    heights = [round(value / most * 100) for value in values]
    return [
        Bar(
            title,
            round(index * width, 3),
            100 - height,
            round(width * 0.9, 3),
            height,
            title.rpartition(": ")[0],
            values[index],
        )
        for index, (height, title) in enumerate(zip(heights, titles, strict=True))
    ]


def hour_bars(hours: Sequence[Hour]) -> list[Bar]:
    """One bar per hour, for the number of responses."""
    titles = [f"{hour.begins_at:%-d %b, %H:%M} UTC: {hour.responses}" for hour in hours]
    return bars([hour.responses for hour in hours], titles)


def distribution_bars(steps: Sequence[Step], kind: TaskKind) -> list[Bar]:
    """One bar per number of responses, for the tasks that have so many."""
    titles = [
        f"{counted(step.responses, kind.answer_name, kind.answers_name)}: "
        f"{counted(step.tasks, kind.subject_name)}"
        for step in steps
    ]
    return bars([step.tasks for step in steps], titles)


def course_path(moments: Sequence[Moment], *, wanted: int) -> str:
    """The SVG path of the number of responses over time; empty without moments.

    The top of the chart is the number of wanted responses.
    """
    if not moments:
        return ""
    begins = moments[0].at
    whole = (moments[-1].at - begins).total_seconds() or 1.0
    top = max(wanted, moments[-1].responses) or 1
    points = [
        f"{(moment.at - begins).total_seconds() / whole * 100:.2f} "
        f"{100 - moment.responses / top * 100:.2f}"
        for moment in moments
    ]
    return "M" + "L".join(points)


@dataclass(frozen=True)
class PayChart:
    """Distribution of hourly pay: the bars, the dollars at the right edge, and the median's
    position."""

    bars: list[Bar]
    end: int
    median: float


def pay_chart(pay: Pay) -> PayChart:
    """The chart of hourly pay. Values above the 95th percentile are in the last bar."""
    most = sorted(pay.each)[floor(0.95 * (len(pay.each) - 1))]
    width = next(width for width in _round_numbers() if most < width * PAY_BARS)
    number = floor(most / width) + 1
    counts = Counter(min(floor(value / width), number - 1) for value in pay.each)
    titles = [
        f"${place * width:,} to ${(place + 1) * width:,} an hour: {counts[place]}"
        for place in range(number - 1)
    ]
    titles.append(f"${(number - 1) * width:,} an hour and more: {counts[number - 1]}")
    end = number * width
    return PayChart(
        bars([counts[place] for place in range(number)], titles),
        end,
        round(min(99.0, float(pay.per_hour) / end * 100), 2),
    )


def _round_numbers() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, and so on."""
    for power in count():
        for digit in (1, 2, 5):
            yield digit * 10**power
