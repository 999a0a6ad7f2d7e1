"""Problems of syncs, stored for the campaign's page until a later sync solves them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from annotate.failures import note_failure, solve_failure
from annotate.models import Campaign, FailureSource
from hits.models import SyncProblem

# Pages show only a few problems, and large numbers usually have one cause.
MOST_KEPT = 500
MOST_TOLD = 3
# A problem that this many syncs in a row found does not pass by itself.
LASTING = 5


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
    _note_lasting(campaign, at)


def _note_lasting(campaign: Campaign, at: datetime) -> None:
    """Put problems that came back LASTING times on the page of failures, or take them off it."""
    lasting = SyncProblem.objects.filter(campaign=campaign, times__gte=LASTING).order_by("pk")
    found = dict(lasting.values_list("subject", "message"))
    about: Any = {"source": FailureSource.SYNC, "subject": campaign.slug, "at": at}
    if not found:
        solve_failure(**about)
        return
    note_failure(
        **about,
        title=f"Sync {campaign}",
        error=in_words(found),
        campaign=campaign,
        path=campaign.get_absolute_url(),
    )


def in_words(problems: Mapping[str, str]) -> str:
    """Return the first problems, one per line, and the number of further ones."""
    lines = [f"{subject}: {message}" for subject, message in list(problems.items())[:MOST_TOLD]]
    if more := len(problems) - len(lines):
        lines.append(f"And {more} more.")
    return "\n".join(lines)
