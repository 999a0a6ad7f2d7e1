"""The actions of a campaign's policy, and the decisions that it leaves to a person."""

import pytest

from annotate.models import Response
from qualcontrol.models import Act, Decision, Exclusion, Pause, Proposal, WorkerRisk
from qualcontrol.review.undoing import change_verdict, take_back
from qualcontrol.risk.model import LEAST_BAD_VERDICTS
from qualcontrol.services.errors import AlreadyExcluded, AlreadyPaused, NothingProposed, NotPaused
from qualcontrol.services.exclusions import (
    decline_proposal,
    exclude_worker,
    pause_worker,
    propose_exclusion,
    reinstate_worker,
    resume_worker,
)
from qualcontrol.services.policies import decide
from qualcontrol.services.releasing import open_questions
from qualcontrol.services.worker_risks import learn, refresh_worker_risks
from tests.factories import NOON, CampaignFactory, SpotCheckFactory, UserFactory, WorkerFactory
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, state_of, write

pytestmark = pytest.mark.django_db


def make_campaign(**review):
    return CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, **review}})


def spoil(campaign, worker, bad=4, written=20):
    """Responses of which the first ones are judged bad."""
    responses = write(campaign, worker, written)
    for response in responses[:bad]:
        if Response.objects.counting().filter(pk=response.pk).exists():
            judge(response, "BAD")
    return responses


def believe(campaign, worker, *, risk, bad=LEAST_BAD_VERDICTS):
    """Give the worker, whose responses and verdicts are all counted, this risk."""
    refresh_worker_risks(campaign=campaign)
    WorkerRisk.objects.update_or_create(
        campaign=campaign,
        worker=worker,
        defaults={"risk": risk, "bad": bad, "good": 1, "responses": 20},
    )


def acts_on(worker):
    return list(Decision.objects.filter(worker=worker, response=None).values_list("act", flat=True))


def changed_to_good(campaign, response, reviewer):
    change_verdict(response=response, verdict="GOOD", reason="fine", actor=reviewer, at=NOON)


def taken_back(campaign, response, reviewer):
    take_back(campaign=campaign, key=response.key, reviewer=reviewer, at=NOON)


def test_a_worker_whose_responses_are_judged_bad_is_excluded_with_a_reason():
    campaign, worker = make_campaign(), WorkerFactory()

    spoil(campaign, worker, bad=20)

    exclusion = Exclusion.objects.get()
    assert exclusion.worker == worker
    assert "3 bad and 0 good verdicts" in exclusion.reason
    assert not Response.objects.counting().exists()
    line = Decision.objects.get(act=Act.EXCLUDE)
    assert (line.actor, line.reason) == (None, exclusion.reason)


def test_flags_alone_never_lead_to_anything():
    campaign, worker = make_campaign(), WorkerFactory()
    believe(campaign, worker, risk=1.0, bad=0)

    assert decide(campaign=campaign, at=NOON) == 0
    assert state_of(campaign, worker) == "active"


def test_a_single_bad_verdict_leads_to_nothing():
    campaign, worker = make_campaign(), WorkerFactory()

    judge(write(campaign, worker)[0], "BAD")

    assert state_of(campaign, worker) == "active"


def test_under_propose_a_person_decides():
    campaign, worker = make_campaign(policy="propose", pause_certainty=1), WorkerFactory()
    write(campaign, worker, 3)
    believe(campaign, worker, risk=0.99)

    assert decide(campaign=campaign, at=NOON) == 1
    assert decide(campaign=campaign, at=NOON) == 0

    assert state_of(campaign, worker) == "proposed"
    assert Response.objects.counting().count() == 3
    assert acts_on(worker) == [Act.PROPOSE]


def test_a_reason_has_the_percentages_of_the_pages():
    campaign, worker = make_campaign(limit=0.004), WorkerFactory()
    believe(campaign, worker, risk=0.999)

    decide(campaign=campaign, at=NOON)

    likely = "over 99% likely that more than 0.4% of the worker's responses are bad"
    assert Exclusion.objects.get().reason.endswith(likely)


def test_an_open_proposal_is_answered_by_an_exclusion():
    campaign, worker = make_campaign(policy="propose"), WorkerFactory()
    believe(campaign, worker, risk=0.99)
    decide(campaign=campaign, at=NOON)

    exclude_worker(campaign=campaign, worker=worker, reason="yes", actor=UserFactory(), at=NOON)

    assert not Proposal.objects.open().exists()
    assert state_of(campaign, worker) == "excluded"


def test_a_worker_who_is_left_as_they_are_is_left_until_there_are_new_bad_verdicts():
    campaign, worker = make_campaign(policy="propose", certainty=0.5, pause_certainty=1), None
    worker = WorkerFactory()
    responses = spoil(campaign, worker, bad=3)
    assert state_of(campaign, worker) == "proposed"

    decline_proposal(campaign=campaign, worker=worker, reason="known", actor=UserFactory(), at=NOON)
    decide(campaign=campaign, at=NOON)
    assert state_of(campaign, worker) == "active"

    judge(responses[10], "BAD")
    assert state_of(campaign, worker) == "proposed"


