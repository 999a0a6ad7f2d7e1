"""Update the counts of HITs from their assignments."""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Least

from annotate.services.places import batches
from hits.models import DECIDED, Assignment, Hit
from hits.models.hits import AssignmentQuerySet


def recount(pk: int) -> None:
    """Count the assignments of one HIT; see `recount_all`."""
    recount_all([pk])


def recount_all(keys: Collection[int]) -> None:
    """Count each HIT's assignments that were ingested and those that are decided, and store both.

    Faulty replies may have added more assignments than a HIT has slots, so the counts are at most
    the number of slots. Surplus assignments no longer count once they are marked as lost.
    """
    for batch in batches(sorted(keys)):
        with transaction.atomic(savepoint=False):
            # The statement that counts must begin after others have stored their counts.
            _lock(batch)
            _store_counts(batch)


@transaction.atomic
def store_with_counts(hits: Sequence[Hit], *, columns: Sequence[str]) -> None:
    """Store these columns of the HITs that are alive, and count the HITs' assignments."""
    keys = [hit.pk for hit in hits]
    _lock(keys)
    Hit.objects.alive().bulk_update(hits, columns)
    _store_counts(keys)


def numbers_by_hit(rows: QuerySet[Any]) -> dict[int, int]:
    """Return the number of the rows of each HIT that has any, by the HIT's key."""
    return dict(rows.order_by().values_list("hit").annotate(Count("pk")))


def _store_counts(keys: Collection[int]) -> None:
    """Count the assignments of these HITs, which are locked."""
    there = Assignment.objects.not_lost()
    decided = there.filter(status__in=DECIDED)
    Hit.objects.filter(pk__in=keys).update(ingested=_number(there), settled=_number(decided))


def _lock(keys: Collection[int]) -> None:
    list(
        Hit.objects.select_for_update(no_key=True)
        .filter(pk__in=keys)
        .order_by("pk")
        .values_list("pk")
    )


def _number(assignments: AssignmentQuerySet) -> Least:
    of_hit = assignments.filter(hit=OuterRef("pk")).order_by().values("hit")
    number = Subquery(of_hit.annotate(number=Count("pk")).values("number"))
    return Least(F("slots"), Coalesce(number, Value(0)))
