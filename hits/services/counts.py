"""The counts of a HIT that come of its assignments."""

from django.db import transaction
from django.db.models import Count, Q

from hits.models import DECIDED, Assignment, Hit


@transaction.atomic
def recount(pk: int) -> None:
    """Count how many assignments of the HIT were read and how many are decided. Faulty replies may
    have brought more of them than the HIT has slots: those count as far as there are slots, and go
    as soon as the marketplace says that it does not have them."""
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
