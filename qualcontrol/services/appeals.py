"""Appeals of excluded workers, received by any channel."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotate.models import Campaign, Worker
from qualcontrol.models import Act, Appeal, Decision
from qualcontrol.services.errors import AlreadyAnswered, CannotAppeal, text_given
from qualcontrol.services.exclusions import reinstate_worker
from qualcontrol.services.locks import lock_worker


@transaction.atomic
def record_appeal(
    *, campaign: Campaign, worker: Worker, text: str, actor: User | None, at: datetime
) -> Appeal:
    """Store what an excluded worker wrote. Raises CannotAppeal, ReasonMissing."""
    text = text_given(text, "what the worker wrote")
    lock_worker(worker)
    exclusion = campaign.exclusions.in_force().filter(worker=worker).first()
    if exclusion is None:
        raise CannotAppeal(f"{worker} is not excluded from {campaign}.")
    if exclusion.appeals.open().exists():
        raise CannotAppeal(f"{worker} already has an open appeal.")
    Decision.objects.create(
        worker=worker, campaign=campaign, act=Act.APPEAL, reason="", actor=actor, at=at
    )
    return Appeal.objects.create(exclusion=exclusion, text=text, received_at=at)


@transaction.atomic
def answer_appeal(
    *, appeal: Appeal, is_granted: bool, answer: str, actor: User, at: datetime
) -> int:
    """Grant or refuse an appeal. Returns the number of restored responses.

    If the appeal is granted and its exclusion is still in force, the exclusion is undone. A later
    exclusion of the same worker stays. Raises AlreadyAnswered, ReasonMissing.
    """
    answer = text_given(answer, "an answer: the worker has a right to one")
    campaign, worker = appeal.exclusion.campaign, appeal.exclusion.worker
    lock_worker(worker)
    waiting = Appeal.objects.open().filter(pk=appeal.pk)
    if not waiting.update(answer=answer, is_granted=is_granted, answered_at=at, answered_by=actor):
        raise AlreadyAnswered("This appeal is already answered.")
    Decision.objects.create(
        worker=worker, campaign=campaign, act=Act.ANSWER, reason=answer[:1024], actor=actor, at=at
    )
    is_in_force = campaign.exclusions.in_force().filter(pk=appeal.exclusion_id).exists()
    if not is_granted or not is_in_force:
        return 0
    return reinstate_worker(
        campaign=campaign, worker=worker, actor=actor, reason="appeal granted", at=at
    )
