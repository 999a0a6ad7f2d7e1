"""Keeping workers from HITs that have no task for them, by what they have submitted."""

from django.db import transaction
from django.db.models import Count

from annotate.models import Campaign, Response, Worker
from hits.models import HitType, WorkerAccount, WorkerBarring
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
def bar_if_done(*, campaign: Campaign, account: WorkerAccount) -> WorkerBarring | None:
    """Bar a worker who is kept out or has answered every open task, so that they do not accept
    a HIT that has nothing for them.

    Returns the barring if the marketplace is still to be told. The next sync tells it; the caller
    may do so at once.
    """
    hit_type = campaign.hit_types.first()
    may_work = not kept_out(campaign).filter(pk=account.worker_id).exists()
    if hit_type is None or (may_work and has_work(campaign, account.worker)):
        return None
    barring = want_barred(hit_type=hit_type, account=account)
    return None if barring.is_in_force else barring


def want_barred(*, hit_type: HitType, account: WorkerAccount) -> WorkerBarring:
    """Note that the worker is to be barred; the sync tells the marketplace."""
    barring, _ = WorkerBarring.objects.update_or_create(
        hit_type=hit_type, account=account, defaults={"is_wanted": True}
    )
    return barring
