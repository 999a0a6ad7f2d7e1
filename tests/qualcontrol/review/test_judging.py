"""Judging with one reviewer or two, and disagreements."""

from importlib import import_module

import pytest
from django.db.utils import IntegrityError
from django.urls import reverse
from django.utils import timezone
from hypothesis import assume, given
from hypothesis import strategies as st

from accounts.services.api_tokens import issue_token
from annotate.models import ResponseStatus
from hits.pages.next_steps import steps_of_reviewers
from qualcontrol.models import Act, Decision, Judgement, Reservation, SecondOpinion, SpotCheck
from qualcontrol.queries.decision_log import visible_to_reviewers
from qualcontrol.queries.quality_report import agreement, quality_report
from qualcontrol.review.gold import mark_gold, seed_gold
from qualcontrol.review.items import ASKED
from qualcontrol.review.judging import ask_second_opinion, withdraw_question
from qualcontrol.review.review_queue import next_checks
from qualcontrol.review.undoing import take_back
from qualcontrol.services.discards import discard_and_log
from qualcontrol.services.errors import AlreadyJudged, CannotAsk
from qualcontrol.services.releasing import open_questions
from qualcontrol.services.worker_risks import learn
from tests.factories import NOON, CampaignFactory, UserFactory, WorkerFactory
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, write
from tests.threads import at_once

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

    # The first response, which the reviewers disagree about, has no verdict yet.
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

    # Takes two seconds to load.
    cohen_kappa_score = import_module("sklearn.metrics").cohen_kappa_score
    assert found.kappa == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))


@pytest.mark.parametrize("said", [[], [{"1": "GOOD"}], [{"1": "GOOD", "2": "GOOD"}] * 3])
def test_agreement_without_any_difference_to_measure_is_unknown(said):
    found = agreement(said)

    assert (found.kappa, found.alpha) == (None, None)


@pytest.fixture
def pilot():
    return CampaignFactory(slug="pilot", config={"review": NO_REQUIRED_CHECKS})


@pytest.fixture
def responses(pilot):
    return write(pilot, WorkerFactory(), 3)


@pytest.fixture
def asker():
    return UserFactory(username="ada")


@pytest.fixture
def other():
    return UserFactory(username="bob")


def ask(response, reviewer, question=""):
    ask_second_opinion(
        campaign=response.task.campaign,
        key=response.key,
        question=question,
        reviewer=reviewer,
        at=NOON,
    )


def next_of(pilot, reviewer):
    learn(campaign=pilot)
    return next_checks(campaign=pilot, reviewer=reviewer, count=10, at=NOON)


def test_others_are_shown_it_first_with_who_asks(pilot, responses, asker, other):
    ask(responses[2], asker, "Is this a tram?")

    first, *rest = next_of(pilot, other)

    assert (first.response, first.cause) == (responses[2], ASKED)
    assert (first.asked.asked_by, first.asked.question) == (asker, "Is this a tram?")
    assert [item.asked for item in rest] == [None, None]


def test_it_leaves_the_queue_of_who_asks_until_another_reviewer_has_judged(
    pilot, responses, asker, other
):
    assert len(next_of(pilot, asker)) == 3
    ask(responses[0], asker)
    assert responses[0] not in [item.response for item in next_of(pilot, asker)]
    Reservation.objects.all().delete()

    judge(responses[0], "GOOD", other)

    assert next_of(pilot, asker)[0].response == responses[0]


@pytest.mark.parametrize("verdict", ["GOOD", "BAD"])
def test_one_opinion_settles_nothing_and_two_that_agree_do(responses, asker, other, verdict):
    ask(responses[0], asker)

    judge(responses[0], verdict, other)
    assert state_of(responses[0]) == ("", ResponseStatus.SUBMITTED)

    judge(responses[0], verdict, asker)
    assert state_of(responses[0])[0] == verdict


def test_a_third_reviewer_decides_between_two(responses, asker, other):
    ask(responses[0], asker)
    judge(responses[0], "GOOD", other)
    judge(responses[0], "BAD", asker)
    assert state_of(responses[0])[0] == ""

    judge(responses[0], "BAD", UserFactory())

    assert state_of(responses[0]) == ("BAD", ResponseStatus.DISCARDED)


def test_other_responses_need_one_verdict(responses, asker, other):
    ask(responses[0], asker)

    judge(responses[1], "GOOD", other)

    assert state_of(responses[1])[0] == "GOOD"


