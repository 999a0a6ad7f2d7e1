"""The policy and a person act at the same time; the policy checks again under its lock."""

from functools import partial

import pytest

from qualcontrol.models import Decision, WorkerRisk
from qualcontrol.review.judging import keep_judgement
from qualcontrol.risk.model import LEAST_BAD_VERDICTS
from qualcontrol.services.exclusions import (
    decline_proposal,
    exclude_worker,
    pause_worker,
    reinstate_worker,
    resume_worker,
)
from qualcontrol.services.policies import decide
from qualcontrol.services.worker_risks import refresh_worker_risks
from tests.factories import NOON, CampaignFactory, SpotCheckFactory, UserFactory, WorkerFactory
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, state_of, write
from tests.races import just_before_lock

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def review():
    return NO_REQUIRED_CHECKS


@pytest.fixture
def campaign(review):
    return CampaignFactory(config={"review": review})


@pytest.fixture
def worker(campaign):
    """A worker with some bad verdicts and some unjudged responses."""
    worker = WorkerFactory()
    for response in write(campaign, worker, 10)[:LEAST_BAD_VERDICTS]:
        SpotCheckFactory(response=response, verdict="BAD", reason="vague", judged_at=NOON)
    refresh_worker_risks(campaign=campaign)
    return worker


def believe(campaign, worker, risk):
    WorkerRisk.objects.filter(campaign=campaign, worker=worker).update(risk=risk)


def by_person(service, campaign, worker, **values):
    """A service call about the worker by a person."""
    about = {"campaign": campaign, "worker": worker, "at": NOON, "reason": "by hand", **values}
    return partial(service, actor=UserFactory(), **about)


def decide_while(campaign, act):
    with just_before_lock(act):
        return decide(campaign=campaign, at=NOON)


@pytest.mark.parametrize("risk", [0.99, 0.9])
def test_a_worker_resumed_meanwhile_is_not_paused(campaign, worker, risk):
    by_person(pause_worker, campaign, worker)()
    believe(campaign, worker, risk)

    acts = decide_while(campaign, by_person(resume_worker, campaign, worker))

    assert (acts, state_of(campaign, worker)) == (0, "active")
    assert not Decision.objects.filter(actor=None, worker=worker).exists()


@pytest.mark.parametrize("review", [{**NO_REQUIRED_CHECKS, "policy": "propose"}])
def test_a_worker_whose_proposal_is_dismissed_meanwhile_is_not_proposed_again(campaign, worker):
    believe(campaign, worker, 0.99)
    decide(campaign=campaign, at=NOON)
    assert state_of(campaign, worker) == "proposed"

    acts = decide_while(campaign, by_person(decline_proposal, campaign, worker))

    assert (acts, state_of(campaign, worker)) == (0, "active")


def test_a_worker_who_is_excluded_and_reinstated_meanwhile_is_left_alone(campaign, worker):
    believe(campaign, worker, 0.99)

    def exclude_and_reinstate():
        by_person(exclude_worker, campaign, worker)()
        by_person(reinstate_worker, campaign, worker)()

    assert decide_while(campaign, exclude_and_reinstate) == 0
    assert state_of(campaign, worker) == "active"


def test_a_worker_who_is_excluded_meanwhile_is_excluded_once(campaign, worker):
    believe(campaign, worker, 0.99)

    acts = decide_while(campaign, by_person(exclude_worker, campaign, worker))

    assert acts == 0
    assert campaign.exclusions.count() == 1
    assert not campaign.pauses.exists()


def test_a_verdict_given_meanwhile_counts_before_anything_is_done(campaign, worker):
    believe(campaign, worker, 0.99)
    unjudged = worker.responses.filter(spot_check=None).first()

    acts = decide_while(
        campaign,
        lambda: keep_judgement(
            response=unjudged, verdict="GOOD", reason="", reviewer=None, at=NOON
        ),
    )

    assert (acts, state_of(campaign, worker)) == (0, "active")


def test_the_policy_decides_once_a_verdict_given_meanwhile_is_counted(campaign, worker):
    believe(campaign, worker, 0.99)
    left = list(worker.responses.filter(spot_check=None))
    decide_while(
        campaign,
        lambda: keep_judgement(
            response=left[0], verdict="BAD", reason="vague", reviewer=None, at=NOON
        ),
    )

    judge(left[1], "BAD")

    assert state_of(campaign, worker) == "excluded"


def test_a_pause_that_a_person_puts_in_place_of_the_policys_is_not_lifted(campaign, worker):
    believe(campaign, worker, 0.9)
    decide(campaign=campaign, at=NOON)
    believe(campaign, worker, 0.1)

    def replace():
        by_person(resume_worker, campaign, worker)()
        by_person(pause_worker, campaign, worker)()

    assert decide_while(campaign, replace) == 0
    assert state_of(campaign, worker) == "paused"


def test_a_worker_whose_risk_rises_again_meanwhile_stays_paused(campaign, worker):
    believe(campaign, worker, 0.9)
    decide(campaign=campaign, at=NOON)
    believe(campaign, worker, 0.1)

    assert decide_while(campaign, partial(believe, campaign, worker, 0.9)) == 0
    assert state_of(campaign, worker) == "paused"


@pytest.mark.parametrize("review", [{"share": 0, "first": 1, "trial": 3}])
@pytest.mark.parametrize("verdict_comes", ["before", "after"])
def test_the_whole_trial_is_drawn_whichever_of_a_bad_verdict_and_an_ingest_comes_first(
    campaign, verdict_comes
):
    author = WorkerFactory()
    [first] = write(campaign, author)
    acts = [
        lambda: keep_judgement(
            response=first, verdict="BAD", reason="vague", reviewer=None, at=NOON
        ),
        lambda: write(campaign, author, 2),
    ]
    early, late = acts if verdict_comes == "before" else acts[::-1]

    with just_before_lock(early):
        late()

    assert campaign.spot_checks.filter(is_first=True).count() == 3
