"""The reconciler: compares what a campaign wants with what its marketplace has, and acts.

Its steps run in this order, and each is safe to stop at any instruction and to run again:

1. ingest   what was submitted there comes home and is joined to what is stored here
2. settle   what was reviewed is approved or rejected there, then here; bonuses are sent
3. bar      excluded workers, and those who have done all that is open, are kept from more
4. top up   missing seats are written down within the budget, then created
5. listen   the marketplace is asked to tell what happens, where there is a queue for it
6. retire   what takes no more work is expired, what is settled is deleted
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from django.utils import timezone

from annotate.errors import DomainError
from annotate.models import Campaign, CampaignStatus
from hits.client import Marketplace, marketplace_of
from hits.models import Sync, SyncWish
from hits.steps.bar import bar
from hits.steps.ingest import ingest
from hits.steps.listen import listen
from hits.steps.retire import retire
from hits.steps.run import Run
from hits.steps.settle import settle
from hits.steps.top_up import top_up

Step = Callable[[Run], None]
STEPS: tuple[Step, ...] = (ingest, settle, bar, top_up, listen, retire)


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
) -> Sync:
    """Run the steps once; the returned row tells what they did. All HITs are listed unless
    `is_whole` is false; then, as far as HITs are read, it is those `named`. Raises NotPublished,
    WrongEndpoint, or the MarketplaceError that stopped a step (noted in the row, too)."""
    if Campaign.objects.filter(pk=campaign.pk, status=CampaignStatus.DRAFT).exists():
        raise NotPublished(f"{campaign} is a draft; publish it first.")
    marketplace = marketplace or marketplace_of(campaign)
    calls_before = marketplace.calls
    started_at = at or timezone.now()
    sync = Sync.objects.create(
        campaign=campaign, started_at=started_at, seen_at=timezone.now(), is_whole=is_whole
    )
    if steps is STEPS:
        # Before the campaign is read: what was asked for until now is in what is read.
        SyncWish.objects.filter(campaign=campaign, sync=None).update(sync=sync)
    campaign = Campaign.objects.get(pk=campaign.pk)
    run = Run(campaign=campaign, marketplace=marketplace, at=started_at, sync=sync, named=named)
    marketplace.after_call = run.note_progress
    try:
        for step in steps:
            step(run)
    except DomainError as error:
        sync.error = str(error)
        raise
    finally:
        sync.finished_at = timezone.now()
        sync.api_calls = marketplace.calls - calls_before
        sync.save()
    return sync
