"""The task pages of a HIT: lock them, tell which were returned, and close them.

Pages are closed after their submissions are ingested, when they expire, and when a HIT has more
than its workers can have open.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext

from annotate.models import Campaign
from corpora.errors import DomainError
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


class UnknownHit(DomainError):
    """The campaign has no open HIT with this id."""


@dataclass(frozen=True)
class FrameParameters:
    """The four parameters that the marketplace passes to a task page."""

    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str  # an origin of the endpoint's allow-list


@dataclass(frozen=True)
class HitPages:
    """A locked HIT and its pages as they were after the lock, the oldest first."""

    hit: Hit
    frame: FrameParameters
    rows: Sequence[TaskPage]

    @property
    def own(self) -> TaskPage | None:
        """The page of this frame."""
        return next((page for page in self.rows if self._is_own(page)), None)

    @property
    def are_too_many(self) -> bool:
        """Whether a further page exceeds PAGES_PER_SLOT for each slot."""
        return len(self.rows) >= PAGES_PER_SLOT * self.hit.slots

    def returned(self, *, is_at_work: bool) -> list[int]:
        """Primary keys of pages that take places although their assignments must have been
        returned.

        `is_at_work` says whether the worker of this frame has one of the HIT's slots and has not
        answered yet. Otherwise the worker has just answered.

        A HIT cannot have more workers at work than slots without an answer. If it has more pages,
        other pages of this worker and of this assignment have certainly been returned. Of the rest,
        the oldest are assumed to be returned. A wrong guess, or a forged page, only changes which
        tasks other workers see.
        """
        others = [page for page in self.rows if not self._is_own(page)]
        waiting = [page for page in others if page.takes_place and page.answered_at is None]
        returned = [page.pk for page in waiting if self._is_followed(page)]
        left = [page.pk for page in waiting if not self._is_followed(page)]
        answered = sum(page.answered_at is not None for page in others)
        own_answered = self.own is not None and self.own.answered_at is not None
        answered += own_answered or not is_at_work
        at_work = self.hit.slots - self.hit.ingested - answered - is_at_work
        return returned + left[: max(0, len(left) - max(0, at_work))]

    def _is_own(self, page: TaskPage) -> bool:
        return (page.assignment_id, page.marketplace_id) == (
            self.frame.assignment_id,
            self.frame.worker_id,
        )

    def _is_followed(self, page: TaskPage) -> bool:
        """Whether the frame's worker, or assignment, had this other page of the HIT before."""
        return (
            page.assignment_id == self.frame.assignment_id
            or page.marketplace_id == self.frame.worker_id
        )


# Without the columns of the answers, which nobody reads here. In plain SQL for the same reason as
# `visitors._VISITOR`.
_PAGES = """
SELECT page.id, page.hit_id, page.assignment_id, page.marketplace_id,
       page.opened_at, page.expires_at, page.answered_at,
       EXISTS (SELECT 1 FROM hits_claim WHERE page_id = page.id AND takes_place)
           AS takes_place,
       EXISTS (SELECT 1 FROM hits_claim WHERE page_id = page.id AND NOT takes_place)
           AS gave_place_back
FROM hits_taskpage AS page WHERE page.hit_id = %s ORDER BY page.opened_at, page.id
"""


def lock_pages(campaign: Campaign, frame: FrameParameters) -> HitPages:
    """Lock the HIT, so that only one request at a time opens or changes its pages; return them.

    The second request of a double click waits for the first and then finds its page. To avoid
    deadlocks, lock the HIT before any task. Raises UnknownHit.
    """
    alive = Hit.objects.alive().filter(campaign=campaign, hit_id=frame.hit_id)
    hit = alive.select_for_update(no_key=True).only("slots", "ingested").first()
    if hit is None:
        raise UnknownHit(
            gettext("This task is not ready yet, or it is closed. Reload in a minute.")
        )
    hit.campaign = campaign
    return HitPages(hit, frame, list(TaskPage.objects.raw(_PAGES, [hit.pk])))
