"""What a sync could not deal with, kept for the campaign's page until a later sync could."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import F

from annotate.models import Campaign
from hits.models import SyncProblem

# A page shows a few; more have one cause.
MOST_KEPT = 500
MOST_TOLD = 3


@transaction.atomic
def keep_problems(
    *, campaign: Campaign, found: Mapping[str, str], at: datetime, is_complete: bool
) -> None:
    """Keep the problems that a sync found. After one that came to everything (`is_complete`), the
    others are solved, and go."""
    # One at a time: two syncs of a campaign may end at once.
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
    """The first problems in a sentence each, and how many more there are."""
    lines = [f"{subject}: {message}" for subject, message in list(problems.items())[:MOST_TOLD]]
    if more := len(problems) - len(lines):
        lines.append(f"And {more} more.")
    return "\n".join(lines)
