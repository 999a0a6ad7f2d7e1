"""The list of HIT groups, with its filters and sort orders."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import QueryDict

from marketplace.models import LIVE, Hit, HitStatus, HitType, Worker
from marketplace.requirements import Action
from marketplace.services.qualifications import allowed


@dataclass(frozen=True)
class Group:
    """A HIT type, and how many of its HITs the worker could do."""

    hit_type: HitType
    hits_available: int
    can_accept: bool
    # Another group of the requester in the list has the same title.
    shares_title: bool = False


# Sort orders: value in the URL, label on the page, and sort key.
SORTS: dict[str, tuple[str, Callable[[Group], Any]]] = {
    "newest": ("Newest first", lambda group: -group.hit_type.pk),
    "reward": ("Highest reward", lambda group: -group.hit_type.reward),
    "time": ("Shortest time allotted", lambda group: group.hit_type.assignment_duration),
    "available": ("Most HITs available", lambda group: -group.hits_available),
}


@dataclass(frozen=True)
class GroupFilters:
    """A worker's filters and sort order for the list."""

    search: str = ""
    sort: str = "newest"
    least_reward: Decimal | None = None
    qualified_only: bool = False

    @classmethod
    def of(cls, query: QueryDict) -> "GroupFilters":
        """The filters in the query string; invalid values are ignored."""
        sort = query.get("sort", "")
        return cls(
            search=query.get("q", "").replace("\0", "").strip()[:100],
            sort=sort if sort in SORTS else "newest",
            least_reward=_amount(query.get("reward", "")),
            qualified_only=query.get("qualified") == "1",
        )

    @property
    def is_narrow(self) -> bool:
        """Whether a filter is active."""
        return bool(self.search or self.least_reward or self.qualified_only)


def _amount(text: str) -> Decimal | None:
    try:
        amount = Decimal(text.strip().removeprefix("$"))
    except InvalidOperation:
        return None
    is_sensible = amount.is_finite() and 0 < amount < 10**6
    return amount.quantize(Decimal("0.01")) if is_sensible else None


def groups_for(*, worker: Worker, filters: GroupFilters, at: datetime) -> list[Group]:
    """The groups that the worker may see and that have HITs for them, filtered and sorted."""
    counts = _counts(worker, at)
    hit_types = _wanted(HitType.objects.filter(pk__in=counts), filters)
    visible = allowed(
        worker=worker,
        hit_types=hit_types.select_related("requester").order_by("-pk"),
        action=Action.DISCOVER,
    )
    accepted = {
        hit_type.pk for hit_type in allowed(worker=worker, hit_types=visible, action=Action.ACCEPT)
    }
    shared = sharing_a_title(visible)
    groups = [
        Group(
            each,
            counts[each.pk],
            each.pk in accepted,
            shares_title=each.pk in shared,
        )
        for each in visible
        if each.pk in accepted or not filters.qualified_only
    ]
    return sorted(groups, key=SORTS[filters.sort][1])


def _wanted(hit_types: QuerySet[HitType], filters: GroupFilters) -> QuerySet[HitType]:
    for word in filters.search.split():
        hit_types = hit_types.filter(
            Q(title__icontains=word)
            | Q(description__icontains=word)
            | Q(keywords__icontains=word)
            | Q(requester__name__icontains=word)
        )
    if filters.least_reward:
        hit_types = hit_types.filter(reward__gte=filters.least_reward)
    return hit_types


def sharing_a_title(hit_types: Iterable[HitType]) -> set[int]:
    """The keys of those groups whose requester has another one with the same title among them."""
    named = {each.pk: (each.requester_id, each.title) for each in hit_types}
    times = Counter(named.values())
    return {pk for pk, name in named.items() if times[name] > 1}


def _counts(worker: Worker, at: datetime) -> Counter[int]:
    # Two counts, each over an index. One query that excludes the worker's own HITs would read every
    # assignment of every HIT.
    counts = Counter(
        dict(Hit.objects.open_at(at).order_by().values_list("hit_type").annotate(hits=Count("pk")))
    )
    mine = (
        worker.assignments.filter(
            status__in=LIVE,
            hit__status=HitStatus.ASSIGNABLE,
            hit__available__gt=0,
            hit__expires_at__gt=at,
        )
        .order_by()
        .values_list("hit__hit_type")
        .annotate(hits=Count("pk"))
    )
    counts.subtract(dict(mine))
    return Counter({pk: count for pk, count in counts.items() if count > 0})