@pytest.mark.parametrize("undo", [changed_to_good, taken_back])
def test_a_proposal_ends_with_the_bad_verdicts_behind_it(undo):
    campaign = make_campaign(policy="propose", certainty=0.5, pause_certainty=1)
    worker, ada = WorkerFactory(), UserFactory()
    responses = write(campaign, worker, 20)
    for response in responses[:3]:
        judge(response, "BAD", ada)
    assert state_of(campaign, worker) == "proposed"

    undo(campaign, responses[0], ada)

    assert state_of(campaign, worker) == "active"
    assert open_questions(campaign) == []
    assert acts_on(worker) == [Act.DECLINE, Act.PROPOSE]
    judge(responses[10], "BAD", ada)
    assert state_of(campaign, worker) == "proposed"


def test_a_proposal_stays_open_after_a_person_ends_the_pause():
    campaign = make_campaign(policy="propose", certainty=0.5, pause_certainty=0.5)
    worker = WorkerFactory()
    spoil(campaign, worker, bad=3)

    resume_worker(campaign=campaign, worker=worker, reason="", actor=UserFactory(), at=NOON)
    decide(campaign=campaign, at=NOON)

    assert state_of(campaign, worker) == "proposed"


def test_leaving_a_worker_whom_nobody_proposed_is_refused():
    campaign = make_campaign()

    with pytest.raises(NothingProposed):
        decline_proposal(
            campaign=campaign, worker=WorkerFactory(), reason="", actor=UserFactory(), at=NOON
        )


def test_a_doubtful_worker_is_paused_and_continues_when_the_doubt_is_gone():
    campaign, worker = make_campaign(), WorkerFactory()
    write(campaign, worker, 3)
    believe(campaign, worker, risk=0.9)

    decide(campaign=campaign, at=NOON)
    assert state_of(campaign, worker) == "paused"
    assert Response.objects.counting().count() == 3

    believe(campaign, worker, risk=0.5)
    decide(campaign=campaign, at=NOON)
    assert state_of(campaign, worker) == "active"
    assert acts_on(worker) == [Act.RESUME, Act.PAUSE]


def test_a_pause_by_a_person_is_not_lifted_by_the_policy():
    campaign, worker = make_campaign(), WorkerFactory()
    pause_worker(campaign=campaign, worker=worker, reason="asks", actor=UserFactory(), at=NOON)

    decide(campaign=campaign, at=NOON)

    assert state_of(campaign, worker) == "paused"


def test_a_person_takes_over_the_policys_pause():
    campaign, worker, ada = make_campaign(), WorkerFactory(), UserFactory()
    believe(campaign, worker, risk=0.9)
    decide(campaign=campaign, at=NOON)

    pause_worker(campaign=campaign, worker=worker, reason="asks", actor=ada, at=NOON)
    believe(campaign, worker, risk=0.5)
    decide(campaign=campaign, at=NOON)

    pause = Pause.objects.in_force().get()
    assert (pause.reason, pause.is_by_policy) == ("asks", False)
    assert acts_on(worker) == [Act.PAUSE, Act.PAUSE]
    with pytest.raises(AlreadyPaused):
        pause_worker(campaign=campaign, worker=worker, reason="again", actor=ada, at=NOON)


def test_a_worker_resumed_by_a_person_is_not_paused_again_at_once():
    campaign, worker = make_campaign(), WorkerFactory()
    for response in write(campaign, worker, 20)[:LEAST_BAD_VERDICTS]:
        SpotCheckFactory(response=response, verdict="BAD", reason="vague", judged_at=NOON)
    believe(campaign, worker, risk=0.9)
    decide(campaign=campaign, at=NOON)
    assert state_of(campaign, worker) == "paused"

    resume_worker(campaign=campaign, worker=worker, reason="fine", actor=UserFactory(), at=NOON)
    decide(campaign=campaign, at=NOON)

    assert state_of(campaign, worker) == "active"


@pytest.mark.parametrize("service", [pause_worker, resume_worker])
def test_a_second_pause_and_the_end_of_a_missing_one_are_refused(service):
    campaign, worker = make_campaign(), WorkerFactory()
    about = {"campaign": campaign, "worker": worker, "reason": "asks", "actor": None, "at": NOON}
    if service is pause_worker:
        pause_worker(**about)

    with pytest.raises((AlreadyPaused, NotPaused)):
        service(**about)

    assert Pause.objects.count() == (service is pause_worker)