def test_it_is_asked_once(responses, asker, other):
    ask(responses[0], asker)

    for reviewer in (asker, other):
        with pytest.raises(CannotAsk, match="already"):
            ask(responses[0], reviewer)
    with pytest.raises(IntegrityError):
        SecondOpinion.objects.create(
            campaign=responses[0].task.campaign,
            key=responses[1].key,
            response=responses[0],
            asked_by=other,
            asked_at=NOON,
        )


def test_a_judged_or_discarded_response_needs_no_opinion(responses, asker, other):
    judge(responses[0], "GOOD", other)
    judge(responses[1], "BAD", other)

    for response in responses[:2]:
        with pytest.raises(AlreadyJudged):
            ask(response, asker)


def test_a_request_holds_a_release_up_and_waits_for_review(pilot, responses, asker, other):
    ask(responses[0], asker)

    assert open_questions(pilot) == ["1 response needs another reviewer's judgement"]
    assert [step.sentence for step in steps_of_reviewers(pilot.team)] == [
        "pilot: 1 caption needs review."
    ]

    judge(responses[0], "GOOD", other)
    assert open_questions(pilot) == ["1 response needs another reviewer's judgement"]
    ask(responses[1], asker)
    assert open_questions(pilot) == ["2 responses need another reviewer's judgement"]

    for response, reviewer in ((0, asker), (1, other), (1, asker)):
        judge(responses[response], "GOOD", reviewer)
    assert open_questions(pilot) == []
    assert steps_of_reviewers(pilot.team) == []


@pytest.mark.parametrize("is_discarded", [True, False])
def test_a_request_that_is_over_holds_no_release_up(pilot, responses, asker, other, is_discarded):
    ask(responses[0], asker)

    if is_discarded:
        discard_and_log(responses[:1], campaign=pilot, reason="r", actor=asker, at=NOON)
    else:
        withdraw_question(campaign=pilot, key=responses[0].key, at=NOON)

    assert open_questions(pilot) == []


def test_without_another_reviewer_in_the_team_nobody_is_asked(responses, asker):
    UserFactory(team__role="VIEWER")

    with pytest.raises(CannotAsk, match="Invite another reviewer"):
        ask(responses[0], asker)


def test_a_request_is_withdrawn_until_somebody_has_judged(pilot, responses, asker, other):
    ask(responses[0], asker)
    withdraw_question(campaign=pilot, key=responses[0].key, at=NOON)
    judge(responses[0], "GOOD", other)
    assert state_of(responses[0])[0] == "GOOD"

    ask(responses[1], asker)
    judge(responses[1], "GOOD", other)
    with pytest.raises(CannotAsk, match="has judged"):
        withdraw_question(campaign=pilot, key=responses[1].key, at=NOON)


def test_gold_is_accepted_and_shown_to_nobody(asker, other):
    pilot = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "gold_every": 1}})
    gold, _ = write(pilot, WorkerFactory(), 2)
    mark_gold(response=gold, verdict="GOOD", reason="", actor=None, at=NOON)

    for reviewer in (asker, UserFactory()):
        assert gold in [item.response for item in next_of(pilot, reviewer)]
        ask(gold, reviewer)
        assert gold not in [item.response for item in next_of(pilot, reviewer)]
        Reservation.objects.all().delete()

    assert all(item.asked is None for item in next_of(pilot, other))


@pytest.mark.parametrize("is_made_up", [False, True])
def test_a_request_about_gold_is_withdrawn_like_any_other(asker, other, is_made_up):
    pilot = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "gold_every": 1}})
    marked, _ = write(pilot, WorkerFactory(), 2)
    by = {"reason": "wrong", "actor": other, "at": NOON}
    gold = (
        seed_gold(task=marked.task, text="A cow drives a tram.", **by)
        if is_made_up
        else mark_gold(response=marked, verdict="BAD", **by)
    )
    key = gold.key if is_made_up else marked.key
    with pytest.raises(CannotAsk, match="No second opinion"):
        withdraw_question(campaign=pilot, key=key, at=NOON)
    ask_second_opinion(campaign=pilot, key=key, question="", reviewer=asker, at=NOON)
    assert key not in [item.key for item in next_of(pilot, asker)]

    withdraw_question(campaign=pilot, key=key, at=NOON)

    assert key in [item.key for item in next_of(pilot, asker)]


