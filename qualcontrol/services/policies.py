"""A campaign's policy: it pauses and excludes workers, or proposes to exclude them.

It never acts on flags alone or on a single slip. A worker who is paused, proposed or excluded has
several responses that a person judged bad, and more of them than when a person last decided in the
worker's favour. There is one exception: a worker who submits several answers that fit no task is
paused before anybody has looked at them.

A campaign with `[review] trial` lets a worker submit that many responses before their first ones
are judged (`qualcontrol.models.waiting_for_verdicts`). One bad response is forgiven. A worker with
more is paused, and a person decides. Such a worker has written few responses, so nothing else has
to be discarded.

A person may decide about a worker while the policy does. So the policy locks one worker after the
other and decides about each on what it reads under that lock.
"""

from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet

from annotate.models import Campaign, Worker
from corpora.wording import counted, exact_percent, probability
from qualcontrol.models import (
    HeldPayment,
    SpotCheck,
    Verdict,
    WorkerRisk,
    WorkerRiskChange,
)
from qualcontrol.risk.model import LEAST_BAD_VERDICTS
from qualcontrol.services.exclusions import (
    end_proposal,
    exclude_worker,
    pause_worker,
    propose_exclusion,
    resume_worker,
)
from qualcontrol.services.locks import lock_worker
from qualcontrol.services.sampling import lock_check_share
from qualcontrol.services.worker_risks import refresh_worker_risks
from shared.database.transactions import afterwards

# A worker with more bad responses than this in a trial is paused.
SLIPS_FORGIVEN = 1
# A worker with this many answers that fit no task, and that nobody accepted, is paused.
LEAST_UNPLACED = 2
NO_LONGER_DOUBTFUL = "the reason for the pause no longer holds"


def count_and_decide(*, campaign: Campaign, at: datetime) -> None:
    """Count the workers with changes again, and let the policy decide about them: after the
    transaction of a verdict, because both take locks of their own."""
    afterwards(partial(_count_and_decide, campaign, at))


def _count_and_decide(campaign: Campaign, at: datetime) -> None:
    refresh_worker_risks(campaign=campaign)
    decide(campaign=campaign, at=at)


def decide(*, campaign: Campaign, at: datetime) -> int:
    """Exclude, propose or pause the workers whose risk requires it, and end the policy's pauses and
    proposals whose reason no longer holds. Returns the number of actions. A second call changes
    nothing."""
    return sum(_decide_about(campaign, worker, at) for worker in _to_look_at(campaign))


def _to_look_at(campaign: Campaign) -> list[Worker]:
    """The workers about whom the policy may have to act. This is read without a lock, so
    `_decide_about` reads it again."""
    review = campaign.config.review
    least = min(review.certainty, review.pause_certainty)
    paused = campaign.pauses.in_force().filter(is_by_policy=True)
    about = Q(pk__in=_suspicious(campaign).filter(risk__gte=least).values("worker"))
    about |= Q(pk__in=paused.values("worker"))
    about |= Q(pk__in=campaign.proposals.open().values("worker"))
    about |= Q(pk__in=_senders_of_unplaced(campaign).values("pk"))
    if review.trial > 0:
        about |= Q(pk__in=_failed_trials(campaign).values("pk"))
    return list(Worker.objects.filter(about).order_by("pk"))


def _suspicious(campaign: Campaign) -> QuerySet[WorkerRisk]:
    """Workers whom the policy may act against: not excluded, with enough and new bad verdicts."""
    excluded = campaign.exclusions.in_force().values("worker")
    risks = WorkerRisk.objects.of(campaign).exclude(worker__in=excluded)
    return risks.filter(bad__gte=LEAST_BAD_VERDICTS, bad__gt=F("forgiven"))


def _is_proposable(campaign: Campaign, worker: Worker) -> bool:
    """Whether the reason to propose the worker's exclusion holds, forgiven or not."""
    risks = WorkerRisk.objects.of(campaign).filter(worker=worker, bad__gte=LEAST_BAD_VERDICTS)
    return risks.filter(risk__gte=campaign.config.review.certainty).exists()


def _failed_trials(campaign: Campaign) -> QuerySet[Worker]:
    """The workers who failed the trial of a campaign that has one, except those without a bad
    verdict since a person last decided in their favour."""
    bad = SpotCheck.objects.of(campaign).filter(is_first=True, verdict=Verdict.BAD).order_by()
    by_worker = bad.values("response__worker").annotate(slips=Count("pk"))
    failed = by_worker.filter(slips__gt=SLIPS_FORGIVEN).values("response__worker")
    found_bad = WorkerRisk.objects.of(campaign).filter(bad__gt=F("forgiven"))
    return Worker.objects.filter(pk__in=failed).filter(pk__in=found_bad.values("worker"))


