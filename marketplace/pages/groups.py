"""What the list of HIT groups shows."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from marketplace.models import LIVE, Hit, HitStatus, HitType, Worker
from marketplace.requirements import Action
from marketplace.services.qualifications import allowed


@dataclass(frozen=True)
class Group:
    """A HIT type with how many of its HITs are there for the worker."""

    hit_type: HitType
    hits_available: int
    can_accept: bool


def groups_for(*, worker: Worker, search: str, at: datetime) -> list[Group]:
    """The groups the worker may discover that have something left for them, newest first."""
    counts = _counts(worker, at)
    hit_types = HitType.objects.filter(pk__in=counts).select_related("requester").order_by("-pk")
    for word in search.split():
        hit_types = hit_types.filter(title__icontains=word) | hit_types.filter(
            keywords__icontains=word
        )
    visible = allowed(worker=worker, hit_types=hit_types, action=Action.DISCOVER)
    accepted = {
        hit_type.pk for hit_type in allowed(worker=worker, hit_types=visible, action=Action.ACCEPT)
    }
    return [Group(each, counts[each.pk], each.pk in accepted) for each in visible]


def _counts(worker: Worker, at: datetime) -> Counter[int]:
    # Two counts over an index each; one query that leaves out the worker's own would look at
    # every assignment of every HIT.
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