@pytest.mark.django_db(transaction=True)
def test_of_requests_at_once_one_is_stored(pilot, asker):
    [response] = write(pilot, WorkerFactory())
    reviewers = [asker, *UserFactory.create_batch(3)]

    def act(reviewer):
        try:
            ask(response, reviewer)
        except CannotAsk:
            return False
        return True

    assert sum(at_once(act, reviewers)) == 1
    assert SecondOpinion.objects.count() == 1


def test_the_pages_ask_show_and_withdraw(client, pilot, responses, asker, other):
    learn(campaign=pilot)
    address = reverse("qualcontrol:ask", args=["pilot", responses[0].key])
    client.force_login(asker)
    client.get("/review/pilot/")
    asked = client.post(address, {"question": "A <tram>?", "ahead": "", "skip": ""})
    assert str(responses[0].key) not in asked.content.decode()

    client.force_login(other)
    page = client.get("/review/pilot/").content.decode()
    assert "ada asks for a second opinion: “A &lt;tram&gt;?”" in page

    own_page = reverse("qualcontrol:response", args=["pilot", responses[0].pk])
    assert "Withdraw the request" in client.get(own_page).content.decode()
    client.post(address, {"withdraw": "yes"})
    assert "Withdraw the request" not in client.get(own_page).content.decode()


def test_a_question_that_is_too_long_asks_nobody(client, responses, asker, other):
    client.force_login(asker)
    address = reverse("qualcontrol:ask", args=["pilot", responses[0].key])

    assert client.post(address, {"question": "x" * 301}).status_code == 302
    assert not SecondOpinion.objects.exists()


def test_the_api_asks_shows_and_withdraws(client, pilot, responses, asker, other):
    learn(campaign=pilot)
    address = f"/api/campaigns/pilot/spot-checks/{responses[0].key}/second-opinion/"

    def send(user, method, path, **fields):
        _, text = issue_token(user=user, at=timezone.now())
        call = getattr(client, method)
        headers = {"Authorization": f"Token {text}"}
        return call(path, fields, content_type="application/json", headers=headers)

    assert send(asker, "post", address, question="A tram?").status_code == 201
    assert send(asker, "post", address).status_code == 409
    item, *_ = send(other, "post", "/api/campaigns/pilot/spot-checks/next/", count=5).json()
    assert (item["asked_by"], item["question"]) == ("ada", "A tram?")
    assert send(other, "delete", address).status_code == 204
    assert send(other, "delete", address).status_code == 409


def test_a_judgement_does_not_make_the_opposite_one_of_an_earlier_file_the_verdict(response):
    """The draft wanted two judgements, and was changed to want one."""
    ada, bob, carol = UserFactory.create_batch(3)
    judge(response, "BAD", ada)
    campaign = response.task.campaign
    campaign.config_json["review"]["reviewers"] = 1
    campaign.save()

    judge(response, "GOOD", bob)
    assert state_of(response) == ("", ResponseStatus.SUBMITTED)
    judge(response, "GOOD", carol)

    assert state_of(response) == ("GOOD", ResponseStatus.SUBMITTED)


def test_a_judgement_is_logged_once_although_another_is_taken_back(response):
    ada, bob = UserFactory.create_batch(2)
    judge(response, "GOOD", ada)
    judge(response, "GOOD", bob)
    take_back(campaign=response.task.campaign, key=response.key, reviewer=bob, at=NOON)

    judge(response, "GOOD", bob, at=timezone.now())

    logged = Decision.objects.filter(response=response).order_by("pk").values_list("act", "actor")
    assert [*logged] == [
        (Act.JUDGE_GOOD, ada.pk),
        (Act.JUDGE_GOOD, bob.pk),
        (Act.TAKE_BACK, bob.pk),
        (Act.JUDGE_GOOD, bob.pk),
    ]


def test_the_log_does_not_tell_a_judgement_that_is_left_after_another_is_taken_back(response):
    ada, bob = UserFactory.create_batch(2)
    judge(response, "BAD", ada)
    judge(response, "BAD", bob)
    campaign = response.task.campaign

    take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)

    assert state_of(response) == ("", ResponseStatus.SUBMITTED)
    assert not visible_to_reviewers(campaign.decisions.all()).exists()
    judge(response, "BAD", ada)
    shown = visible_to_reviewers(campaign.decisions.all()).values_list("act", flat=True)
    assert sorted(shown) == sorted(campaign.decisions.values_list("act", flat=True))
