"""The reconciler: brings a campaign and its marketplace into agreement.

A sync runs these steps in this order. Each can be interrupted at any point and run again:

1. ingest   imports submitted assignments
2. withdraw discards what own people have withdrawn at the marketplace
3. bar      hides the HITs from workers who are excluded or have no task left
4. close    expires the HITs of a paused or finished campaign
5. top up   plans the missing slots within the budget, then creates their HITs
6. listen   asks the marketplace to send events, if there is a queue
7. settle   rejects, approves and pays bonuses
8. notify   sends messages to workers
9. retire   deletes settled HITs

Payments come late because there may be hundreds, and exclusions and new HITs must not wait for
them. If one HIT, payment or whole step fails, the sync records the problem, which the campaign's
page shows, and continues; the next sync tries again. A sync ends early only if the marketplace does
not answer or the database connection fails.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db import Error, InterfaceError, OperationalError
from django.utils import timezone

from annotate.models import Campaign, CampaignStatus
from corpora.errors import DomainError, one_line
from corpora.wording import counted
from hits.models import Sync
from hits.mturk.client import Marketplace, marketplace_of
from hits.mturk.connection import MarketplaceError
from hits.reconcile.bar import bar, notify
from hits.reconcile.hit_types import listen
from hits.reconcile.ingest import ingest, read_left
from hits.reconcile.retire import close, retire
from hits.reconcile.run import AT_ONCE, Run, ShareWork
from hits.reconcile.settle import settle
from hits.reconcile.top_up import top_up
from hits.reconcile.withdraw import withdraw
from hits.services.syncs import in_words, keep_problems
from shared.database.connections import drop_lost_connections
from shared.database.locks import process_lock

Step = Callable[[Run], None]
# The steps in their order, and what each of them does, for people who watch it.
WORDS: dict[Step, str] = {
    ingest: "Reading submissions from the marketplace",
    withdraw: "Asking for withdrawn work",
    bar: "Hiding HITs from workers who have no task left",
    close: "Closing HITs",
    top_up: "Creating HITs at the marketplace",
    listen: "Asking the marketplace for events",
    settle: "Approving and paying submissions",
    notify: "Sending messages to workers",
    retire: "Deleting settled HITs",
}
STEPS = tuple(WORDS)
WORK_OF_A_SHARE: dict[ShareWork, Step] = {ShareWork.READ: read_left, ShareWork.PAY: settle}


class NotPublished(DomainError):
    """The campaign is a draft, which has no HITs."""


class SyncBusy(DomainError):
    """Another process is syncing the campaign."""


def reconcile(
    campaign: Campaign,
    *,
    at: datetime | None = None,
    marketplace: Marketplace | None = None,
    steps: Sequence[Step] = STEPS,
    is_whole: bool = True,
    waits: bool = False,
    **options: Any,
) -> Sync:
    """Run the steps once and return the Sync, which records their results and problems.

    With `is_whole`, all HITs are listed; otherwise ingest reads the `named` ones, and without a
    queue those with new answers. `options` are fields of the Run: `named`; `pays_for`, after which
    payments stop, until the next sync; `at_most`, whose rest `sync_share` does; and `job`.

    One process at a time syncs a campaign. With `waits`, this one waits for another to end.
    Otherwise raises SyncBusy. Also raises NotPublished, WrongEndpoint, a MarketplaceError if the
    marketplace does not answer, or the database's error. Errors after the start are also recorded
    in the Sync.
    """
    with process_lock(f"sync-{campaign.pk}", waits=waits) as is_held:
        if not is_held:
            raise SyncBusy(f"Another process is syncing {campaign} at this moment.")
        return _reconcile(
            campaign, at=at, marketplace=marketplace, steps=steps, is_whole=is_whole, **options
        )


def sync_share(campaign: Campaign, work: ShareWork, share: int) -> Sync:
    """Read at most AT_ONCE HITs of a share, or make at most AT_ONCE of its payments. Returns the
    Sync.

    It does nothing if another process has the share. Raises what `reconcile` raises, except
    SyncBusy: syncs of the campaign and of its other shares can run at the same time.
    """
    steps = (WORK_OF_A_SHARE[work],)
    return _reconcile(campaign, steps=steps, is_whole=False, at_most=AT_ONCE, shares=(share,))


def _reconcile(
    campaign: Campaign,
    *,
    steps: Sequence[Step],
    is_whole: bool,
    at: datetime | None = None,
    marketplace: Marketplace | None = None,
    **options: Any,
) -> Sync:
    if Campaign.objects.filter(pk=campaign.pk, status=CampaignStatus.DRAFT).exists():
        raise NotPublished(f"{campaign} is a draft. Publish it first.")
    at, marketplace = at or timezone.now(), marketplace or marketplace_of(campaign)
    calls_before = marketplace.calls
    sync = Sync.objects.create(
        campaign=campaign, started_at=at, seen_at=timezone.now(), is_whole=is_whole
    )
    campaign = Campaign.objects.get(pk=campaign.pk)
    troubled = frozenset(campaign.sync_problems.values_list("subject", flat=True))
    run = Run(campaign, marketplace, at, sync, troubled=troubled, **options)
    marketplace.after_call = run.note_progress
    ended = "The sync was stopped before its end. The next one continues."
    try:
        for step in steps:
            _run_step(run, step)
        ended = ""
        run.is_complete = is_whole and steps is STEPS and not run.is_cut_short
    except DomainError as error:
        ended = str(error)
        raise
    except Error as error:
        # Saving the sync below needs a connection, and this one may be lost.
        drop_lost_connections()
        ended = f"The database failed: {one_line(error)}"
        raise
    finally:
        sync.finished_at = timezone.now()
        sync.api_calls = marketplace.calls - calls_before
        sync.problems = len(run.problems)
        sync.notes = "\n".join(action.in_words(number) for action, number in run.done.items())
        sync.error = "\n".join(filter(None, [ended, in_words(run.problems)]))
        sync.save()
        keep_problems(
            campaign=campaign, found=run.problems, at=sync.finished_at, is_complete=run.is_complete
        )
    return sync


def _run_step(run: Run, step: Step) -> None:
    """Run a step; record its failure, because no step depends on the others' success.

    Raises errors that would stop every other step too: those of the database connection, and of a
    marketplace that does not answer.
    """
    if run.job:
        run.job.step(WORDS[step])
    try:
        step(run)
    except (InterfaceError, OperationalError):
        raise
    except Exception as error:
        if isinstance(error, MarketplaceError) and error.is_general:
            raise
        run.is_cut_short = True
        run.note_problem(f"step {step.__name__}", error)


def result_in_words(sync: Sync) -> str:
    """What a sync did, in one line; for own people and panels without Mechanical Turk's words."""
    changes = (
        f"{counted(sync.ingested, 'submission')} imported, {sync.approved} approved, "
        f"{sync.rejected} rejected"
    )
    if not sync.campaign.config.workers.has_requirements:
        return changes
    return (
        f"{changes}, {counted(sync.hits_created, 'HIT')} created, "
        f"{sync.hits_retired} closed, {counted(sync.api_calls, 'API call')}"
    )


OPEN_HITS = "workers can still accept its open HITs, and submitted work is not imported or paid"
# What is still to be done at the marketplace for each new status.
MEANWHILE = {
    CampaignStatus.RUNNING: "its HITs are not all created",
    CampaignStatus.PAUSED: OPEN_HITS,
    CampaignStatus.FINISHED: OPEN_HITS,
}


def sync_moved(campaign: Campaign) -> Sync:
    """Sync a campaign whose status has changed, and return the sync.

    Raises DomainError if the sync fails. The new status is kept, and the message says what the next
    sync has to do.
    """
    try:
        sync = reconcile(campaign, waits=True)
        problem = sync.error
    except DomainError as error:
        problem = str(error)
    if problem:
        status = CampaignStatus(campaign.status)
        raise DomainError(
            f"{campaign} is {status.label.lower()}, but the sync failed. Until one succeeds, "
            f"{MEANWHILE[status]}. Solve the problem, then run `sync {campaign}`.\n{problem}"
        )
    return sync
