"""Figures for the dashboard: when captions came in, when they will be there, and what an hour of
work pays."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from math import ceil
from statistics import median, quantiles

from django.db.models import CharField, Count, Exists, OuterRef, Sum
from django.db.models.functions import Cast, Greatest, Substr

from annotate.models import Campaign, Response, Task

CENT = Decimal("0.01")
# The latest responses say what the work takes now, and are as many for a campaign of any size.
LATEST = 1000
# How both databases write a time, up to its hour.
HOUR_EXAMPLE = "2026-11-02 12"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BY_THE_HOUR = timedelta(days=3)
# A chart has at most so many steps, whatever dates the responses have.
MOST_STEPS = 300


@dataclass(frozen=True)
class Hour:
    """The responses submitted in one hour."""

    begins_at: datetime
    responses: int


@dataclass(frozen=True)
class Moment:
    """How many responses counted at a time."""

    at: datetime
    responses: int


@dataclass(frozen=True)
class Pay:
    """What the work pays: the median time for one response, and dollars per hour at that pace.

    Half of the responses pay from `low` to `high` an hour; `each` has what every one of them pays.
    """

    median_seconds: float
    per_hour: Decimal
    low: Decimal
    high: Decimal
    each: list[float]


@dataclass(frozen=True)
class Overview:
    """A campaign's numbers as far as the counters of its tasks tell them."""

    tasks: int = 0
    wanted: int = 0
    answered: int = 0

    @property
    def share(self) -> float:
        return self.answered / self.wanted if self.wanted else 0.0


def overviews(campaigns: Iterable[Campaign]) -> dict[int, Overview]:
    """Each campaign's overview by its key, in one query; no response is counted for it."""
    keys = [campaign.pk for campaign in campaigns]
    rows = (
        Task.objects.filter(campaign__in=keys)
        .values_list("campaign")
        .annotate(Count("pk"), Sum("wanted"), missing=Sum(Greatest("answers_missing", 0)))
    )
    found = {key: Overview(tasks, wanted, wanted - missing) for key, tasks, wanted, missing in rows}
    return {key: found.get(key, Overview()) for key in keys}


def responses_per_hour(campaign: Campaign, *, at: datetime, hours: int = 24) -> list[Hour]:
    """Submitted responses in each of the last hours, the earliest first; discarded ones too."""
    last = _whole_hour(at)
    begins = [last - timedelta(hours=back) for back in reversed(range(hours))]
    # In this form the database begins with the few responses of these hours, by their time.
    task = Task.objects.filter(pk=OuterRef("task"), campaign=campaign)
    times = Response.objects.filter(
        Exists(task),
        submitted_at__gte=begins[0],
    ).values_list("submitted_at", flat=True)
    # Counted here: SQLite calls back into Python to truncate a time, which takes longer.
    counted = Counter(_whole_hour(time) for time in times.iterator() if time is not None)
    return [Hour(begins_at=hour, responses=counted[hour]) for hour in begins]


def assignments_at_work(campaign: Campaign) -> int:
    """Assignments that workers had accepted and not submitted, by the marketplace's last word."""
    counted = campaign.hits.aggregate(pending=Sum("pending", default=0))
    return int(counted["pending"])


def responses_so_far(campaign: Campaign, *, at: datetime) -> list[Moment]:
    """How the responses that count now added up, from the hour of the first one to now: by the hour
    for three days, by the day for longer, and in at most MOST_STEPS steps. Empty before the
    first. Responses dated later than now are in the last step."""
    # The time's text is cut, which takes a tenth of the time that SQLite needs to truncate it.
    hour = Substr(Cast("submitted_at", CharField()), 1, len(HOUR_EXAMPLE))
    rows = Response.objects.of(campaign).counting().annotate(hour=hour)
    counts = dict(rows.order_by().values_list("hour").annotate(Count("pk")))
    if not counts:
        return []
    hours = {datetime.fromisoformat(text).replace(tzinfo=UTC): n for text, n in counts.items()}
    begins = min(hours)
    step = _step(at - begins)
    steps = max(1, ceil((at - begins) / step))
    added = Counter[int]()
    for time, number in hours.items():
        added[min((time - begins) // step, steps - 1)] += number
    totals = accumulate(added[place] for place in range(steps))
    ends = [begins + (place + 1) * step for place in range(steps - 1)]
    return [Moment(begins, 0), *map(Moment, [*ends, max(at, begins)], totals)]


def _step(span: timedelta) -> timedelta:
    if span <= BY_THE_HOUR:
        return HOUR
    return DAY * max(1, ceil(span / (MOST_STEPS * DAY)))


def time_left(hours: Sequence[Hour], *, missing: int) -> timedelta | None:
    """How long the missing responses take at the pace of these hours, the last of which is not over
    yet and the first of which may have been without work; None where nothing came in."""
    counted = [hour.responses for hour in hours[:-1]]
    while counted and not counted[0]:
        del counted[0]
    if not counted:
        return None
    return timedelta(hours=missing * len(counted) / sum(counted))


def _whole_hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def measured_pay(campaign: Campaign) -> Pay | None:
    """Dollars per hour at the median time of the latest responses; None before the first."""
    latest = (
        Response.objects.of(campaign)
        .counting()
        .filter(seconds__gt=0)
        .order_by("-submitted_at")
        .values_list("seconds", flat=True)[:LATEST]
    )
    seconds = [value for value in latest if value is not None]
    if not seconds:
        return None
    hit = campaign.config.hit
    middle = float(median(seconds))
    # Of a single one, both quarters are itself.
    slow, _, fast = quantiles([*seconds, *seconds] if len(seconds) == 1 else seconds, n=4)

    def per_hour(time: float) -> Decimal:
        return (hit.reward * 3600 / (Decimal(time) * hit.images)).quantize(CENT)

    return Pay(
        median_seconds=middle,
        per_hour=per_hour(middle),
        low=per_hour(fast),
        high=per_hour(max(slow, 1.0)),
        each=[float(hit.reward) * 3600 / (time * hit.images) for time in seconds],
    )
