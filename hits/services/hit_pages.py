"""The task pages of a HIT and their workers: lock the pages, tell which were returned, close them.

Pages are closed after their submissions are ingested, when they expire, and when a HIT has more
than its workers can have open.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext

from annotate.models import Campaign
from corpora.errors import DomainError
from hits.models import Hit, TaskPage
from hits.services.accounts import ERASED
from hits.services.claims import NothingToDo, release_claims
from shared.database.transactions import batches

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
    for lot in batches(sorted(keys), CLOSED_AT_ONCE):
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


# The rows of `alive`. This and the next statement read the columns that are needed here, and are in
# plain SQL, like `_VISITOR`. SQLite locks the whole database.
_HIT = """
SELECT id, slots, ingested FROM hits_hit
WHERE campaign_id = %s AND hit_id = %s AND status NOT IN ('RETIRED', 'GONE')
"""
_LOCK = "FOR NO KEY UPDATE"
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
    lock = _LOCK if connection.vendor == "postgresql" else ""
    hit = next(iter(Hit.objects.raw(_HIT + lock, [campaign.pk, frame.hit_id])), None)
    if hit is None:
        raise UnknownHit(
            gettext("This task is not ready yet, or it is closed. Reload in a minute.")
        )
    hit.campaign = campaign
    return HitPages(hit, frame, list(TaskPage.objects.raw(_PAGES, [hit.pk])))


class WaitsForVerdicts(DomainError):
    """The worker gets no new tasks until the worker's first responses are judged."""


class Visitor(NamedTuple):
    """The worker whose id a page's address has; `worker` is None if the marketplace never reported
    a submission by them."""

    worker: int | None
    # Any answer on a page of the campaign, but not a practice; forged ones, too, but they only fold
    # the instructions.
    has_written: bool
    has_submitted: bool  # this page's assignment, perhaps before their data was erased
    has_come: bool  # has submitted an assignment of the campaign
    is_excluded: bool
    is_paused: bool
    has_open_first_checks: bool  # in a campaign with a trial
    written: int  # responses to the campaign, as far as its trial counts them

    def refuse_new_task(self, campaign: Campaign) -> None:
        """Raises WaitsForVerdicts or NothingToDo if the worker may not get a task now."""
        if self.is_excluded or self.is_paused:
            raise NothingToDo(gettext("There is nothing left in this campaign for you."))
        if self.has_open_first_checks and self.written >= campaign.config.review.trial:
            raise WaitsForVerdicts(
                gettext("Your first answers are being checked. You can continue later.")
            )


_HAS_SUBMITTED = """EXISTS (
           SELECT 1 FROM hits_assignment AS assignment
           JOIN hits_hit AS hit ON hit.id = assignment.hit_id
           JOIN hits_workeraccount AS its ON its.id = assignment.account_id
           WHERE (its.marketplace_id = %(worker)s OR its.marketplace_id LIKE %(erased)s)
             AND assignment.assignment_id = %(assignment)s AND hit.hit_id = %(hit)s)"""
# With a column for each field of Visitor. In plain SQL, because each request for a task page needs
# it, and Django takes much longer to build it than the database to answer it. A test compares it
# with `qualcontrol.models.worker_state`.
_VISITOR = f"""
SELECT account.worker_id AS worker,
       EXISTS (
           SELECT 1 FROM annotate_response
           WHERE worker_id = account.worker_id AND campaign_id = %(campaign)s
             AND submission_id IS NOT NULL)
       OR EXISTS (
           SELECT 1 FROM hits_taskpage AS page JOIN hits_hit AS hit ON hit.id = page.hit_id
           WHERE page.marketplace_id = %(worker)s AND page.answered_at IS NOT NULL
             AND hit.campaign_id = %(campaign)s
             AND EXISTS (SELECT 1 FROM hits_claim WHERE page_id = page.id)) AS has_written,
       {_HAS_SUBMITTED} AS has_submitted,
       EXISTS (
           SELECT 1 FROM hits_assignment AS assignment
           JOIN hits_hit AS hit ON hit.id = assignment.hit_id
           WHERE assignment.account_id = account.id AND hit.campaign_id = %(campaign)s)
           AS has_come,
       EXISTS (
           SELECT 1 FROM qualcontrol_exclusion
           WHERE worker_id = account.worker_id AND campaign_id = %(campaign)s
             AND lifted_at IS NULL) AS is_excluded,
       EXISTS (
           SELECT 1 FROM qualcontrol_pause
           WHERE worker_id = account.worker_id AND campaign_id = %(campaign)s
             AND lifted_at IS NULL) AS is_paused,
       %(trial)s > 0 AND EXISTS (
           SELECT 1 FROM qualcontrol_spotcheck AS spot_check
           JOIN annotate_response AS response ON response.id = spot_check.response_id
           WHERE response.worker_id = account.worker_id AND response.status <> 'DISCARDED'
             AND spot_check.campaign_id = %(campaign)s AND spot_check.is_first
             AND spot_check.verdict = '') AS has_open_first_checks,
       (SELECT count(*) FROM (
           SELECT 1 FROM annotate_response
           WHERE worker_id = account.worker_id AND campaign_id = %(campaign)s
           LIMIT %(trial)s) AS counted) AS written
FROM (SELECT 1 AS one) AS one
LEFT JOIN hits_workeraccount AS account
    ON account.endpoint = %(endpoint)s AND account.marketplace_id = %(worker)s
"""


def visitor_of(campaign: Campaign, frame: FrameParameters) -> Visitor:
    """Read everything about the page's worker in one statement."""
    values: dict[str, int | str] = {
        "campaign": campaign.pk,
        "endpoint": campaign.endpoint,
        "trial": campaign.config.review.trial,
        **_ids(frame),
    }
    with connection.cursor() as cursor:
        cursor.execute(_VISITOR, values)
        names = [column[0] for column in cursor.description]
        return Visitor(**dict(zip(names, cursor.fetchone(), strict=True)))


def has_submitted(frame: FrameParameters) -> bool:
    """Whether the marketplace has reported the page's assignment as submitted."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_HAS_SUBMITTED}", _ids(frame))
        return bool(cursor.fetchone()[0])


def _ids(frame: FrameParameters) -> dict[str, str]:
    return {
        "worker": frame.worker_id,
        "assignment": frame.assignment_id,
        "hit": frame.hit_id,
        "erased": f"{ERASED}%",
    }