def _senders_of_unplaced(campaign: Campaign) -> QuerySet[Worker]:
    """The workers with several answers that fit no task and that nobody accepted, at least one of
    them since a person last let the worker continue."""
    rows = HeldPayment.objects.of(campaign).against_worker().order_by().values("worker")
    by_worker = rows.annotate(sent=Count("pk"), since=Count("pk", filter=Q(is_forgiven=False)))
    senders = by_worker.filter(sent__gte=LEAST_UNPLACED, since__gt=0)
    return Worker.objects.filter(pk__in=senders.values("worker"))


@transaction.atomic
def _decide_about(campaign: Campaign, worker: Worker, at: datetime) -> int:
    lock_worker(worker)
    lock_check_share(campaign)
    if campaign.exclusions.in_force().filter(worker=worker).exists():
        return 0
    # A verdict that is not counted yet might change the decision. The call that stored it counts
    # the worker and then calls `decide` itself.
    if WorkerRiskChange.objects.filter(campaign=campaign, worker=worker).exists():
        return 0
    review = campaign.config.review
    worker_risk = _suspicious(campaign).filter(worker=worker).first()
    acts = 0
    if worker_risk is not None and worker_risk.risk >= review.certainty:
        reason = _why(campaign, worker_risk)
        if review.policy == "decide":
            exclude_worker(campaign=campaign, worker=worker, reason=reason, actor=None, at=at)
            return 1
        acts += propose_exclusion(campaign=campaign, worker=worker, reason=reason, at=at)
    elif not _is_proposable(campaign, worker):
        acts += end_proposal(campaign=campaign, worker=worker, at=at)
    return acts + _move_pause(campaign, worker, _doubt(campaign, worker, worker_risk), at)


def _doubt(campaign: Campaign, worker: Worker, worker_risk: WorkerRisk | None) -> str:
    """Why the worker should be paused; empty if there is no reason."""
    pause_certainty = campaign.config.review.pause_certainty
    if worker_risk is not None and worker_risk.risk >= pause_certainty and pause_certainty < 1:
        return _why(campaign, worker_risk)
    has_trial = campaign.config.review.trial > 0
    if has_trial and _failed_trials(campaign).filter(pk=worker.pk).exists():
        return _why_failed(campaign, worker)
    if _senders_of_unplaced(campaign).filter(pk=worker.pk).exists():
        return _why_unplaced(campaign, worker)
    return ""


def _move_pause(campaign: Campaign, worker: Worker, doubt: str, at: datetime) -> bool:
    """Pause the worker if there is a doubt, or end the policy's pause if there is none. Returns
    whether anything changed. A pause that a person made stays."""
    pause = campaign.pauses.in_force().filter(worker=worker).first()
    if doubt and pause is None:
        pause_worker(campaign=campaign, worker=worker, reason=doubt, actor=None, at=at)
        return True
    if not doubt and pause is not None and pause.is_by_policy:
        reason = NO_LONGER_DOUBTFUL
        resume_worker(campaign=campaign, worker=worker, reason=reason, actor=None, at=at)
        return True
    return False


def _why(campaign: Campaign, worker_risk: WorkerRisk) -> str:
    """The reason for an exclusion, a proposal or a pause, in a sentence."""
    return (
        f"{worker_risk.bad} bad and {worker_risk.good} good verdicts; "
        f"{probability(worker_risk.risk)} likely that more than "
        f"{exact_percent(campaign.config.review.limit)} of the worker's responses are bad"
    )


def _why_failed(campaign: Campaign, worker: Worker) -> str:
    """The reason for the pause, in a sentence."""
    firsts = SpotCheck.objects.of(campaign).filter(is_first=True, response__worker=worker)
    judged = firsts.exclude(verdict="").count()
    bad = firsts.filter(verdict=Verdict.BAD).count()
    return f"{bad} of the worker's first {judged} judged responses are bad"


def _why_unplaced(campaign: Campaign, worker: Worker) -> str:
    """The reason for the pause, in a sentence."""
    number = HeldPayment.objects.of(campaign).against_worker().filter(worker=worker).count()
    return f"{counted(number, 'submitted answer fits', 'submitted answers fit')} no task"
