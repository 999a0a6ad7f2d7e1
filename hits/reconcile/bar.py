"""Bar: keep workers from a campaign's HITs who are excluded or paused, who wait until their first
answers are judged, or who have submitted an answer to every task that misses one.

All are told to the marketplace by one private qualification that the HIT type asks not to have.
It is silent, leaves no mark on the worker, and is taken back when there is work for them again.
"""

from django.db.models import F, Q

from hits.models import HitType, WorkerAccount, WorkerBarring
from hits.mturk.client import Marketplace
from hits.reconcile.run import Run
from hits.services.barring import has_work, want_barred, workers_done
from qualcontrol.models import kept_out
from qualcontrol.services import decide, learn


def bar(run: Run) -> None:
    """Decide anew who is to be barred, then tell the marketplace what changed."""
    with run.alone("the review policy"):
        learn(campaign=run.campaign)
        decide(campaign=run.campaign, at=run.at)
    for hit_type in run.campaign.hit_types.all():
        _bar_workers(run, hit_type)
        _let_back(run, hit_type)
        untold = hit_type.barrings.exclude(is_in_force=F("is_wanted")).order_by("pk")
        for barring in run.healthy_first(untold.select_related("account__worker"), str):
            with run.alone(str(barring)):
                tell(run.marketplace, barring)


def _bar_workers(run: Run, hit_type: HitType) -> None:
    to_bar = WorkerAccount.objects.filter(
        Q(worker__in=kept_out(run.campaign)) | Q(worker__in=workers_done(run.campaign))
    )
    barred = hit_type.barrings.filter(is_wanted=True).values("account")
    for account in to_bar.exclude(pk__in=barred):
        want_barred(hit_type=hit_type, account=account)


def _let_back(run: Run, hit_type: HitType) -> None:
    """Lift the barrings of workers who are not kept out and have something to do again."""
    barrings = hit_type.barrings.filter(is_wanted=True)
    idle = barrings.exclude(account__worker__in=kept_out(run.campaign))
    for barring in idle.select_related("account__worker"):
        if has_work(run.campaign, barring.account.worker):
            # Asked again with the write: the worker may have been excluded since.
            idle.filter(pk=barring.pk).update(is_wanted=False)


def tell(marketplace: Marketplace, barring: WorkerBarring) -> None:
    """Tell the marketplace about one worker; telling it again does no harm. What is wanted is
    read right before the call; if it changes meanwhile, the next sync tells that."""
    barring.refresh_from_db(fields=["is_wanted"])
    change = marketplace.grant if barring.is_wanted else marketplace.revoke
    change(
        qualification_type_id=barring.hit_type.exclusion_type_id,
        worker_id=barring.account.marketplace_id,
    )
    WorkerBarring.objects.filter(pk=barring.pk).update(is_in_force=barring.is_wanted)
