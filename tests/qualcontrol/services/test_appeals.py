"""Appeals, and restoring responses when an exclusion is undone."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.models import Response
from qualcontrol.models import Act, Appeal, Decision
from qualcontrol.services.appeals import answer_appeal, record_appeal
from qualcontrol.services.errors import AlreadyAnswered, CannotAppeal, ReasonMissing
from qualcontrol.services.exclusions import exclude_worker, reinstate_worker
from tests.factories import NOON, CampaignFactory, UserFactory, WorkerFactory
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "policy": "propose"}})


@pytest.fixture
def worker(campaign):
    worker = WorkerFactory()
    write(campaign, worker, 3)
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)
    return worker


def enter(campaign, worker, text="I wrote each of them myself."):
    return record_appeal(campaign=campaign, worker=worker, text=text, actor=UserFactory(), at=NOON)


def answer(appeal, *, is_granted, text="We have looked at them again."):
    return answer_appeal(
        appeal=appeal, is_granted=is_granted, answer=text, actor=UserFactory(), at=NOON
    )


def test_a_granted_appeal_undoes_the_exclusion(campaign, worker):
    assert answer(enter(campaign, worker), is_granted=True) == 3

    assert not campaign.exclusions.in_force().exists()
    assert Response.objects.counting().count() == 3
    assert Appeal.objects.get().is_granted
    acts = Decision.objects.filter(worker=worker, response=None).order_by("pk")
    assert list(acts.values_list("act", flat=True)) == [
        Act.EXCLUDE,
        Act.APPEAL,
        Act.ANSWER,
        Act.REINSTATE,
    ]


def test_an_appeal_that_is_not_granted_leaves_the_exclusion(campaign, worker):
    assert answer(enter(campaign, worker), is_granted=False) == 0

    assert campaign.exclusions.in_force().exists()
    assert not Appeal.objects.open().exists()


def test_an_appeal_is_answered_once(campaign, worker):
    appeal = enter(campaign, worker)
    answer(appeal, is_granted=False)

    with pytest.raises(AlreadyAnswered):
        answer(appeal, is_granted=True)

    assert campaign.exclusions.in_force().exists()


def test_an_appeal_needs_an_exclusion_and_waits_for_its_answer(campaign, worker):
    with pytest.raises(CannotAppeal):
        enter(campaign, WorkerFactory())
    enter(campaign, worker)
    with pytest.raises(CannotAppeal):
        enter(campaign, worker)

    assert Appeal.objects.count() == 1


def test_an_appeal_needs_words_and_so_does_its_answer(campaign, worker):
    with pytest.raises(ReasonMissing):
        enter(campaign, worker, text=" ")
    appeal = enter(campaign, worker)
    with pytest.raises(ReasonMissing):
        answer(appeal, is_granted=True, text="")

    assert Appeal.objects.open().get() == appeal


def test_an_appeal_against_an_earlier_exclusion_leaves_the_present_one(campaign, worker):
    about = {"campaign": campaign, "worker": worker, "actor": None, "at": NOON}
    appeal = enter(campaign, worker)
    reinstate_worker(**about, reason="a mistake")
    exclude_worker(**about, reason="copies of others")

    assert answer(appeal, is_granted=True) == 0

    assert campaign.exclusions.in_force().get().reason == "copies of others"
    assert not Response.objects.counting().exists()


judgements = st.lists(st.sampled_from(["GOOD", "BAD", ""]), min_size=5, max_size=5)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(judgements=judgements, discard=st.sampled_from(["all", "since_first_bad"]))
def test_undoing_an_exclusion_restores_exactly(judgements, discard):
    review = {**NO_REQUIRED_CHECKS, "policy": "propose", "discard": discard}
    campaign, worker = CampaignFactory(config={"review": review}), WorkerFactory()
    about = {"campaign": campaign, "worker": worker, "actor": None, "at": NOON}
    for response, verdict in zip(write(campaign, worker, 5), judgements, strict=True):
        if verdict:
            judge(response, verdict)
    before = _state(campaign)

    exclude_worker(**about, reason="lists")
    reinstate_worker(**about, reason="a mistake")

    assert _state(campaign) == before


def _state(campaign):
    return (
        list(Response.objects.of(campaign).order_by("pk").values_list("pk", "status")),
        list(campaign.tasks.order_by("pk").values_list("pk", "places_left")),
        list(campaign.spot_checks.order_by("pk").values_list("response", "verdict")),
    )
