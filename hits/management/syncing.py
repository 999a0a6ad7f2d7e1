"""What the commands that sync a campaign share."""

from annotate.errors import DomainError
from annotate.models import Campaign
from hits.models import Sync
from hits.reconcile.reconciler import reconcile


def sync_moved(campaign: Campaign) -> Sync:
    """Sync a campaign whose status was just changed. Raises DomainError with what the marketplace
    could not be told yet; the change itself stands."""
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
