"""Keeping workers from HITs that have no task for them, by what they have submitted."""

from functools import partial

from django.db import transaction
from django.db.models import Count

from annotate.background import hand_on
from annotate.models import Campaign, Response, Worker
from hits.models import Barring, HitType, WorkerAccount
from qualcontrol.models import kept_out


def has_work(campaign: Campaign, worker: Worker) -> bool:
    """Whether a task of the campaign misses an answer that the worker could give."""
    return campaign.tasks.open_to(worker).exists()


def workers_done(campaign: Campaign) -> list[int]:
    """The keys of workers who have a response to every unfinished task; none if all tasks are
    finished."""
    unfinished = campaign.tasks.unfinished()
    first = unfinished.emptiest_first().first()
    if first is None:
        return []
    # Whoever has done all of them has done this one, which is a few workers at most.
    done = Response.objects.filter(task__in=unfinished, worker__responses__task=first)
    counts = done.order_by().values_list("worker").annotate(Count("task"))
    number = unfinished.count()
    return [worker for worker, tasks in counts if tasks == number]


@transaction.atomic
def bar_if_done(*, campaign: Campaign, account: WorkerAccount) -> None:
    """Bar a worker who is kept out or has submitted all there is, so that they do not accept
    another HIT of the campaign in vain.

    The marketplace is told as soon as this change is saved; if it cannot be told now, the next
    sync does it.
    """
    from hits.tasks import tell_barring

    hit_type = campaign.hit_types.first()
    may_work = not kept_out(campaign).filter(pk=account.worker_id).exists()
    if hit_type is None or (may_work and has_work(campaign, account.worker)):
        return
    barring = want_barred(hit_type=hit_type, account=account)
    if not barring.is_in_force:
        transaction.on_commit(partial(hand_on, tell_barring, barring.pk))


def want_barred(*, hit_type: HitType, account: WorkerAccount) -> Barring:
    """Note that the worker is to be barred; the sync tells the marketplace."""
    barring, _ = Barring.objects.update_or_create(
        hit_type=hit_type, account=account, defaults={"is_wanted": True}
    )
    return barring
