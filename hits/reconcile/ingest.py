"""Ingest: import submitted assignments from the marketplace.

ListHITs returns the counts of a hundred HITs per call. Assignments are read only for HITs whose
counts have changed, and for HITs that an event names. Most HITs of a large campaign do not change
between two listings; they need no statements of their own.

Between two listings, only some HITs are read. With a queue of events, these are the HITs that an
event names, and those that have waited long enough since. Without one, they are the HITs with
answers on the requester site that the marketplace may have by now: the browser sends each answer to
the requester site before it submits it to the marketplace.
"""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, F, Max, Q
from django.utils import timezone

from annotate.models import Campaign
from hits.models import Assignment, Hit, Listing, TaskPage
from hits.mturk.hit_texts import Annotation
from hits.mturk.replies import ListedHit, ListedStatus
from hits.reconcile import reading
from hits.reconcile.reading import HitReader, listed_values
from hits.reconcile.run import Run, ShareWork, held_shares, hit_name, in_shares
from hits.reconcile.storing import numbers_by_hit
from hits.reconcile.unknown import UnknownHits
from hits.services.hit_pages import close_pages
from shared.database.transactions import batches

# With more HITs than this to read, all HITs are listed instead.
MOST_READ_ALONE = 50
# The browser submits an answer right after the requester site has stored it.
SUBMITTED_WITHIN = timedelta(minutes=1)
# How often the account's list is read to its end, to find HITs that this database does not have.
LIST_TO_THE_END_EVERY = timedelta(hours=1)


def ingest(run: Run) -> None:
    """Update the campaign's HITs, assignments and responses from the marketplace.

    After a listing, also close the task pages whose time is over. With AT_ONCE changed HITs or
    more, the rest is left, and read in shares.
    """
    if run.sync.is_whole:
        _ingest_all(run)
    else:
        _read_each(run, run.campaign.hits.alive().filter(hit_id__in=run.named).order_by("pk"))
        if not settings.MTURK_NOTIFICATION_QUEUE_URL:
            _ingest_answered(run)
        elif not run.named:
            _ingest_waiting(run)
    read_left(run)
    # Only a listing shows that nothing was submitted; the event of a submission may be late.
    if run.sync.is_whole:
        _close_lapsed(run)


def read_left(run: Run) -> None:
    """Read the HITs that listings have left in the run's shares, except those in the hands of other
    processes."""
    with held_shares(run.campaign, ShareWork.READ, run.shares) as shares:
        left = in_shares(run.campaign.hits.to_read().order_by("pk"), shares, hit="pk")
        rows, run.sync.has_more_to_read = run.first_batch(
            left.values_list("pk", "hit_id"),
            lambda row: hit_name(row[1] or ""),
            most=run.reads_left,
        )
        for batch in batches([pk for pk, _ in rows]):
            with HitReader(run) as reader:
                for hit in left.filter(pk__in=batch):
                    reader.read(hit, reading.read_left)
    run.is_cut_short |= run.sync.has_more_to_read


def _close_lapsed(run: Run) -> None:
    # If a HIT is not read yet, or could not be read, its submissions may still need their pages.
    pages = TaskPage.objects.of(run.campaign).filter(hit__unread_since=None)
    read = pages.exclude(hit__hit_id__in=run.hits_in_trouble())
    close_pages(read.lapsed(run.at).values_list("pk", flat=True))


class _StoredNumbers:
    """The numbers of a campaign's stored assignments and open pages, by HIT, before a listing."""

    def __init__(self, run: Run) -> None:
        self.named = run.named
        self.assignments = numbers_by_hit(Assignment.objects.of(run.campaign).not_lost())
        self.pages = numbers_by_hit(TaskPage.objects.of(run.campaign).filter(opened_at__lt=run.at))

    def is_as_listed(self, hit: Hit, listed: ListedHit) -> bool:
        """Whether reading the HIT would change neither it nor its assignments and pages.

        If the stored rows change during the listing, the next listing shows the difference.
        """
        stored = self.assignments.get(hit.pk, 0)
        counts = (hit.ingested, stored, hit.settled, hit.slots)
        theirs = (listed.submitted, listed.submitted, listed.completed, listed.max_assignments)
        if counts != theirs or listed.status == ListedStatus.DISPOSED:
            return False
        if hit.hit_id in self.named or hit.listed_at is None or hit.unread_since is not None:
            return False
        values = listed_values(hit, listed, unread=0)
        is_equal = all(getattr(hit, name) == value for name, value in values.items())
        return is_equal and self.pages.get(hit.pk, 0) <= hit.pending


