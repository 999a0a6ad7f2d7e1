"""A decision about one worker, payment or response changes nothing of the others."""

from collections.abc import Callable
from typing import Any

import pytest

from annotate.models import Campaign, Response, Worker
from qualcontrol.models import (
    Exclusion,
    HeldCause,
    HeldOutcome,
    HeldPayment,
    Pause,
    Proposal,
    SpotCheck,
    WorkerRisk,
)
from qualcontrol.review.judging import judge
from qualcontrol.services.exclusions import (
    decline_proposal,
    exclude_worker,
    pause_worker,
    propose_exclusion,
    reinstate_worker,
    resume_worker,
)
from qualcontrol.services.held_payments import accept_payment, hold_payment, refuse_payment
from qualcontrol.services.intake import review_submitted
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
    WorkerAccountFactory,
    WorkerFactory,
)
from tests.qualcontrol.work import LISTS, NO_REQUIRED_CHECKS, exclude, pause, propose, write

pytestmark = pytest.mark.django_db


def by_person(service: Callable[..., Any], campaign: Campaign, worker: Worker) -> None:
    service(campaign=campaign, worker=worker, reason=LISTS, actor=UserFactory(), at=NOON)


def hold(campaign: Campaign, worker: Worker, cause: HeldCause = HeldCause.NO_TASK) -> HeldPayment:
    """Hold the payment of a new assignment of the worker."""
    hit = campaign.hits.first() or HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    account = getattr(worker, "account", None) or WorkerAccountFactory(worker=worker)
    assignment = AssignmentFactory(hit=hit, account=account)
    about = {"campaign": campaign, "worker": worker, "submission": assignment.pk}
    hold_payment(**about, cause=cause, why="It fits no task.", at=NOON)
    return HeldPayment.objects.get(submission=assignment.pk)


def kept_about(campaign: Campaign, worker: Worker) -> list[object]:
    """All that the decisions of this page could change about a worker in a campaign."""
    theirs = {"campaign": campaign, "worker": worker}
    return [
        list(Exclusion.objects.filter(**theirs).values_list("lifted_at")),
        list(Pause.objects.filter(**theirs).values_list("lifted_at")),
        list(Proposal.objects.filter(**theirs).values_list("answered_at")),
        list(HeldPayment.objects.filter(**theirs).values_list("outcome", "is_forgiven")),
        list(WorkerRisk.objects.filter(**theirs).values_list("forgiven")),
        list(Response.objects.of(campaign).filter(worker=worker).values_list("status")),
    ]


@pytest.mark.parametrize(
    ("before", "service"),
    [
        ([propose, pause], exclude_worker),
        ([exclude], reinstate_worker),
        ([pause], resume_worker),
        ([propose, pause], decline_proposal),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_a_decision_about_a_worker_leaves_other_workers_and_campaigns_alone(before, service):
    campaign, worker = CampaignFactory(), WorkerFactory()
    others = [(CampaignFactory(), worker), (campaign, WorkerFactory())]
    for pair in [(campaign, worker), *others]:
        hold(*pair)
        for _ in range(2):
            ResponseFactory(task__campaign=pair[0], worker=pair[1])
        for step in before:
            step(*pair)
    theirs, about_others = kept_about(campaign, worker), [kept_about(*pair) for pair in others]

    by_person(service, campaign, worker)

    assert kept_about(campaign, worker) != theirs
    assert [kept_about(*pair) for pair in others] == about_others


def test_a_bad_verdict_discards_nothing_more_of_a_worker_because_another_is_excluded():
    review = {**NO_REQUIRED_CHECKS, "discard": "since_first_bad"}
    campaign, worker, other = (
        CampaignFactory(config={"review": review}),
        *WorkerFactory.create_batch(2),
    )
    first, later = write(campaign, worker, 2)
    exclude(campaign, other)

    judge(response=first, verdict="BAD", reason="vague", reviewer=UserFactory(), at=NOON)

    assert list(Response.objects.counting()) == [later]


def test_only_the_workers_own_bad_verdicts_are_forgiven():
    campaign, worker, other = CampaignFactory(), *WorkerFactory.create_batch(2)
    for response in [*write(campaign, worker, 1), *write(campaign, other, 2)]:
        judge(response=response, verdict="BAD", reason="vague", reviewer=UserFactory(), at=NOON)
    pause(campaign, worker)

    by_person(resume_worker, campaign, worker)

    assert WorkerRisk.objects.get(campaign=campaign, worker=worker).forgiven == 1


@pytest.mark.parametrize("service", [pause_worker, propose_exclusion, exclude_worker])
def test_a_decision_elsewhere_does_not_refuse_this_one(service):
    campaign, worker = CampaignFactory(), WorkerFactory()
    elsewhere, other = CampaignFactory(), WorkerFactory()
    for pair in [(elsewhere, worker), (campaign, other)]:
        propose(*pair)
        pause(*pair)
        exclude(*pair)
    paused, proposed = CampaignFactory(), CampaignFactory()
    pause(paused, worker)
    propose(proposed, worker)
    actor = {} if service is propose_exclusion else {"actor": None}

    service(campaign=campaign, worker=worker, reason=LISTS, at=NOON, **actor)

    about = {"campaign": campaign, "worker": worker}
    assert [model.objects.filter(**about).exists() for model in (Pause, Proposal, Exclusion)].count(
        True
    ) == 1


@pytest.mark.parametrize("service", [accept_payment, refuse_payment])
def test_a_decision_about_one_payment_leaves_the_others_held(service):
    campaign, worker = CampaignFactory(), WorkerFactory()
    held, other = hold(campaign, worker), hold(campaign, worker)
    kept = ResponseFactory(task__campaign=campaign, worker=worker, submission=other.submission)

    service(held=held, reason=LISTS, actor=UserFactory(), at=NOON)

    assert list(HeldPayment.objects.open()) == [other]
    kept.refresh_from_db()
    assert kept.status == "SUBMITTED"


def test_a_verdict_ends_the_hold_of_its_own_assignment_alone():
    campaign = CampaignFactory(config={"review": {"first": 0, "share": 1}})
    worker = WorkerFactory()
    responses = []
    for task in TaskFactory.create_batch(2, campaign=campaign):
        held = hold(campaign, worker, HeldCause.RULES)
        response = ResponseFactory(
            task=task, worker=worker, submission=held.submission, text="Dog dog dog."
        )
        review_submitted(
            campaign=campaign, responses=[response], at=NOON, problems={response.pk: ["Too short."]}
        )
        responses.append(response)
    assert SpotCheck.objects.count() == 2

    judge(response=responses[0], verdict="GOOD", reason="", reviewer=UserFactory(), at=NOON)

    ended, waiting = HeldPayment.objects.order_by("pk")
    assert (ended.outcome, waiting.outcome) == (HeldOutcome.JUDGED, "")
