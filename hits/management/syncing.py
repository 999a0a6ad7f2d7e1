"""Sync a campaign after a command changed its status."""

from annotate.errors import DomainError
from annotate.models import Campaign
from hits.models import Sync
from hits.reconcile.reconciler import reconcile


def sync_moved(campaign: Campaign) -> Sync:
    """Sync a campaign whose status has changed, and return the sync.

    Raises DomainError if the sync fails. The new status is kept, and the next sync tries again.
    """
    try:
        done = reconcile(campaign)
        problem = done.error
    except DomainError as error:
        problem = str(error)
    if problem:
        raise DomainError(
            f"{campaign} is {campaign.get_status_display().lower()}, but the sync failed. `sync` "
            f"tries again.\n{problem}"
        )
    return done
