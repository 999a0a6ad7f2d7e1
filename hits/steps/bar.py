"""Bar: keep from a campaign's HITs who is excluded or paused, and who has done all that is open.

All are told to the marketplace by one private qualification that the HIT type asks not to have.
It is silent, leaves no mark on the worker, and is taken back when there is work for them again.
"""

from django.db.models import F

from annotate.models import Campaign, Worker
from hits.client import Marketplace
from hits.models import Barring, HitType, WorkerAccount
from hits.steps.run import Run
from qualcontrol.models import kept_out
from qualcontrol.services import decide, learn


def bar(run: Run) -> None:
    """Decide anew who is to be barred, then tell the marketplace what changed."""
    learn(campaign=run.campaign)
    decide(campaign=run.campaign, at=run.at)
    for hit_type in run.campaign.hit_types.all():
        _bar_those_kept_out(run, hit_type)
        _let_back(run, hit_type)
        for barring in hit_type.barrings.exclude(is_in_force=F("is_wanted")):
            tell(run.marketplace, barring)


def _bar_those_kept_out(run: Run, hit_type: HitType) -> None:
    for account in WorkerAccount.objects.filter(worker__in=kept_out(run.campaign)):
        Barring.objects.update_or_create(
            hit_type=hit_type, account=account, defaults={"is_wanted": True}
        )


def _let_back(run: Run, hit_type: HitType) -> None:
    """Lift the barrings of workers who are not kept out and have something to do again."""
    barrings = hit_type.barrings.filter(is_wanted=True)
    idle = barrings.exclude(account__worker__in=kept_out(run.campaign))
    for barring in idle.select_related("account__worker"):
        if has_work(run.campaign, barring.account.worker):
            Barring.objects.filter(pk=barring.pk).update(is_wanted=False)


def has_work(campaign: Campaign, worker: Worker) -> bool:
    """Whether a task of the campaign has a place left that the worker could take."""
    return campaign.tasks.open_to(worker).exists()


def tell(marketplace: Marketplace, barring: Barring) -> None:
    """Tell the marketplace about one worker; telling it again does no harm."""
    change = marketplace.grant if barring.is_wanted else marketplace.revoke
    change(
        qualification_type_id=barring.hit_type.exclusion_type_id,
        worker_id=barring.account.marketplace_id,
    )
    Barring.objects.filter(pk=barring.pk).update(is_in_force=barring.is_wanted)
