"""Read HITs: their counts, their submitted assignments, and whether they still exist.

Each HIT takes calls of its own. The submissions of several HITs are stored in one transaction, and
so are their counts, because a statement for a hundred rows takes little more time than for one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Self, TypeVarTuple

from django.conf import settings
from django.db import DataError, IntegrityError
from django.utils import timezone

from hits.models import Assignment, Hit, HitStatus, TaskPage
from hits.mturk.connection import MarketplaceError, StrangeReply
from hits.mturk.replies import ListedAssignment, ListedHit, ListedStatus
from hits.reconcile.run import AT_ONCE, Done, Run, hit_name
from hits.reconcile.storing import (
    ask_for_surplus,
    numbers_by_hit,
    recount,
    store_each,
    store_submissions,
    store_with_counts,
)
from hits.services.hit_pages import close_pages, close_returned
from hits.services.submissions import Reported

# Not all servers of the marketplace may know a HIT right after it was created.
MADE_LATELY = timedelta(minutes=10)
# The list of a HIT's assignments may be older than its counts. A HIT with fewer listed than counted
# assignments is read in each sync for LISTS_LAG, and then every TRIED_AGAIN_EVERY: some counts stay
# too high, such as those of an expired HIT whose free slots count as taken.
LISTS_LAG, TRIED_AGAIN_EVERY = timedelta(minutes=10), timedelta(hours=1)
# Number of submissions, or of HITs without any, after which they are stored. On SQLite, nobody else
# writes meanwhile.
MOST_TOGETHER = 100

Given = TypeVarTuple("Given")


@dataclass(frozen=True)
class _ReadHit:
    """A HIT with the submissions that the marketplace lists for it, and its own entry in the list,
    if that is known. `check` is called after the submissions are stored."""

    hit: Hit
    found: Sequence[ListedAssignment | StrangeReply] = ()
    listed: ListedHit | None = None
    check: Callable[[], None] | None = None
    # Whether its submissions are left to be read in shares.
    is_left: bool = False
    # Whether its submissions were read without its entry in the list.
    is_unlisted: bool = False
    # The number of its free slots, if its submissions wait until more slots are submitted.
    waits_with: int | None = None

    @property
    def readable(self) -> list[ListedAssignment]:
        return [listed for listed in self.found if isinstance(listed, ListedAssignment)]


class HitReader:
    """Context in which HITs are read from the marketplace, and several of them stored together. At
    its end, the rest is stored.

    Errors of a HIT are recorded under its name. A HIT with problems in earlier syncs is stored by
    itself. If the process is killed, the HITs that are not stored are read again by the next sync,
    because their stored counts still differ from the marketplace's.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._unstored: list[_ReadHit] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is None:
            self.store()

    def read(self, hit: Hit, how: Callable[[Run, Hit, *Given], _ReadHit], *given: *Given) -> None:
        """Read a HIT by one of the functions of this module, such as `read_listed`."""
        is_troubled = hit_name(hit) in self.run.troubled
        if is_troubled:
            self.store()
        with self.run.alone(hit_name(hit), ends=False):
            self._unstored.append(how(self.run, hit, *given))
        if is_troubled or sum(len(read.found) or 1 for read in self._unstored) >= MOST_TOGETHER:
            self.store()

    def store(self) -> None:
        """Store what was read since the last call."""
        unstored, self._unstored = self._unstored, []
        store_submissions(
            self.run,
            [Reported(read.hit, listed) for read in unstored for listed in read.readable],
        )
        for read in unstored:
            strange = (entry for entry in read.found if isinstance(entry, StrangeReply))
            store_each(self.run, read.hit, strange)
        _note_listed(self.run, unstored)
        _note_unlisted(self.run, [read.hit for read in unstored if read.is_unlisted])
        _note_waiting(self.run, unstored)
        for read in unstored:
            with self.run.alone(hit_name(read.hit), begins=False):
                if read.check:
                    read.check()


def read_by_itself(run: Run, hit: Hit) -> _ReadHit:
    """Request one HIT from the marketplace and read it; note that it is gone if it is not there."""
    listed = listed_or_gone(run, hit)
    return read_listed(run, hit, listed) if listed else _ReadHit(hit)


