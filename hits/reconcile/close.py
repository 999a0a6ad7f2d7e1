"""Close: expire HITs that new workers should no longer accept."""

from django.db import transaction

from annotate.models import CampaignStatus
from hits.models import Hit, HitStatus
from hits.mturk.client import MarketplaceError
from hits.reconcile.reading import note_gone
from hits.reconcile.run import HIT_NAME, Run


def close(run: Run) -> None:
    """Expire the open HITs of a campaign that is not running.

    If this sync has listed the HITs, also delete planned HITs that the marketplace does not have.
    """
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
    """Delete the planned HITs that were not in the list that this sync read.

    If another sync creates one of them anyway, a later sync finds it by its annotation.
    """
    planned = run.campaign.hits.filter(status=HitStatus.PLANNED, planned_at__lt=run.at)
    for hit in planned.select_for_update(of=("self",)).order_by("pk"):
        hit.delete()


def expire(run: Run, hit: Hit) -> None:
    """Expire a HIT, or mark it as gone if the marketplace does not have it.

    The budget still reserves its free slots until the next listing, because a worker may have
    taken one before the call.
    """
    try:
        run.marketplace.expire_hit(hit.hit_id or "")
    except MarketplaceError as error:
        if not error.says_gone:
            raise
        note_gone(run, hit, is_certain=error.says_disposed)
        return
    Hit.objects.filter(pk=hit.pk, status=HitStatus.OPEN).update(status=HitStatus.EXPIRED)
