"""Statistics for the dashboard: responses over time, the time left, and the pay per hour."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import accumulate, dropwhile
from math import ceil
from statistics import median, quantiles
from typing import Any

from django.db import connection
from django.db.models import CharField, Count, DateTimeField, F, Func, QuerySet, Sum, Value
from django.db.models.functions import Cast, Substr

from annotate.kinds.practice import is_passed
from annotate.models import Campaign, Response, ResponseStatus
from hits.models import Assignment
from hits.queries.costs import per_hour

# Pay is measured on this many responses: the latest ones show how long the work takes now, and the
# query takes the same time for every campaign.
LATEST = 1000
# A time as SQLite's text, up to the hour.
HOUR_EXAMPLE = "2026-11-02 12"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
FULL_HOUR = datetime(2026, 1, 1, tzinfo=UTC)
BY_THE_HOUR = timedelta(days=3)
# Largest number of steps in a chart, for any dates of responses.
MOST_STEPS = 300


@dataclass(frozen=True)
class Hour:
    """The number of responses submitted in one hour."""

    begins_at: datetime
    responses: int


@dataclass(frozen=True)
class Moment:
    """The number of responses that count, up to a time."""

    at: datetime
    responses: int


@dataclass(frozen=True)
class Pay:
    """The median time for one response, and the pay in dollars per hour at this pace.

    The middle half of the responses pay from `low` to `high` per hour. `each` has the pay per hour
    of every response.
    """

    median_seconds: float
    per_hour: Decimal
    low: Decimal
    high: Decimal
    each: list[float]


@dataclass(frozen=True)
class Practised:
    """The number of workers whose practice the marketplace has reported, by its result.

    Workers who do not pass an unpaid practice submit nothing, and are not counted.
    """

    passed: int
    failed: int

    @property
    def tried(self) -> int:
        return self.passed + self.failed


def practised(campaign: Campaign) -> Practised | None:
    """The results of the practice so far; None if the campaign has no practice."""
    if not campaign.config.practice.captions:
        return None
    finished = Assignment.objects.of(campaign).exclude(practice="").order_by()
    by_outcome = Counter[bool]()
    for marks, number in finished.values_list("practice").annotate(n=Count("pk")):
        by_outcome[is_passed(campaign.config, marks)] += number
    return Practised(passed=by_outcome[True], failed=by_outcome[False])


def responses_per_hour(campaign: Campaign, *, at: datetime, hours: int = 24) -> list[Hour]:
    """The responses submitted in each of the last hours, earliest first.

    Discarded responses are included. Imported ones are left out: their time may be that of the
    import, and says nothing about the pace of the campaign's own workers.
    """
    last = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    begins = [last - timedelta(hours=back) for back in reversed(range(hours))]
    # Naming all values of the status, the database finds the responses by the index of times.
    rows = Response.objects.of(campaign).filter(
        status__in=ResponseStatus.values, submitted_at__gte=begins[0], imported_from=None
    )
    counted = _by_hour(rows)
    return [Hour(begins_at=hour, responses=counted.get(hour, 0)) for hour in begins]


def _by_hour(responses: QuerySet[Response]) -> dict[datetime, int]:
    """The number of responses in each hour that has some."""
    if connection.vendor == "postgresql":
        # Twice as fast as date_trunc, which reckons with time zones.
        arguments = (Value(HOUR), F("submitted_at"), Value(FULL_HOUR))
        hour: Any = Func(*arguments, function="DATE_BIN", output_field=DateTimeField())
    else:
        # SQLite calls a Python function to truncate a time. Cutting its text is ten times faster.
        hour = Substr(Cast("submitted_at", CharField()), 1, len(HOUR_EXAMPLE))
    # Not the primary key, which is not in the index that has all the rest.
    rows = responses.annotate(hour=hour).order_by().values_list("hour").annotate(n=Count("*"))
    return {
        datetime.fromisoformat(begins).replace(tzinfo=UTC) if isinstance(begins, str) else begins: n
        for begins, n in rows
    }


def assignments_at_work(campaign: Campaign) -> int:
    """The number of assignments that were accepted and not submitted at the last sync."""
    counted = campaign.hits.filter(paid=None).aggregate(pending=Sum("pending", default=0))
    return int(counted["pending"])


def responses_so_far(campaign: Campaign, *, at: datetime) -> list[Moment]:
    """The running total of the responses that count, from the first one until `at`.

    Steps are hours for up to three days, and otherwise days or several days, so that there are at
    most MOST_STEPS. The list is empty if there are no responses. Responses with a time later than
    `at` are in the last step.
    """
    hours = _by_hour(Response.objects.of(campaign).counting())
    if not hours:
        return []
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


def rate_of(hours: Sequence[Hour]) -> float:
    """The responses per hour in these hours.

    The last hour is ignored, as it is not over yet, and so are the first hours without responses.
    """
    counted = [*dropwhile(lambda number: not number, (hour.responses for hour in hours[:-1]))]
    return sum(counted) / len(counted) if counted else 0.0


def time_left(hours: Sequence[Hour], *, missing: int) -> timedelta | None:
    """How long the missing responses take at the pace of these hours; None if there were no
    responses."""
    rate = rate_of(hours)
    return timedelta(hours=missing / rate) if rate else None


def latest_seconds(campaign: Campaign, *, with_imported: bool = True) -> list[int]:
    """The times that the latest responses took, where they are known."""
    timed = Response.objects.of(campaign).counting().filter(seconds__gt=0)
    if not with_imported:
        timed = timed.filter(imported_from=None)
    latest = timed.order_by("-submitted_at").values_list("seconds", flat=True)[:LATEST]
    return [value for value in latest if value is not None]


def measured_pay(campaign: Campaign) -> Pay | None:
    """The pay at the median time of the latest responses, or None if there are none.

    Imported responses are left out: this campaign's reward was not paid for them.
    """
    seconds = latest_seconds(campaign, with_imported=False)
    if not seconds:
        return None
    hit = campaign.config.hit
    middle = float(median(seconds))
    # Of fewer than three values, `quantiles` takes ones beyond them.
    fast, _, slow = quantiles([*seconds, *seconds] if len(seconds) < 3 else seconds, n=4)
    return Pay(
        median_seconds=middle,
        per_hour=per_hour(campaign.config, middle),
        low=per_hour(campaign.config, slow),
        high=per_hour(campaign.config, fast),
        each=[float(hit.reward) * 3600 / (time * hit.images) for time in seconds],
    )
