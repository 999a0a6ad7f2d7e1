"""Gold items, with which reviewers are measured."""

import pytest
from django.urls import reverse

from annotate.models import Response
from qualcontrol.models import Decision, Gold, GoldAnswer, Judgement, SpotCheck
from qualcontrol.queries.quality_report import quality_report
from qualcontrol.review import judging, undoing
from qualcontrol.review.gold import mark_gold, seed_gold
from qualcontrol.review.items import item_by_key
from qualcontrol.review.review_queue import next_checks
from qualcontrol.services.errors import AlreadyJudged, NoGold, NothingToTakeBack, ReasonMissing
from qualcontrol.services.releasing import open_questions
from qualcontrol.services.withdrawals import withdraw_responses
from qualcontrol.services.worker_risks import learn
from tests.factories import NOON, CampaignFactory, TaskFactory, UserFactory, WorkerFactory
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, key_of, worker_risk_of, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "gold_every": 2}})


def seed(campaign, text="A purple cow drives a tram."):
    task = TaskFactory(campaign=campaign)
    return seed_gold(task=task, text=text, reason="made up", actor=UserFactory(), at=NOON)


def mark(response, verdict="GOOD", reason=""):
    return mark_gold(
        response=response, verdict=verdict, reason=reason, actor=UserFactory(), at=NOON
    )


def next_of(campaign, reviewer, count):
    learn(campaign=campaign)
    return next_checks(campaign=campaign, reviewer=reviewer, count=count, at=NOON)


def judge_item(item, verdict, reviewer):
    judging.judge_item(
        campaign=item.response.task.campaign,
        key=item.key,
        verdict=verdict,
        reason="odd",
        reviewer=reviewer,
        at=NOON,
    )


def test_a_made_up_caption_is_no_response_and_counts_nowhere(campaign):
    gold = seed(campaign)

    assert not Response.objects.exists()
    assert open_questions(campaign) == []
    gold.task.refresh_from_db()
    assert gold.task.places_left == gold.task.wanted


def test_gold_comes_at_an_interval_and_looks_like_any_other_check(campaign):
    write(campaign, WorkerFactory(), 4)
    gold = seed(campaign)

    items = next_of(campaign, UserFactory(), 3)

    assert [item.gold for item in items] == [None, gold, None, None]
    shown = items[1].response
    assert shown.caption.text == gold.text
    assert shown.worker.pseudonym == item_by_key(campaign, items[1].key).response.worker.pseudonym


def test_without_a_reviewer_no_gold_comes(campaign):
    write(campaign, WorkerFactory(), 4)
    seed(campaign)

    assert not any(item.gold for item in next_of(campaign, None, 4))


def test_an_answer_to_gold_tells_of_the_reviewer_and_changes_nothing_else(campaign):
    worker, careful, careless = WorkerFactory(), UserFactory(), UserFactory()
    response = write(campaign, worker, 4)[0]
    gold = [seed(campaign), mark(response)]
    decisions, before = Decision.objects.count(), worker_risk_of(campaign, worker).tally
    for reviewer, verdicts in ((careful, ["BAD", "GOOD"]), (careless, ["GOOD", "GOOD"])):
        for one, verdict in zip(gold, verdicts, strict=True):
            key = key_of(one.response or one)
            judge_item(item_by_key(campaign, key), verdict, reviewer)

    figures = {one.name: one for one in quality_report(campaign).reviewers}
    assert (figures[careful.username].gold_right, figures[careful.username].gold_of) == (2, 2)
    assert (figures[careless.username].gold_right, figures[careless.username].gold_of) == (1, 2)
    assert Decision.objects.count() == decisions
    assert worker_risk_of(campaign, worker).tally == before


def test_gold_is_answered_once_by_each_reviewer(campaign):
    gold, reviewer = seed(campaign), UserFactory()
    item = item_by_key(campaign, gold.key)
    judge_item(item, "BAD", reviewer)

    with pytest.raises(AlreadyJudged):
        judge_item(item, "GOOD", reviewer)

    assert GoldAnswer.objects.get().verdict == "BAD"


