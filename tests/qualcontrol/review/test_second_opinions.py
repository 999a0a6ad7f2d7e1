"""Second opinions: who is shown the response, and how the verdicts combine."""

import pytest
from django.db.utils import IntegrityError
from django.urls import reverse
from django.utils import timezone

from accounts.services.api_tokens import issue_token
from annotate.models import ResponseStatus
from qualcontrol.models import Reservation, SecondOpinion, SpotCheck
from qualcontrol.review.gold import mark_gold
from qualcontrol.review.items import ASKED
from qualcontrol.review.review_queue import next_checks
from qualcontrol.review.second_opinions import ask_second_opinion, withdraw_question
from qualcontrol.services.errors import AlreadyJudged, CannotAsk
from qualcontrol.services.worker_risks import learn
from tests.factories import NOON, CampaignFactory, UserFactory, WorkerFactory
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, write
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return CampaignFactory(slug="pilot", config={"review": NO_REQUIRED_CHECKS})


@pytest.fixture
def responses(campaign):
    return write(campaign, WorkerFactory(), 3)


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


def next_of(campaign, reviewer):
    learn(campaign=campaign)
    return next_checks(campaign=campaign, reviewer=reviewer, count=10, at=NOON)


def verdict_of(response):
    response.refresh_from_db()
    return SpotCheck.objects.get(response=response).verdict, response.status


def test_others_are_shown_it_first_with_who_asks(campaign, responses, asker, other):
    ask(responses[2], asker, "Is this a tram?")

    first, *rest = next_of(campaign, other)

    assert (first.response, first.cause) == (responses[2], ASKED)
    assert (first.asked.asked_by, first.asked.question) == (asker, "Is this a tram?")
    assert [item.asked for item in rest] == [None, None]


def test_it_leaves_the_queue_of_who_asks_until_another_reviewer_has_judged(
    campaign, responses, asker, other
):
    assert len(next_of(campaign, asker)) == 3
    ask(responses[0], asker)
    assert responses[0] not in [item.response for item in next_of(campaign, asker)]
    Reservation.objects.all().delete()

    judge(responses[0], "GOOD", other)

    assert next_of(campaign, asker)[0].response == responses[0]


@pytest.mark.parametrize("verdict", ["GOOD", "BAD"])
def test_one_opinion_settles_nothing_and_two_that_agree_do(responses, asker, other, verdict):
    ask(responses[0], asker)

    judge(responses[0], verdict, other)
    assert verdict_of(responses[0]) == ("", ResponseStatus.SUBMITTED)

    judge(responses[0], verdict, asker)
    assert verdict_of(responses[0])[0] == verdict


def test_a_third_reviewer_decides_between_two(responses, asker, other):
    ask(responses[0], asker)
    judge(responses[0], "GOOD", other)
    judge(responses[0], "BAD", asker)
    assert verdict_of(responses[0])[0] == ""

    judge(responses[0], "BAD", UserFactory())

    assert verdict_of(responses[0]) == ("BAD", ResponseStatus.DISCARDED)


def test_other_responses_need_one_verdict(responses, asker, other):
    ask(responses[0], asker)

    judge(responses[1], "GOOD", other)

    assert verdict_of(responses[1])[0] == "GOOD"


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


def test_what_is_judged_or_discarded_needs_no_opinion(responses, asker, other):
    judge(responses[0], "GOOD", other)
    judge(responses[1], "BAD", other)

    for response in responses[:2]:
        with pytest.raises(AlreadyJudged):
            ask(response, asker)


def test_without_another_reviewer_in_the_team_nobody_is_asked(responses, asker):
    UserFactory(team__role="VIEWER")

    with pytest.raises(CannotAsk, match="Invite another reviewer"):
        ask(responses[0], asker)


def test_a_request_is_withdrawn_until_somebody_has_judged(campaign, responses, asker, other):
    ask(responses[0], asker)
    withdraw_question(campaign=campaign, key=responses[0].key, at=NOON)
    judge(responses[0], "GOOD", other)
    assert verdict_of(responses[0])[0] == "GOOD"

    ask(responses[1], asker)
    judge(responses[1], "GOOD", other)
    with pytest.raises(CannotAsk, match="has judged"):
        withdraw_question(campaign=campaign, key=responses[1].key, at=NOON)


def test_gold_is_accepted_and_shown_to_nobody(asker, other):
    campaign = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "gold_every": 1}})
    gold, _ = write(campaign, WorkerFactory(), 2)
    mark_gold(response=gold, verdict="GOOD", reason="", actor=None, at=NOON)

    for reviewer in (asker, UserFactory()):
        assert gold in [item.response for item in next_of(campaign, reviewer)]
        ask(gold, reviewer)
        assert gold not in [item.response for item in next_of(campaign, reviewer)]
        Reservation.objects.all().delete()

    assert all(item.asked is None for item in next_of(campaign, other))


@pytest.mark.django_db(transaction=True)
def test_of_requests_at_once_one_is_stored(campaign, asker):
    [response] = write(campaign, WorkerFactory())
    reviewers = [asker, *UserFactory.create_batch(3)]

    def act(reviewer):
        try:
            ask(response, reviewer)
        except CannotAsk:
            return False
        return True

    assert sum(at_once(act, reviewers)) == 1
    assert SecondOpinion.objects.count() == 1


def test_the_pages_ask_show_and_withdraw(client, campaign, responses, asker, other):
    learn(campaign=campaign)
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


@pytest.mark.parametrize("question", ["x" * 301, "a\0b"])
def test_a_wrong_question_asks_nobody(client, responses, asker, other, question):
    client.force_login(asker)
    address = reverse("qualcontrol:ask", args=["pilot", responses[0].key])

    assert client.post(address, {"question": question}).status_code == 302
    assert not SecondOpinion.objects.exists()


def test_the_api_asks_shows_and_withdraws(client, campaign, responses, asker, other):
    learn(campaign=campaign)
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
