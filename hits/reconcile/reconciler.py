"""The reconciler: compares what a campaign wants with what its marketplace has, and acts.

Its steps run in this order, and each is safe to stop at any instruction and to run again:

1. ingest   reads what was submitted and joins it to what is stored here
2. bar      keeps workers who are excluded, or have nothing left to do, from further HITs
3. close    takes the HITs of a paused or finished campaign from new workers
4. top up   writes down the missing slots within the budget, then creates them
5. listen   asks the marketplace to send events, where there is a queue for them
6. settle   rejects, approves and pays bonuses
7. retire   deletes what is settled

Payments come late: there may be hundreds, and exclusions and new HITs must not wait for them. What
fails for one HIT or payment is noted (`Run.alone`), shown on the campaign's page, and tried again
by the next sync; so is a step that fails as a whole. Only a marketplace that answers nothing ends
the run.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db import Error, InterfaceError, OperationalError
from django.utils import timezone

from annotate.errors import DomainError, one_line
from annotate.models import Campaign, CampaignStatus
from annotate.site.connections import drop_lost_connections
from hits.models import Sync, SyncRequest
from hits.mturk.client import Marketplace, MarketplaceError, marketplace_of
from hits.reconcile.bar import bar
from hits.reconcile.close import close
from hits.reconcile.ingest import ingest
from hits.reconcile.listen import listen
from hits.reconcile.retire import retire
from hits.reconcile.run import Run
from hits.reconcile.settle import settle
from hits.reconcile.top_up import top_up
from hits.services.problems import in_words, keep_problems

Step = Callable[[Run], None]
STEPS: tuple[Step, ...] = (ingest, bar, close, top_up, listen, settle, retire)


class NotPublished(DomainError):
    """A draft has nothing at the marketplace."""


def reconcile(
    campaign: Campaign,
    *,
    at: datetime | None = None,
    marketplace: Marketplace | None = None,
    steps: Sequence[Step] = STEPS,
    is_whole: bool = True,
    named: frozenset[str] = frozenset(),
    pays_for: timedelta | None = None,
) -> Sync:
    """Run the steps once; the returned row tells what they did and what they could not do.

    All HITs are listed unless `is_whole` is false; then, as far as HITs are read, it is those
    `named`. Payments end after `pays_for`; the next run goes on with them. Raises NotPublished,
    WrongEndpoint, or the MarketplaceError of a marketplace that answers nothing (noted in the row,
    too)."""
    if Campaign.objects.filter(pk=campaign.pk, status=CampaignStatus.DRAFT).exists():
        raise NotPublished(f"{campaign} is a draft. Publish it first.")
    marketplace = marketplace or marketplace_of(campaign)
    calls_before = marketplace.calls
    run = _begin(
        campaign, marketplace, at or timezone.now(), is_whole, takes_request=steps is STEPS
    )
    run.named, run.pays_for = named, pays_for
    marketplace.after_call = run.note_progress
    sync, ended = run.sync, ""
    try:
        for step in steps:
            _take(run, step)
        run.is_complete = is_whole and steps is STEPS and not run.is_cut_short
    except DomainError as error:
        ended = str(error)
        raise
    except Error as error:
        # The rows below need a connection: where this one was cut, another is opened.
        drop_lost_connections()
        ended = f"The database failed: {one_line(error)}"
        raise
    finally:
        sync.finished_at = timezone.now()
        sync.api_calls = marketplace.calls - calls_before
        sync.problems = len(run.problems)
        sync.notes = "\n".join(done.in_words(number) for done, number in run.done.items())
        sync.error = "\n".join(filter(None, [ended, in_words(run.problems)]))
        sync.save()
        keep_problems(
            campaign=campaign, found=run.problems, at=sync.finished_at, is_complete=run.is_complete
        )
    return sync


def _begin(
    campaign: Campaign,
    marketplace: Marketplace,
    at: datetime,
    is_whole: bool,
    *,
    takes_request: bool,
) -> Run:
    sync = Sync.objects.create(
        campaign=campaign, started_at=at, seen_at=timezone.now(), is_whole=is_whole
    )
    if takes_request:
        # Before the campaign is read: what was asked for until now is in what is read.
        SyncRequest.objects.filter(campaign=campaign, sync=None).update(sync=sync)
    campaign = Campaign.objects.get(pk=campaign.pk)
    troubled = frozenset(campaign.sync_problems.values_list("subject", flat=True))
    return Run(campaign=campaign, marketplace=marketplace, at=at, sync=sync, troubled=troubled)


def _take(run: Run, step: Step) -> None:
    """Take a step. One that fails is noted, and the others follow all the same: each of them is
    right whatever the others have done. Raises what says that no other step would get further."""
    try:
        step(run)
    except (InterfaceError, OperationalError):
        raise
    except Exception as error:
        if isinstance(error, MarketplaceError) and error.is_general:
            raise
        run.is_cut_short = True
        run.note_problem(f"step {step.__name__}", error)