def listed_or_gone(run: Run, hit: Hit) -> ListedHit | None:
    """Request one HIT from the marketplace; None if it is not there, after noting that."""
    try:
        listed = run.marketplace.hit(hit.hit_id or "")
    except MarketplaceError as error:
        if not error.says_gone:
            raise
        note_gone(run, hit)
        return None
    if listed.status == ListedStatus.DISPOSED:
        note_gone(run, hit, is_certain=True)
        return None
    return listed


def read_listed(run: Run, hit: Hit, listed: ListedHit) -> _ReadHit:
    """Read a HIT, its assignments and its responses from its entry in the marketplace's list.

    It is a problem if the HIT has another number of assignments than was requested.
    """
    if listed.status == ListedStatus.DISPOSED:
        note_gone(run, hit, is_certain=True)
        return _ReadHit(hit)
    adopt(hit, listed.hit_id, listed.expires_at)
    is_partial = listed.available + listed.pending > 0
    if _may_wait(run, hit, is_partial=is_partial, unread=listed.submitted - hit.ingested):
        return _ReadHit(hit, waits_with=min(listed.available, hit.slots - hit.ingested))
    assignments: Sequence[ListedAssignment | StrangeReply] = ()
    # The listed counts may be older than the event that named the HIT.
    is_changed = listed.submitted != hit.ingested or listed.completed != hit.settled
    if (is_changed and is_read_now(run, hit)) or hit.hit_id in run.named:
        if run.hits_read >= AT_ONCE or hit.to_read is not None:
            return _ReadHit(hit, listed=listed, is_left=True)
        # Later submissions change the counts, so the next sync reads them.
        assignments = _listed_assignments(run, hit, most=listed.submitted)
    return _ReadHit(hit, assignments, listed, check=partial(_refuse_other_slots, hit, listed))


def is_read_now(run: Run, hit: Hit) -> bool:
    """Whether to read a changed HIT: not each time if submissions are missing in its list."""
    if hit.unread_since is None or hit.to_read is not None or hit_name(hit) in run.troubled:
        return True
    begun = hit.unread_since + timedelta(seconds=settings.MTURK_READ_WAIT_SECONDS)
    turn = (run.at - begun) // TRIED_AGAIN_EVERY
    is_next = hit.listed_at is None or (hit.listed_at - begun) // TRIED_AGAIN_EVERY < turn
    return run.at - begun < LISTS_LAG or is_next


def read_unlisted(run: Run, hit: Hit, answered: int) -> _ReadHit:
    """Read the assignments of a HIT without its counts, `answered` of which are new."""
    is_partial = hit.ingested + answered < hit.slots
    if _may_wait(run, hit, is_partial=is_partial, unread=answered):
        return _ReadHit(hit, waits_with=min(hit.available, hit.slots - hit.ingested))
    assignments = _listed_assignments(run, hit, most=hit.ingested + answered)
    return _ReadHit(hit, assignments, is_unlisted=True)


def read_left(run: Run, hit: Hit) -> _ReadHit:
    """Read the assignments of a HIT that a listing has left."""
    assignments = _listed_assignments(run, hit, most=hit.to_read or 0)
    return _ReadHit(hit, assignments, is_unlisted=True)


def _listed_assignments(
    run: Run, hit: Hit, *, most: int
) -> Sequence[ListedAssignment | StrangeReply]:
    """The submitted assignments of the HIT that the marketplace lists.

    If they cannot be listed, record the error and return none. That is also the case if there are
    more than the HIT has slots, because it is not known which of them are correct.
    """
    run.hits_read += 1
    with run.alone(hit_name(hit), begins=False, ends=False):
        listed = list(run.marketplace.assignments(hit.hit_id or "", most=most))
        ids = {entry.assignment_id for entry in listed if isinstance(entry, ListedAssignment)}
        if len(ids) > hit.slots:
            raise StrangeReply(
                f"The marketplace lists {len(ids)} submitted assignments of this HIT, but "
                f"{hit.slots} were requested."
            )
        return listed
    return ()


