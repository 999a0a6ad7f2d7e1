"""Bar: hide a campaign's HITs from workers who may not work on it now, or have no task left.

Workers may not work if they are excluded or paused, or if their first responses are not judged yet.
They have no task left if they have a response to every unfinished task.

Barred workers get a private qualification that excludes them from the HIT type. The marketplace
does not notify them, and their statistics do not change. The qualification is revoked when there
is work for them again.

`notify` sends the messages that people have written to workers, and the campaign's own.
"""

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from annotate.models import Campaign, Response
from hits.models import HitType, MessageStatus, WorkerAccount, WorkerBarring, WorkerMessage
from hits.mturk.client import Marketplace
from hits.mturk.connection import MarketplaceError
from hits.reconcile.run import Run, message_name
from hits.services.messages import put_back, record_sent, take_recipients, tell_workers
from qualcontrol.models import kept_out
from qualcontrol.services.policies import decide
from qualcontrol.services.worker_risks import learn


def bar(run: Run) -> None:
    """Apply the review policy, update the barrings and send the changes to the marketplace."""
    with run.alone("the review policy"):
        learn(campaign=run.campaign)
        decide(campaign=run.campaign, at=run.at)
    for hit_type in run.campaign.hit_types.all():
        _bar_workers(run, hit_type)
        _let_back(run, hit_type)
        untold = hit_type.barrings.untold().select_related("account__worker").order_by("pk")
        for barring in run.healthy_first(untold, str):
            with run.alone(str(barring)):
                tell(run.marketplace, barring)


def _bar_workers(run: Run, hit_type: HitType) -> None:
    to_bar = WorkerAccount.objects.filter(
        Q(worker__in=kept_out(run.campaign)) | Q(worker__in=_workers_done(run.campaign))
    )
    barred = hit_type.barrings.filter(is_wanted=True).values("account")
    for account in to_bar.exclude(pk__in=barred):
        hit_type.barrings.update_or_create(account=account, defaults={"is_wanted": True})


def _workers_done(campaign: Campaign) -> list[int]:
    """The keys of workers who have a response to every unfinished task.

    The list is empty if all tasks are finished.
    """
    unfinished = campaign.tasks.unfinished()
    first = unfinished.emptiest_first().first()
    if first is None:
        return []
    # These workers have also done the task with the fewest responses, which limits the query to a
    # few workers.
    answered = Response.objects.filter(task__in=unfinished, worker__responses__task=first)
    counts = answered.order_by().values_list("worker").annotate(Count("task"))
    number = unfinished.count()
    return [worker for worker, tasks in counts if tasks == number]


def _let_back(run: Run, hit_type: HitType) -> None:
    """Lift the barrings of workers who may work and have a task again."""
    barrings = hit_type.barrings.filter(is_wanted=True)
    idle = barrings.exclude(account__worker__in=kept_out(run.campaign))
    for barring in idle.select_related("account__worker"):
        if run.campaign.tasks.open_to(barring.account.worker).exists():
            # The update checks `kept_out` again: the worker may have been excluded since.
            idle.filter(pk=barring.pk).update(is_wanted=False)


@transaction.atomic
def bar_if_done(*, campaign: Campaign, marketplace_id: str) -> WorkerBarring | None:
    """Bar the worker with this id, if the marketplace has reported them, and if they may not work
    on the campaign or have no task left.

    Return the barring if it is not in force at the marketplace yet, otherwise None. The next sync
    puts it in force; the caller may do this at once.
    """
    accounts = WorkerAccount.objects.filter(endpoint=campaign.endpoint)
    account = accounts.filter(marketplace_id=marketplace_id).select_related("worker").first()
    hit_type = campaign.hit_types.first()
    if account is None or hit_type is None:
        return None
    may_work = not kept_out(campaign).filter(pk=account.worker_id).exists()
    if may_work and campaign.tasks.open_to(account.worker).exists():
        return None
    barring, _ = hit_type.barrings.update_or_create(account=account, defaults={"is_wanted": True})
    return None if barring.is_in_force else barring


def tell(marketplace: Marketplace, barring: WorkerBarring) -> None:
    """Grant or revoke the qualification at the marketplace, and record it. Safe to repeat.

    `is_wanted` is read right before the call. If it changes during the call, the next sync sends
    the change.
    """
    barring.refresh_from_db(fields=["is_wanted"])
    change = marketplace.grant if barring.is_wanted else marketplace.revoke
    change(
        qualification_type_id=barring.hit_type.exclusion_type_id,
        worker_id=barring.account.marketplace_id,
    )
    WorkerBarring.objects.filter(pk=barring.pk).update(is_in_force=barring.is_wanted)


def notify(run: Run) -> None:
    """Plan what the campaign tells workers, and send each planned message, to a hundred workers
    with a call."""
    if run.campaign.config.review.tells_workers:
        with run.alone("what workers are told"):
            tell_workers(campaign=run.campaign, at=run.at)
    waiting = WorkerMessage.objects.filter(
        campaign=run.campaign, recipients__status=MessageStatus.PLANNED
    ).distinct()
    for message in run.healthy_first(waiting.order_by("pk"), message_name):
        with run.alone(message_name(message)):
            _send(run, message)


def _send(run: Run, message: WorkerMessage) -> None:
    while recipients := take_recipients(message=message):
        try:
            not_reached = run.marketplace.notify(
                worker_ids=[recipient.account.marketplace_id for recipient in recipients],
                subject=message.subject,
                text=message.text,
            )
        except MarketplaceError as error:
            if error.is_refusal:
                put_back(recipients=recipients)
            raise
        record_sent(recipients=recipients, not_reached=not_reached, at=timezone.now())
