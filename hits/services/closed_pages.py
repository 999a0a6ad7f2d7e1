"""Close task pages: after their submissions are ingested, when they expire, and when a HIT has more
than its workers can have open."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet

from hits.models import Hit, TaskPage
from hits.services.claims import release_claims

# Several workers may open a page for one slot, each after the previous one returned it. Further
# pages, for example from forged requests, replace the oldest ones, whose forms still work.
PAGES_PER_SLOT = 4
# A sync closes pages after it has ingested their submissions. If a campaign is not synced, its
# pages are deleted this long after they expire.
KEPT_AFTER_EXPIRY = timedelta(days=7)
# Number of pages closed in one transaction. Small, so that workers do not wait long for the tasks.
CLOSED_AT_ONCE = 100


def close_pages(keys: Iterable[int]) -> None:
    """Delete the pages with these primary keys, with the answers sent from them, and free their
    places. Each transaction deletes CLOSED_AT_ONCE pages."""
    keys = sorted(keys)
    for start in range(0, len(keys), CLOSED_AT_ONCE):
        lot = keys[start : start + CLOSED_AT_ONCE]
        with transaction.atomic(savepoint=False):
            release_claims(pages=lot)
            TaskPage.objects.filter(pk__in=lot).delete()


def delete_expired_pages(*, at: datetime) -> int:
    """Delete pages that expired more than KEPT_AFTER_EXPIRY ago; return their number.

    Syncs close pages earlier. These belong to campaigns that are no longer synced.
    """
    keys = list(TaskPage.objects.lapsed(at - KEPT_AFTER_EXPIRY).values_list("pk", flat=True))
    close_pages(keys)
    return len(keys)


def close_returned(*, hit: Hit, at_work: int, before: datetime) -> None:
    """Close pages of a HIT until `at_work` of those opened before this time are left.

    `at_work` is the number of workers who had an assignment then. The other workers have returned
    theirs, or never had one.
    """
    opened = hit.pages.filter(opened_at__lt=before)
    _close_oldest(opened, opened.count() - at_work)


def close_surplus(hit: Hit, *, keep: TaskPage) -> None:
    """Close the pages of a HIT beyond PAGES_PER_SLOT for each slot.

    Runs in its own transaction, because a transaction that waits for tasks must not have locked
    other tasks already.
    """
    surplus = hit.pages.count() - PAGES_PER_SLOT * hit.slots
    _close_oldest(hit.pages.exclude(pk=keep.pk), surplus)


def _close_oldest(pages: QuerySet[TaskPage], number: int) -> None:
    """Close this number of pages: the oldest without an answer first, then the oldest others."""
    if number > 0:
        oldest = pages.order_by(F("answered_at").asc(nulls_first=True), "opened_at", "pk")
        close_pages(oldest.values_list("pk", flat=True)[:number])