def _ingest_all(run: Run) -> None:
    """Read every HIT of the campaign.

    The marketplace lists the HITs of the whole account. The list is read until all HITs of the
    campaign were found. Every LIST_TO_THE_END_EVERY it is read to its end, to find unknown HITs.
    """
    awaited, unknown, stored = _AwaitedHits(run.campaign), UnknownHits(run), _StoredNumbers(run)
    to_the_end = _is_full_list_due(run)
    is_at_the_end, troubled = True, list[tuple[Hit, ListedHit]]()
    with HitReader(run) as reader:
        for page in run.marketplace.hit_pages():
            known_hits = [(awaited.take(listed) or unknown.find(listed), listed) for listed in page]
            own = [(hit, listed) for hit, listed in known_hits if hit is not None]
            healthy = [pair for pair in own if hit_name(pair[0]) not in run.troubled]
            _ingest_page(run, reader, healthy, stored)
            troubled += [pair for pair in own if hit_name(pair[0]) in run.troubled]
            if not awaited and not to_the_end:
                is_at_the_end = False
                break
        for hit, listed in troubled:
            reader.read(hit, reading.read_listed, listed)
        for hit in run.healthy_first(awaited.created(), hit_name):
            # The HIT is not in the list, or its entry could not be read.
            reader.read(hit, reading.read_by_itself)
    run.sync.listing = Listing.ACCOUNT if is_at_the_end else Listing.CAMPAIGN


def _ingest_page(
    run: Run, reader: HitReader, page: Iterable[tuple[Hit, ListedHit]], stored: _StoredNumbers
) -> None:
    """Read the HITs of one page of the list that differ from what is stored."""
    unchanged = []
    for hit, listed in page:
        if stored.is_as_listed(hit, listed):
            with run.alone(hit_name(hit)):
                unchanged.append(hit.pk)
        else:
            reader.read(hit, reading.read_listed, listed)
    if unchanged:
        Hit.objects.filter(pk__in=unchanged).update(listed_at=timezone.now())


def _is_full_list_due(run: Run) -> bool:
    lately = run.at - LIST_TO_THE_END_EVERY
    full_lists = run.campaign.syncs.filter(listing=Listing.ACCOUNT, started_at__gt=lately)
    return not full_lists.filter(started_at__lte=run.at).exists()


class _AwaitedHits:
    """The campaign's HITs that were not found in the list yet.

    Planned HITs are found by the token of the call that creates them: the call may have succeeded
    although its answer was lost.
    """

    def __init__(self, campaign: Campaign) -> None:
        hits = list(campaign.hits.alive().order_by("pk"))
        self.by_id = {hit.hit_id: hit for hit in hits if hit.hit_id}
        self.planned = {hit.token: hit for hit in hits if not hit.hit_id}

    def __bool__(self) -> bool:
        return bool(self.by_id or self.planned)

    def take(self, listed: ListedHit) -> Hit | None:
        """Remove the listed HIT and return it; None if it is not among the HITs to find."""
        if hit := self.by_id.pop(listed.hit_id, None):
            return hit
        annotation = Annotation.read(listed.annotation)
        return self.planned.pop(annotation.token, None) if annotation else None

    def created(self) -> Iterable[Hit]:
        """The HITs left that the marketplace should have."""
        return self.by_id.values()


def _ingest_waiting(run: Run) -> None:
    """Read the HITs that have waited for MTURK_READ_WAIT_SECONDS: no event may name them again."""
    since = run.at - timedelta(seconds=settings.MTURK_READ_WAIT_SECONDS)
    # A clock that was ahead may have stored a time that is not reached yet.
    waited = Q(unread_since__lte=since) | Q(unread_since__gt=run.at)
    hits = run.campaign.hits.alive().filter(waited, to_read=None).order_by("pk")
    _read_each(run, (hit for hit in hits if reading.is_read_now(run, hit)))


def _read_each(run: Run, hits: Iterable[Hit]) -> None:
    with HitReader(run) as reader:
        for hit in run.healthy_first(hits, hit_name):
            reader.read(hit, reading.read_by_itself)


def _ingest_answered(run: Run) -> None:
    """Read the HITs with answers on the requester site that may be submitted by now.

    Answers that are not submitted within a minute wait for the next listing. Each HIT takes a call.
    If there are more than MOST_READ_ALONE, a listing needs fewer calls; this also limits the cost
    of forged answers.
    """
    hits = run.campaign.hits.alive().annotate(
        answered=Count("pages", filter=Q(pages__answered_at__isnull=False)),
        answered_at=Max("pages__answered_at"),
    )
    lately = Q(read_at=None) | Q(answered_at__gt=F("read_at") - SUBMITTED_WITHIN)
    to_read = list(hits.filter(lately, answered__gt=0).order_by("pk")[: MOST_READ_ALONE + 1])
    if len(to_read) > MOST_READ_ALONE:
        _ingest_all(run)
        return
    with HitReader(run) as reader:
        for hit in run.healthy_first(to_read, hit_name):
            # Anybody can open a page, so a HIT may have more answered pages than slots.
            answered = min(hit.answered, hit.slots - hit.ingested)  # type: ignore[attr-defined]
            if answered:
                reader.read(hit, reading.read_unlisted, answered)