def _refuse_other_slots(hit: Hit, listed: ListedHit) -> None:
    """Raise StrangeReply if the HIT has another number of assignments than was requested."""
    if listed.max_assignments != hit.slots:
        raise StrangeReply(
            f"The marketplace has {listed.max_assignments} assignments for this HIT, but "
            f"{hit.slots} were requested."
        )


def _note_unlisted(run: Run, hits: Sequence[Hit]) -> None:
    """Store the counts of HITs that were read without them: slots that were free still count as
    free, as far as possible. Nobody takes further slots of a HIT that is closed."""
    if not hits:
        return
    stored = numbers_by_hit(Assignment.objects.not_lost().filter(hit__in=hits))
    for hit in hits:
        number = stored.get(hit.pk, 0)
        open_slots = max(0, hit.slots - number)
        hit.available = min(hit.available, open_slots)
        pending = open_slots - hit.available
        if hit.status != HitStatus.OPEN:
            pending = min(pending, max(0, hit.pending - max(0, number - hit.ingested)))
        hit.pending = pending
        if _is_read(run, hit):
            hit.unread_since = run.at if number < (hit.to_read or 0) else None
            hit.to_read, hit.read_at = None, run.at
    columns = ["available", "pending", "unread_since", "to_read", "read_at"]
    _store_together(run, hits, partial(store_with_counts, columns=columns))


def _note_waiting(run: Run, unstored: Sequence[_ReadHit]) -> None:
    """Store the counts of HITs that are left for later; unread submissions count as in progress."""
    waiting = []
    for read in unstored:
        if read.waits_with is not None:
            hit = read.hit
            hit.available = read.waits_with
            hit.pending = hit.slots - hit.available - hit.ingested
            hit.unread_since = hit.unread_since or run.at
            waiting.append(hit)
    columns = ["available", "pending", "unread_since"]
    _store_together(run, waiting, partial(Hit.objects.bulk_update, fields=columns))


def _store_together(
    run: Run, hits: Sequence[Hit], store: Callable[[Sequence[Hit]], object]
) -> None:
    """Store HITs in one statement. If the database refuses one of them, store each by itself."""
    try:
        store(hits)
    except (IntegrityError, DataError):
        for hit in hits:
            with run.alone(hit_name(hit), begins=False, ends=False):
                store([hit])


def _note_listed(run: Run, unstored: Sequence[_ReadHit]) -> None:
    """Store the counts that the marketplace lists for these HITs, in a few statements for all of
    them.

    Pending slots are not free but may still bring a submission. They include submissions that could
    not be read, so that the budget still reserves money for these.
    """
    listed = {read.hit: read.listed for read in unstored if read.listed}
    left = {read.hit for read in unstored if read.is_left}
    if not listed:
        return
    stored = _stored_numbers(run, listed)
    for hit, entry in listed.items():
        unread = max(0, entry.submitted - stored.get(hit.pk, 0))
        if _is_read(run, hit) and entry.is_over and hit not in left:
            unread = 0  # A marketplace may count free slots of an expired HIT as taken.
        stored_number = stored.get(hit.pk, 0) if _is_read(run, hit) else 0
        for name, value in listed_values(hit, entry, unread=unread, stored=stored_number).items():
            setattr(hit, name, value)
        hit.listed_at = timezone.now()
        is_short = entry.submitted > stored.get(hit.pk, 0)
        is_unread = hit in left or is_short or not _is_read(run, hit)
        hit.unread_since = hit.unread_since or run.at if is_unread else None
        hit.to_read = min(entry.submitted, hit.slots) if hit in left else None
    columns = ["available", "pending", "status", "expires_at", "listed_at"]
    columns += ["unread_since", "to_read"]
    _store_together(run, list(listed), partial(store_with_counts, columns=columns))
    _close_returned(run, [hit for hit in listed if hit not in left])


def _close_returned(run: Run, hits: Sequence[Hit]) -> None:
    """Close the pages of workers who must have returned their assignments of these HITs.

    All submissions are read, so the open pages belong to workers who have not submitted yet, or to
    nobody.
    """
    opened = numbers_by_hit(TaskPage.objects.filter(hit__in=hits, opened_at__lt=run.at))
    for hit in hits:
        if opened.get(hit.pk, 0) > hit.pending:
            with run.alone(hit_name(hit), begins=False, ends=False):
                close_returned(hit=hit, at_work=hit.pending, before=run.at)


