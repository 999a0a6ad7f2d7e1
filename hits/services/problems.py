"""Problems of syncs, stored for the campaign's page until a later sync solves them."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import F

from annotate.models import Campaign
from hits.models import SyncProblem

# Pages show only a few problems, and large numbers usually have one cause.
MOST_KEPT = 500
MOST_TOLD = 3


@transaction.atomic
def keep_problems(
    *, campaign: Campaign, found: Mapping[str, str], at: datetime, is_complete: bool
) -> None:
    """Store the problems that a sync found, at most MOST_KEPT.

    If the sync reached everything (`is_complete`), older problems are solved and are deleted.
    """
    # The lock is needed because two syncs of a campaign may end at the same time.
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    known = SyncProblem.objects.filter(campaign=campaign)
    for subject, message in list(found.items())[:MOST_KEPT]:
        again = known.filter(subject=subject)
        if not again.update(message=message, last_at=at, times=F("times") + 1):
            SyncProblem.objects.create(
                campaign=campaign, subject=subject, message=message, first_at=at, last_at=at
            )
    if is_complete:
        known.filter(last_at__lt=at).exclude(subject__in=list(found)[:MOST_KEPT]).delete()


def in_words(problems: Mapping[str, str]) -> str:
    """Return the first problems, one per line, and the number of further ones."""
    lines = [f"{subject}: {message}" for subject, message in list(problems.items())[:MOST_TOLD]]
    if more := len(problems) - len(lines):
        lines.append(f"And {more} more.")
    return "\n".join(lines)
