"""Ingest: read what the marketplace says was submitted, and join it to what is stored here.

ListHITs gives each HIT's counts, a hundred HITs a call; only HITs whose counts differ from what
was read before are asked for their assignments. A HIT that an event named is asked in any case.
Between two listings of everything such HITs are the only ones read; where there are no events, it
is the HITs whose answers were stored here, since an answer comes here before it goes there.
"""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, F, Max, Q

from annotate.models import Campaign
from hits.models import Hit, Listing, TaskPage
from hits.mturk.annotations import token_of
from hits.mturk.replies import ListedHit
from hits.reconcile.reading import read_by_itself, read_listed, read_unlisted
from hits.reconcile.run import HIT_NAME, Run
from hits.reconcile.unknown import Unknown
from hits.task_page.pages import close_pages

# HITs that are read without a listing, at most.
MOST_READ_ALONE = 50
# The browser submits an answer right after it was stored here.
SUBMITTED_WITHIN = timedelta(minutes=1)
# How often the account's list is read to its end, for HITs that this database does not know.
LIST_TO_THE_END_EVERY = timedelta(hours=1)


def ingest(run: Run) -> None:
    """Bring the campaign's HITs, assignments and responses up to the marketplace's state."""
    if run.sync.is_whole:
        _ingest_all(run)
    else:
        _ingest_named(run)
        if not settings.MTURK_NOTIFICATION_QUEUE_URL:
            _ingest_answered(run)
            return  # A page ends only after a listing said that nothing was submitted from it.
    # What was submitted in a HIT that waits to be read, or could not be, may need its page.
    pages = TaskPage.objects.of(run.campaign).filter(hit__unread_since=None)
    read = pages.exclude(hit__hit_id__in=run.hits_in_trouble())
    close_pages(read.lapsed(run.at).values_list("pk", flat=True))


def _ingest_all(run: Run) -> None:
    """Read every HIT of the campaign. The list is the whole account's: it is read until none of
    ours is missing, and now and then to its end, where HITs may be that we do not know."""
    awaited, unknown = _Awaited(run.campaign), Unknown(run)
    to_the_end = _is_full_list_due(run)
    is_at_the_end, troubled = True, []
    for page in run.marketplace.hit_pages():
        for listed in page:
            hit = awaited.take(listed) or unknown.find(listed)
            if hit is None:
                continue
            if HIT_NAME(hit) in run.troubled:
                troubled.append((hit, listed))
                continue
            with run.alone(HIT_NAME(hit)):
                read_listed(run, hit, listed)
        if not awaited and not to_the_end:
            is_at_the_end = False
            break
    for hit, listed in troubled:
        with run.alone(HIT_NAME(hit)):
            read_listed(run, hit, listed)
    for hit in run.healthy_first(awaited.created(), HIT_NAME):
        # Not in the list, or with an entry that could not be read.
        with run.alone(HIT_NAME(hit)):
            read_by_itself(run, hit)
    run.sync.listing = Listing.ACCOUNT if is_at_the_end else Listing.CAMPAIGN


def _is_full_list_due(run: Run) -> bool:
    lately = run.at - LIST_TO_THE_END_EVERY
    known = run.campaign.syncs.filter(listing=Listing.ACCOUNT, started_at__gt=lately)
    return not known.exists()


class _Awaited:
    """The campaign's HITs that are yet to be met in the list. Planned ones are known by the token
    that their creating call carried, as it may have worked although its answer was lost."""

    def __init__(self, campaign: Campaign) -> None:
        hits = list(campaign.hits.alive().order_by("pk"))
        self.by_id = {hit.hit_id: hit for hit in hits if hit.hit_id}
        self.planned = {hit.token: hit for hit in hits if not hit.hit_id}

    def __bool__(self) -> bool:
        return bool(self.by_id or self.planned)

    def take(self, listed: ListedHit) -> Hit | None:
        """The HIT that is listed, once; None if it is not an awaited one."""
        token = token_of(listed.annotation)
        return self.by_id.pop(listed.hit_id, None) or self.planned.pop(token, None)

    def created(self) -> Iterable[Hit]:
        """Those that the marketplace should have."""
        return self.by_id.values()


def _ingest_named(run: Run) -> None:
    hits = run.campaign.hits.alive().filter(hit_id__in=run.named).order_by("pk")
    for hit in run.healthy_first(hits, HIT_NAME):
        with run.alone(HIT_NAME(hit)):
            read_by_itself(run, hit)


def _ingest_answered(run: Run) -> None:
    """Read the HITs with answers that were stored here and may be submitted by now, with a call
    for each. An answer that was not submitted within a minute waits for the next listing.

    Where there are many such HITs, a listing tells in fewer calls which of them changed. That also
    bounds what made-up answers cost."""
    hits = run.campaign.hits.alive().annotate(
        answered=Count("pages", filter=Q(pages__answered_at__isnull=False)),
        answered_at=Max("pages__answered_at"),
    )
    lately = Q(read_at=None) | Q(answered_at__gt=F("read_at") - SUBMITTED_WITHIN)
    to_read = list(hits.filter(lately, answered__gt=0).order_by("pk")[: MOST_READ_ALONE + 1])
    if len(to_read) > MOST_READ_ALONE:
        _ingest_all(run)
        return
    for hit in run.healthy_first(to_read, HIT_NAME):
        # More pages may be answered than there are slots, as anybody can open one.
        answered = min(hit.answered, hit.slots - hit.ingested)  # type: ignore[attr-defined]
        if answered:
            with run.alone(HIT_NAME(hit)):
                read_unlisted(run, hit, answered=answered)