def _stored_numbers(run: Run, listed: Mapping[Hit, ListedHit]) -> dict[int, int]:
    """The number of each HIT's assignments here, without those that are lost. Surplus ones
    are looked up at the marketplace first."""
    here = Assignment.objects.not_lost().filter(hit__in=listed)
    stored = numbers_by_hit(here)
    surplus = [hit for hit, entry in listed.items() if stored.get(hit.pk, 0) > entry.submitted]
    read = [hit for hit in surplus if _is_read(run, hit)]
    for hit in read:
        ask_for_surplus(run, hit)
    return numbers_by_hit(here) if read else stored


def _is_read(run: Run, hit: Hit) -> bool:
    """Whether all submissions of the HIT could be read and stored."""
    return hit_name(hit) not in run.problems


def note_gone(run: Run, hit: Hit, *, is_certain: bool = False) -> None:
    """Mark a HIT as gone, after reading the submissions that the marketplace still lists for it.

    The HIT's other slots no longer reserve money, and its pages are closed. Unless `is_certain`, a
    HIT that was never listed and was planned less than MADE_LATELY ago is left for the next sync.
    """
    # A clock that was ahead may have stored a time that is not reached yet.
    is_late = run.at - hit.planned_at >= MADE_LATELY or hit.planned_at > timezone.now()
    if not is_certain and hit.listed_at is None and not is_late:
        return
    try:
        store_each(run, hit, run.marketplace.assignments(hit.hit_id or ""))
    except MarketplaceError as error:
        if not error.says_gone:
            raise
    alive = Hit.objects.alive().created().filter(pk=hit.pk)
    nothing_left = {"available": 0, "pending": 0, "unread_since": None, "to_read": None}
    if alive.update(status=HitStatus.GONE, **nothing_left):
        run.done[Done.GONE] += 1
    recount([hit.pk])
    close_pages(hit.pages.values_list("pk", flat=True))


def _may_wait(run: Run, hit: Hit, *, is_partial: bool, unread: int) -> bool:
    """Whether to leave a HIT with unread submissions until all its slots are submitted.

    Reading a HIT of nine slots once takes one call; reading it after each submission takes nine.
    No submission waits longer than MTURK_READ_WAIT_SECONDS.
    """
    waited = run.at - (hit.unread_since or run.at)
    # A clock that was ahead may have stored a time that is not reached yet.
    may_wait = timedelta(0) <= waited < timedelta(seconds=settings.MTURK_READ_WAIT_SECONDS)
    return is_partial and unread > 0 and may_wait and hit.status == HitStatus.OPEN


def adopt(hit: Hit, hit_id: str, expires_at: datetime | None) -> None:
    """Record that a planned HIT exists at the marketplace, and update `hit`.

    It may have been created by a call whose answer was lost, or by another reconciler after `hit`
    was read.
    """
    if hit.status != HitStatus.PLANNED:
        return  # A HIT is not planned again.
    planned = Hit.objects.filter(pk=hit.pk, status=HitStatus.PLANNED)
    if planned.update(
        status=HitStatus.OPEN, hit_id=hit_id, expires_at=expires_at, available=hit.slots
    ):
        hit.status, hit.hit_id, hit.available = HitStatus.OPEN, hit_id, hit.slots
    else:
        hit.refresh_from_db()


def listed_values(hit: Hit, listed: ListedHit, *, unread: int, stored: int = 0) -> dict[str, Any]:
    """The columns of a HIT as the marketplace lists it, with this many submissions that are
    not read and therefore count as pending.

    `stored` is the number of stored submissions. Some may be newer than the listing, which still
    has their slots as free or pending; HITs would be expired as too many for them.
    """
    open_slots = max(0, hit.slots - stored)
    available = 0 if listed.is_closed else min(listed.available, open_slots)
    status = HitStatus(hit.status)
    if listed.is_closed:
        status = HitStatus.EXPIRED
    elif listed.status == ListedStatus.ASSIGNABLE:
        status = HitStatus.OPEN
    return {
        "available": available,
        "pending": min(listed.pending + unread, open_slots - available),
        "status": status,
        "expires_at": listed.expires_at,
    }
