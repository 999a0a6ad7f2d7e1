"""Update the counts of a HIT from its assignments."""

from django.db import transaction
from django.db.models import Count, Q

from hits.models import DECIDED, Assignment, Hit


@transaction.atomic
def recount(pk: int) -> None:
    """Count the HIT's assignments that were ingested and those that are decided, and store both.

    Faulty replies may have added more assignments than the HIT has slots, so the counts are at most
    the number of slots. Surplus assignments no longer count once they are marked as lost.
    """
    hit = Hit.objects.select_for_update(of=("self",)).get(pk=pk)
    counts = (
        Assignment.objects.filter(hit=hit)
        .not_lost()
        .aggregate(
            ingested=Count("pk"),
            settled=Count("pk", filter=Q(status__in=DECIDED)),
        )
    )
    Hit.objects.filter(pk=pk).update(
        **{name: min(number, hit.slots) for name, number in counts.items()}
    )
