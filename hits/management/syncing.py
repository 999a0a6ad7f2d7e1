"""Sync a campaign after a command changed its status."""

from annotate.models import Campaign, CampaignStatus
from corpora.errors import DomainError
from hits.models import Sync
from hits.reconcile.reconciler import reconcile

OPEN_HITS = "workers can still accept its open HITs, and submitted work is not imported or paid"
# What is still to be done at the marketplace for each new status.
MEANWHILE = {
    CampaignStatus.RUNNING: "its HITs are not all created",
    CampaignStatus.PAUSED: OPEN_HITS,
    CampaignStatus.FINISHED: OPEN_HITS,
}


def sync_moved(campaign: Campaign) -> Sync:
    """Sync a campaign whose status has changed, and return the sync.

    Raises DomainError if the sync fails. The new status is kept, and the message says what the next
    sync has to do.
    """
    try:
        done = reconcile(campaign, waits=True)
        problem = done.error
    except DomainError as error:
        problem = str(error)
    if problem:
        status = CampaignStatus(campaign.status)
        raise DomainError(
            f"{campaign} is {status.label.lower()}, but the sync failed. Until one succeeds, "
            f"{MEANWHILE[status]}. Solve the problem, then run `sync {campaign}`.\n{problem}"
        )
    return done
