"""Bar workers who have no task left, judged by the responses that they have submitted."""

from django.db import transaction
from django.db.models import Count

from annotate.models import Campaign, Response, Worker
from hits.models import HitType, WorkerAccount, WorkerBarring
from qualcontrol.models import kept_out


def has_work(campaign: Campaign, worker: Worker) -> bool:
    """Return whether a task of the campaign needs a response that the worker could give."""
    return campaign.tasks.open_to(worker).exists()


def workers_done(campaign: Campaign) -> list[int]:
    """Return the keys of workers who have a response to every unfinished task.

    The list is empty if all tasks are finished.
    """
    unfinished = campaign.tasks.unfinished()
    first = unfinished.emptiest_first().first()
    if first is None:
        return []
    # These workers have also done the task with the fewest responses, which limits the query to a
    # few workers.
    done = Response.objects.filter(task__in=unfinished, worker__responses__task=first)
    counts = done.order_by().values_list("worker").annotate(Count("task"))
    number = unfinished.count()
    return [worker for worker, tasks in counts if tasks == number]


@transaction.atomic
def bar_if_done(*, campaign: Campaign, account: WorkerAccount) -> WorkerBarring | None:
    """Bar a worker who may not work on the campaign or has no task left.

    Return the barring if it is not in force at the marketplace yet, otherwise None. The next sync
    puts it in force; the caller may do this at once.
    """
    hit_type = campaign.hit_types.first()
    may_work = not kept_out(campaign).filter(pk=account.worker_id).exists()
    if hit_type is None or (may_work and has_work(campaign, account.worker)):
        return None
    barring = want_barred(hit_type=hit_type, account=account)
    return None if barring.is_in_force else barring


def want_barred(*, hit_type: HitType, account: WorkerAccount) -> WorkerBarring:
    """Record that the worker is to be barred and return the barring, which the next sync sends."""
    barring, _ = WorkerBarring.objects.update_or_create(
        hit_type=hit_type, account=account, defaults={"is_wanted": True}
    )
    return barring