def test_an_exclusion_ends_a_pause():
    campaign, worker = make_campaign(), WorkerFactory()
    about = {"campaign": campaign, "worker": worker, "reason": "lists", "actor": None, "at": NOON}
    pause_worker(**about)

    exclude_worker(**about)

    assert not Pause.objects.in_force().exists()
    with pytest.raises(AlreadyExcluded):
        pause_worker(**about)


def test_an_exclusion_may_spare_what_came_before_the_first_bad_response():
    campaign, worker = make_campaign(discard="since_first_bad", policy="propose"), WorkerFactory()
    responses = write(campaign, worker, 6)
    judge(responses[3], "BAD")
    judge(responses[4], "BAD")

    exclude_worker(campaign=campaign, worker=worker, reason="late", actor=None, at=NOON)

    assert list(Response.objects.counting().order_by("pk")) == responses[:3]
    assert open_questions(campaign) == []


def test_an_earlier_bad_response_of_an_excluded_worker_takes_those_after_it_along():
    campaign, worker = make_campaign(discard="since_first_bad", policy="propose"), WorkerFactory()
    responses = write(campaign, worker, 6)
    judge(responses[3], "BAD")
    exclude_worker(campaign=campaign, worker=worker, reason="late", actor=None, at=NOON)

    judge(responses[1], "BAD")

    assert list(Response.objects.counting()) == responses[:1]
    assert open_questions(campaign) == []
    reinstate_worker(campaign=campaign, worker=worker, actor=UserFactory(), reason="heard", at=NOON)
    kept = [responses[place] for place in (0, 2, 4, 5)]
    assert list(Response.objects.counting().order_by("pk")) == kept


def test_a_reinstated_worker_is_not_excluded_again_by_the_same_verdicts():
    campaign, worker = make_campaign(), WorkerFactory()
    responses = spoil(campaign, worker, bad=20)
    assert state_of(campaign, worker) == "excluded"

    reinstate_worker(campaign=campaign, worker=worker, actor=UserFactory(), reason="heard", at=NOON)
    learn(campaign=campaign)
    decide(campaign=campaign, at=NOON)
    assert state_of(campaign, worker) == "active"

    left = Response.objects.counting().filter(pk__in=[one.pk for one in responses]).first()
    judge(left, "BAD")
    assert state_of(campaign, worker) == "excluded"


def test_a_bad_verdict_drops_a_response_and_leaves_its_payment_alone():
    campaign = make_campaign()
    [response] = write(campaign, WorkerFactory())

    judge(response, "BAD")

    assert not Decision.objects.filter(act=Act.REJECT).exists()


@pytest.mark.parametrize("undo", [changed_to_good, taken_back])
@pytest.mark.parametrize(("place", "forgiven"), [(0, 1), (2, 2)])
def test_a_bad_verdict_that_ends_makes_up_for_no_new_one(undo, place, forgiven):
    campaign, worker, ada = make_campaign(policy="propose"), WorkerFactory(), UserFactory()
    written = write(campaign, worker, 4)
    for response in written[:2]:
        judge(response, "BAD", ada)
    pause_worker(campaign=campaign, worker=worker, reason="lists", actor=ada, at=NOON)
    resume_worker(campaign=campaign, worker=worker, reason="", actor=ada, at=NOON)
    judge(written[2], "BAD", ada)

    undo(campaign, written[place], ada)

    risk = WorkerRisk.objects.get()
    assert (risk.bad, risk.forgiven) == (2, forgiven)


def test_the_end_of_a_proposal_by_the_policy_forgives_nothing():
    campaign, worker, ada = make_campaign(policy="propose"), WorkerFactory(), UserFactory()
    [first, second] = write(campaign, worker, 2)
    judge(first, "BAD", ada)
    pause_worker(campaign=campaign, worker=worker, reason="lists", actor=ada, at=NOON)
    resume_worker(campaign=campaign, worker=worker, reason="", actor=ada, at=NOON)
    judge(second, "BAD", ada)
    propose_exclusion(campaign=campaign, worker=worker, reason="lists", at=NOON)
    decide(campaign=campaign, at=NOON)
    assert not Proposal.objects.open().exists()

    changed_to_good(campaign, second, ada)

    risk = WorkerRisk.objects.get()
    assert (risk.bad, risk.forgiven) == (1, 1)


def test_the_end_of_a_pause_by_an_exclusion_forgives_nothing():
    campaign, worker, ada = make_campaign(policy="propose"), WorkerFactory(), UserFactory()
    about = {"campaign": campaign, "worker": worker, "reason": "lists", "actor": ada, "at": NOON}
    [first, second] = write(campaign, worker, 2)
    judge(first, "BAD", ada)
    pause_worker(**about)
    resume_worker(**about)
    judge(second, "BAD", ada)
    pause_worker(**about)
    exclude_worker(**about)

    changed_to_good(campaign, second, ada)

    risk = WorkerRisk.objects.get()
    assert (risk.bad, risk.forgiven) == (1, 1)