def test_nobody_is_shown_their_own_gold(campaign):
    write(campaign, WorkerFactory(), 4)
    gold = seed(campaign)

    assert not any(item.gold for item in next_of(campaign, gold.made_by, 4))


def test_nobody_is_shown_gold_that_they_judged_before_it_was_gold(campaign):
    response, *_ = write(campaign, WorkerFactory(), 6)
    reviewer = UserFactory()
    judge(response, "GOOD", reviewer)
    mark(response)

    assert response not in [item.response for item in next_of(campaign, reviewer, 4)]


def test_a_withdrawn_text_is_no_longer_gold(campaign):
    response, *_ = write(campaign, WorkerFactory(), 6)
    mark(response)
    reviewer = UserFactory()
    assert response in [item.response for item in next_of(campaign, reviewer, 4)]

    withdraw_responses(worker=response.worker, responses=[response.pk], actor=None, at=NOON)

    assert response not in [item.response for item in next_of(campaign, reviewer, 4)]


def test_a_withdrawn_text_is_neither_offered_nor_taken_as_gold(client, reviewer, campaign):
    withdrawn, kept = write(campaign, WorkerFactory(), 2)
    for response in (withdrawn, kept):
        judge(response, "GOOD")
    withdraw_responses(worker=withdrawn.worker, responses=[withdrawn.pk], actor=None, at=NOON)

    page = client.get(reverse("qualcontrol:gold", args=[campaign.slug]))

    assert page.context["judged"] == [kept]
    with pytest.raises(NoGold, match="withdrawn"):
        mark(withdrawn)


def test_marking_an_unjudged_response_judges_it(campaign):
    [response] = write(campaign, WorkerFactory())

    gold = mark(response, "BAD", "a list")

    response.refresh_from_db()
    assert (gold.verdict, response.status) == ("BAD", "DISCARDED")
    assert Judgement.objects.get().verdict == "BAD"


def test_gold_does_not_contradict_a_verdict_that_stands(campaign):
    [response] = write(campaign, WorkerFactory())
    judge(response, "GOOD")

    with pytest.raises(NoGold):
        mark(response, "BAD", "a list")

    assert not Gold.objects.exists()


def test_of_two_reviewers_one_alone_makes_no_gold():
    campaign = CampaignFactory(
        config={"review": {**NO_REQUIRED_CHECKS, "gold_every": 2, "reviewers": 2}}
    )
    [response] = write(campaign, WorkerFactory())

    with pytest.raises(NoGold, match="Two reviewers"):
        mark(response)

    assert not Gold.objects.exists()
    assert not Judgement.objects.exists()
    assert open_questions(campaign) == []


def test_a_response_that_two_reviewers_agree_on_may_be_gold():
    campaign = CampaignFactory(
        config={"review": {**NO_REQUIRED_CHECKS, "gold_every": 2, "reviewers": 2}}
    )
    [response] = write(campaign, WorkerFactory())
    judge(response, "GOOD", UserFactory())

    gold = mark(response)

    assert gold.verdict == SpotCheck.objects.get().verdict == "GOOD"
    assert open_questions(campaign) == []


def test_a_response_is_gold_once(campaign):
    [response] = write(campaign, WorkerFactory())
    mark(response)

    with pytest.raises(NoGold):
        mark(response)


def test_a_made_up_caption_needs_a_text_and_what_is_wrong_with_it(campaign):
    with pytest.raises(ReasonMissing):
        seed(campaign, text=" ")


def test_a_verdict_is_not_taken_back_from_what_is_marked_meanwhile(campaign, monkeypatch):
    """Otherwise the gold item would lack the verdict by which reviewers are measured."""
    ada, (response,) = UserFactory(), write(campaign, WorkerFactory())
    judge(response, "BAD", ada)
    lock = undoing.locked_response

    def lock_late(key):
        mark(response, "BAD", "a list")
        return lock(key)

    monkeypatch.setattr(undoing, "locked_response", lock_late)
    with pytest.raises(NothingToTakeBack):
        undoing.take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)

    assert SpotCheck.objects.get(response=response).verdict == "BAD"
    assert len(next_of(campaign, UserFactory(), 4)) == 0
