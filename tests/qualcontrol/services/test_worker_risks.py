"""The stored risk of each worker equals one computed from scratch."""

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.models import Response
from qualcontrol.models import Act, Decision, LearnedValues, WorkerRisk, WorkerRiskChange
from qualcontrol.services.exclusions import exclude_worker, reinstate_worker
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.worker_risks import learn, recount_worker_risks, refresh_worker_risks
from tests.factories import NOON, CampaignFactory, ResponseFactory, WorkerFactory
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, worker_risk_of, write

pytestmark = pytest.mark.django_db

COUNTS = ["worker__pseudonym", "responses", "good", "bad", "tally"]
FIGURES = [*COUNTS, "risk", "share", "low", "high", "expected_value"]
few_examples = settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def campaign():
    return CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "policy": "propose"}})


def test_a_worker_risk_counts_responses_and_verdicts(campaign):
    worker = WorkerFactory()
    responses = write(campaign, worker, 5)
    judge(responses[0], "BAD")
    judge(responses[1], "GOOD")
    judge(responses[2], "GOOD")

    worker_risk = worker_risk_of(campaign, worker)

    assert (worker_risk.responses, worker_risk.good, worker_risk.bad) == (5, 2, 1)
    assert 1 / 5 <= worker_risk.low < worker_risk.share < worker_risk.high <= 3 / 5


def test_bad_verdicts_raise_the_risk_and_good_ones_lower_it(campaign):
    worker = WorkerFactory()
    responses = write(campaign, worker, 40)
    risks = [worker_risk_of(campaign, worker).risk]
    for verdict, response in zip(["BAD", "BAD", "GOOD"], responses, strict=False):
        judge(response, verdict)
        risks.append(worker_risk_of(campaign, worker).risk)

    assert risks[0] < risks[1] < risks[2]
    assert risks[3] < risks[2]


def test_each_campaign_has_its_own_worker_risks(campaign):
    worker, other = WorkerFactory(), CampaignFactory(config={"review": NO_REQUIRED_CHECKS})
    write(campaign, worker, 2)
    write(other, worker, 3)

    assert worker_risk_of(campaign, worker).responses == 2
    assert worker_risk_of(other, worker).responses == 3


def test_a_changed_flag_of_an_earlier_response_is_counted(campaign):
    early = WorkerFactory()
    [first] = write(
        campaign, early, text="Purple elephants juggle quietly behind seven tall towers."
    )
    before = worker_risk_of(campaign, early).tally
    alike = "A brown dog runs after a red ball across a wide green field."
    others = [ResponseFactory(task=first.task, text=alike + "!" * n) for n in range(4)]

    review_submitted(campaign=campaign, responses=others, at=NOON)

    assert worker_risk_of(campaign, early).tally != before


def test_refreshing_takes_the_noted_changes_away(campaign):
    write(campaign, WorkerFactory(), 3)

    assert WorkerRiskChange.objects.exists()

    refresh_worker_risks(campaign=campaign)

    assert not WorkerRiskChange.objects.exists()


def test_learning_again_without_changes_writes_nothing(campaign, django_assert_num_queries):
    write(campaign, WorkerFactory(), 3)
    learn(campaign=campaign)
    before = LearnedValues.objects.values().get()

    with django_assert_num_queries(5):
        learn(campaign=campaign)

    assert LearnedValues.objects.values().get() == before


def test_parameters_of_an_earlier_model_are_learned_anew(campaign):
    worker = WorkerFactory()
    write(campaign, worker, 3)
    learn(campaign=campaign)
    before = LearnedValues.objects.values("values").get()
    kept = worker_risk_of(campaign, worker)
    LearnedValues.objects.update(values={"form": 0, "usual": []})
    WorkerRisk.objects.update(low=0, high=1)

    learn(campaign=campaign)

    assert LearnedValues.objects.values("values").get() == before
    assert (worker_risk_of(campaign, worker).low, worker_risk_of(campaign, worker).high) == (
        kept.low,
        kept.high,
    )


verdicts = st.lists(st.sampled_from(["GOOD", "BAD", ""]), min_size=12, max_size=12)


@pytest.fixture
def work(campaign):
    """Four responses of each of three workers, in their order."""
    workers = WorkerFactory.create_batch(3)
    return [response.pk for worker in workers for response in write(campaign, worker, 4)]


@few_examples
@given(verdicts=verdicts, order=st.permutations(range(12)))
@pytest.mark.slow
def test_the_order_of_verdicts_does_not_change_a_figure(campaign, work, verdicts, order):
    figures = []
    for places in (range(12), order):
        with transaction.atomic():
            for place in places:
                if verdicts[place]:
                    judge(Response.objects.get(pk=work[place]), verdicts[place])
            learn(campaign=campaign)
            figures.append(list(campaign.worker_risks.order_by("worker").values(*FIGURES)))
            transaction.set_rollback(True)

    assert figures[0] == figures[1]


acts = st.lists(
    st.tuples(
        st.sampled_from(["write", "good", "bad", "exclude", "reinstate", "refresh", "learn"]),
        st.integers(0, 2),
    ),
    max_size=20,
)


@few_examples
@given(acts=acts)
def test_the_stored_counts_equal_those_of_a_recount(acts):
    campaign = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "policy": "propose"}})
    workers = WorkerFactory.create_batch(3)
    for act, number in acts:
        _do(campaign, workers[number], act)

    assert recount_worker_risks(campaign=campaign) == 0


@few_examples
@given(acts=acts)
def test_a_discarded_response_counts_again_only_when_it_was_restored(acts):
    campaign = CampaignFactory(config={"review": NO_REQUIRED_CHECKS})
    workers = WorkerFactory.create_batch(3)
    for act, number in acts:
        _do(campaign, workers[number], act)

    moves = Decision.objects.filter(act__in=[Act.DISCARD, Act.RESTORE]).order_by("pk")
    latest = dict(moves.values_list("response", "act"))
    for response in Response.objects.of(campaign):
        is_discarded = latest.get(response.pk) == Act.DISCARD
        assert (response.status == "DISCARDED") == is_discarded


def _do(campaign, worker, act):
    """Do a random action; it may be refused."""
    about = {"campaign": campaign, "worker": worker, "actor": None, "reason": "test", "at": NOON}
    left = worker.responses.filter(
        task__campaign=campaign, status="SUBMITTED", spot_check=None
    ).first()
    excluded = campaign.exclusions.in_force().filter(worker=worker).exists()
    if act == "write":
        write(campaign, worker, 3)
    elif act in ("good", "bad") and left:
        judge(left, act.upper())
    elif act == "exclude" and not excluded:
        exclude_worker(**about)
    elif act == "reinstate" and excluded:
        reinstate_worker(**about)
    elif act == "refresh":
        refresh_worker_risks(campaign=campaign)
    elif act == "learn":
        learn(campaign=campaign)


def test_a_recount_finds_and_mends_what_is_wrong(campaign):
    worker = WorkerFactory()
    write(campaign, worker, 3)
    learn(campaign=campaign)
    WorkerRisk.objects.update(good=2, risk=0.5)

    assert recount_worker_risks(campaign=campaign) == 1
    assert worker_risk_of(campaign, worker).good == 0
