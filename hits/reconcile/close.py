"""Close: take from new workers what they should not accept any more."""

from django.db import transaction

from annotate.models import CampaignStatus
from hits.models import Hit, HitStatus
from hits.mturk.client import MarketplaceError
from hits.reconcile.reading import note_gone
from hits.reconcile.run import HIT_NAME, Run


def close(run: Run) -> None:
    """Expire the open HITs of a campaign that is paused or finished, and forget the planned ones
    that the marketplace does not have."""
    if run.campaign.status == CampaignStatus.RUNNING:
        return
    if run.sync.listing:
        _withdraw_planned(run)
    still_open = run.campaign.hits.filter(status=HitStatus.OPEN).order_by("pk")
    for hit in run.healthy_first(still_open, HIT_NAME):
        with run.alone(HIT_NAME(hit)):
            expire(run, hit)


@transaction.atomic
def _withdraw_planned(run: Run) -> None:
    """Delete planned HITs that were not in the list just read. Should another sync be about to
    create one nevertheless, its annotation tells the next listing whose it is."""
    planned = run.campaign.hits.filter(status=HitStatus.PLANNED, planned_at__lt=run.at)
    for hit in planned.select_for_update(of=("self",)).order_by("pk"):
        hit.delete()


def expire(run: Run, hit: Hit) -> None:
    """Take a HIT from new workers. Its free slots stay promised until the marketplace's next
    listing says that nobody took one in between."""
    try:
        run.marketplace.expire_hit(hit.hit_id or "")
    except MarketplaceError as error:
        if not error.says_gone:
            raise
        note_gone(run, hit, is_certain=error.says_disposed)
        return
    Hit.objects.filter(pk=hit.pk, status=HitStatus.OPEN).update(status=HitStatus.EXPIRED)
