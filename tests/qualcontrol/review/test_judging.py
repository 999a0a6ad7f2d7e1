"""Judging with one reviewer or two, and disagreements."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from annotate.models import ResponseStatus
from qualcontrol.models import Act, Decision, Judgement, SpotCheck
from qualcontrol.queries.quality_report import agreement, quality_report
from qualcontrol.services.errors import AlreadyJudged
from qualcontrol.services.releasing import open_questions
from tests.factories import CampaignFactory, UserFactory, WorkerFactory
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, write

pytestmark = pytest.mark.django_db
VERDICTS = st.sampled_from(["GOOD", "BAD"])


@pytest.fixture
def campaign():
    return CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "reviewers": 2}})


@pytest.fixture
def response(campaign):
    return write(campaign, WorkerFactory())[0]


def state_of(response):
    response.refresh_from_db()
    return SpotCheck.objects.get(response=response).verdict, response.status


def test_any_submitted_response_can_be_judged():
    campaign = CampaignFactory(config={"review": NO_REQUIRED_CHECKS})
    [response] = write(campaign, WorkerFactory())

    judge(response, "GOOD")

    assert state_of(response) == ("GOOD", ResponseStatus.SUBMITTED)


def test_of_two_reviewers_one_alone_settles_nothing(response):
    judge(response, "BAD", UserFactory())

    assert state_of(response) == ("", ResponseStatus.SUBMITTED)


def test_the_log_tells_of_judgements_when_the_verdict_stands_and_not_before(response):
    one, other = UserFactory.create_batch(2)
    judge(response, "GOOD", one)
    assert not Decision.objects.exists()

    judge(response, "GOOD", other)

    assert list(Decision.objects.order_by("pk").values_list("act", "actor")) == [
        (Act.JUDGE_GOOD, one.pk),
        (Act.JUDGE_GOOD, other.pk),
    ]


def test_a_verdict_on_which_both_agree_stands(response):
    judge(response, "BAD", UserFactory())
    judge(response, "BAD", UserFactory())

    assert state_of(response) == ("BAD", ResponseStatus.DISCARDED)


@pytest.mark.parametrize(
    ("third", "status"), [("GOOD", ResponseStatus.SUBMITTED), ("BAD", ResponseStatus.DISCARDED)]
)
def test_a_third_reviewer_settles_what_two_disagree_on(response, third, status):
    judge(response, "GOOD", UserFactory())
    judge(response, "BAD", UserFactory())
    assert state_of(response) == ("", ResponseStatus.SUBMITTED)

    judge(response, third, UserFactory())

    assert state_of(response) == (third, status)


def test_nobody_judges_the_same_response_twice(response):
    reviewer = UserFactory()
    judge(response, "GOOD", reviewer)

    with pytest.raises(AlreadyJudged):
        judge(response, "BAD", reviewer)

    assert Judgement.objects.count() == 1


def test_a_settled_response_needs_no_more_judgements(response):
    for _ in range(2):
        judge(response, "GOOD", UserFactory())

    with pytest.raises(AlreadyJudged):
        judge(response, "GOOD", UserFactory())


def test_a_disputed_response_holds_a_release_up(campaign, response):
    judge(response, "GOOD", UserFactory())
    judge(response, "BAD", UserFactory())

    assert open_questions(campaign) == ["1 response needs another reviewer's judgement"]


def test_quality_tells_how_far_the_reviewers_agree(campaign):
    one, other = UserFactory.create_batch(2)
    for number, response in enumerate(write(campaign, WorkerFactory(), 4)):
        judge(response, "GOOD", one)
        judge(response, "BAD" if number == 0 else "GOOD", other)

    found = quality_report(campaign).agreement

    assert found.pairs == 4
    assert found.kappa == pytest.approx(0)
    assert found.alpha is not None


def test_agreement_is_as_computed_by_hand():
    # 4 of 6 the same; the first said bad in 3, the second in 3: kappa (4/6 - 1/2) / (1 - 1/2).
    said = ["GG", "GG", "BB", "BB", "GB", "BG"]
    words = {"G": "GOOD", "B": "BAD"}

    found = agreement([{"1": words[one], "2": words[other]} for one, other in said])

    assert found.pairs == 6
    assert found.kappa == pytest.approx(1 / 3)
    # Krippendorff's alpha of two: 1 - (n - 1) × disagreements / (bad × good), n = 12 values.
    assert found.alpha == pytest.approx(1 - 11 * 2 / (6 * 6))


@given(st.lists(st.tuples(VERDICTS, VERDICTS), min_size=1, max_size=20))
def test_kappa_is_that_of_scikit_learn(pairs):
    assume(len({verdict for pair in pairs for verdict in pair}) == 2)

    found = agreement([{"1": one, "2": other} for one, other in pairs])

    assert found.kappa == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))


@pytest.mark.parametrize("said", [[], [{"1": "GOOD"}], [{"1": "GOOD", "2": "GOOD"}] * 3])
def test_agreement_without_any_difference_to_measure_is_unknown(said):
    found = agreement(said)

    assert (found.kappa, found.alpha) == (None, None)
