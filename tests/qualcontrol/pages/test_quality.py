"""The quality page, with estimate, proposals, policy and reviewers, and the page of gold items."""

import pytest
from bs4 import BeautifulSoup

from annotate.kinds import KINDS
from qualcontrol.models import Gold, SpotCheck
from qualcontrol.pages.quality import policy_in_words
from qualcontrol.review.gold import seed_gold
from qualcontrol.review.judging import judge, judge_item
from qualcontrol.services.exclusions import (
    exclude_worker,
    pause_worker,
    propose_exclusion,
    record_appeal,
)
from qualcontrol.services.intake import review_submitted
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
    config,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reviewer")]


def submitted(campaign, number):
    responses = ResponseFactory.create_batch(number, task__campaign=campaign)
    review_submitted(campaign=campaign, responses=responses, at=NOON)
    return responses


def test_without_a_judged_random_check_there_is_no_estimate(client, campaign):
    submitted(campaign, 2)

    page = client.get("/review/pilot/quality/").content.decode()

    assert "No estimate yet" in page
    assert "No judgements yet." in page


def test_the_estimate_comes_with_its_interval_and_its_checks(client):
    campaign = CampaignFactory(slug="pilot", config={"review": {"share": 1}})
    reviewer = UserFactory(username="ada")
    for response in submitted(campaign, 20):
        judge(response=response, verdict="GOOD", reason="", reviewer=reviewer, at=NOON)

    answer = client.get("/review/pilot/quality/")

    estimate = answer.context["quality"].estimate
    page = answer.content.decode()
    assert (estimate.share, estimate.low, estimate.checks) == (0, 0, 20)
    assert f"<strong>{round(100 * estimate.high)}%</strong>" in page
    assert "from 20 random checks." in page
    assert '<th scope="row">ada</th><td class="number">20</td>' in page


def test_bad_verdicts_are_counted_by_their_reasons(client, campaign):
    verdicts = [("BAD", "too vague"), ("BAD", "a list"), ("BAD", "too vague"), ("GOOD", "")]
    for response, (verdict, reason) in zip(submitted(campaign, 4), verdicts, strict=True):
        judge(response=response, verdict=verdict, reason=reason, reviewer=None, at=NOON)

    answer = client.get("/review/pilot/quality/")

    quality = answer.context["quality"]
    assert quality.faults == [("too vague", 2), ("a list", 1)]
    assert quality.judged == 4
    assert "<li><span>too vague</span>" in answer.content.decode()


def test_an_open_decision_links_to_its_worker(client, campaign):
    proposed, paused, excluded = (response.worker for response in submitted(campaign, 3))
    propose_exclusion(campaign=campaign, worker=proposed, reason="many bad ones", at=NOON)
    reason = {"reason": "odd hours", "actor": None, "at": NOON}
    pause_worker(campaign=campaign, worker=paused, **reason)
    exclude_worker(campaign=campaign, worker=excluded, **reason)
    record_appeal(campaign=campaign, worker=excluded, text="I tried hard.", actor=None, at=NOON)

    page = BeautifulSoup(client.get("/review/pilot/quality/").content, "html.parser")

    for worker, text in ((proposed, "many bad ones"), (paused, "odd hours"), (excluded, "I tried")):
        [link] = page.select(f'a[href="/review/pilot/workers/{worker.pseudonym}/"]')
        assert f"{worker.pseudonym} {text}" in link.parent.get_text()


def test_the_start_of_a_long_appeal_is_shown_whatever_its_script(client, campaign):
    [response] = submitted(campaign, 1)
    exclude_worker(campaign=campaign, worker=response.worker, reason="lists", actor=None, at=NOON)
    text = "説明はすべて自分で書きました。" * 100
    record_appeal(campaign=campaign, worker=response.worker, text=text, actor=None, at=NOON)

    page = client.get("/review/pilot/quality/").content.decode()

    assert text[:199] + "…" in page
    assert text not in page


def test_the_page_takes_the_same_queries_for_many_workers(
    client, campaign, django_assert_max_num_queries
):
    for response in submitted(campaign, 12):
        pause_worker(campaign=campaign, worker=response.worker, reason="x", actor=None, at=NOON)

    with django_assert_max_num_queries(19):
        client.get("/review/pilot/quality/")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "first caption and a random 2% of all captions"),
        ({"first": 3}, "each worker's first 3 captions"),
        ({"first": 0}, "Required checks: a random 2% of all captions"),
        ({"share": 0.025}, "a random 2.5% of all captions"),
        ({"certainty": 0.995}, "excluded once risk reaches 99.5%"),
        ({"limit": 0.2}, "probability that more than 20% of a worker's captions are bad"),
        ({"certainty": 0.9}, "excluded once risk reaches 90%"),
        ({"policy": "propose"}, "proposed for exclusion once"),
        ({"policy": "propose"}, "A person decides."),
        ({"reviewers": 2}, "If they differ, a third reviewer decides"),
        ({"pause_certainty": 0.7}, "while risk is 70% or more"),
        ({"discard": "since_first_bad"}, "from the first bad one on"),
    ],
)
def test_the_policy_is_told_in_words(values, sentence):
    assert sentence in " ".join(policy_in_words(config(review=values), KINDS["caption"]))


def test_without_pauses_the_page_does_not_mention_them():
    assert "no new tasks" not in " ".join(
        policy_in_words(config(review={"pause_certainty": 1}), KINDS["caption"])
    )


def test_nothing_is_said_of_payments_where_nobody_is_paid():
    unpaid = config(workers={"who": "own"}, hit={"reward": "0.00"})

    assert "paid" not in " ".join(policy_in_words(unpaid, KINDS["caption"]))
    assert "still paid" in " ".join(policy_in_words(config(), KINDS["caption"]))


def test_a_caption_is_made_gold_and_judged_by_it(client, campaign, reviewer):
    (response,) = submitted(campaign, 1)
    fields = {"response": response.pk, "verdict": "BAD", "reason": "another image"}

    page = client.post("/review/pilot/gold/", fields, follow=True).content.decode()

    gold = Gold.objects.get()
    assert (gold.response, gold.verdict, gold.made_by) == (response, "BAD", reviewer)
    assert SpotCheck.objects.get().verdict == "BAD"
    assert response.caption.text in page


def test_a_judged_caption_is_picked_with_the_verdict_that_it_has(client, campaign, reviewer):
    first, second, other = submitted(campaign, 3)
    judge(response=first, verdict="BAD", reason="vague", reviewer=None, at=NOON)
    judge(response=second, verdict="GOOD", reason="", reviewer=None, at=NOON)

    page = BeautifulSoup(client.get("/review/pilot/gold/").content, "html.parser")
    client.post("/review/pilot/gold/", {"response": first.pk})

    offered = {each["value"] for each in page.select("input[name=response]")}
    assert offered == {str(first.pk), str(second.pk)}
    gold = Gold.objects.get()
    assert (gold.response, gold.verdict, gold.reason) == (first, "BAD", "vague")
    page = client.get(f"/review/pilot/gold/?response={other.pk}").content.decode()
    assert other.caption.text in page
    assert "This also records the verdict." in page
    assert str(other.pk) in client.get(f"/review/pilot/responses/{other.pk}/").content.decode()


@pytest.mark.parametrize(
    ("verdict", "problem"), [("", "Choose good or bad."), ("BAD", "Enter what is wrong with it.")]
)
def test_gold_without_a_verdict_or_reason_says_so(client, campaign, verdict, problem):
    (response,) = submitted(campaign, 1)
    fields = {"response": response.pk, "verdict": verdict}

    answer = client.post("/review/pilot/gold/", fields)

    assert problem in answer.content.decode()
    assert not Gold.objects.exists()


def test_the_images_to_choose_from_do_not_tell_where_others_made_up_a_caption(
    client, campaign, reviewer
):
    tasks = TaskFactory.create_batch(3, campaign=campaign)
    values = {"text": "Made up.", "reason": "wrong", "at": NOON}
    seed_gold(task=tasks[0], actor=UserFactory(), **values)
    seed_gold(task=tasks[1], actor=reviewer, **values)

    page = BeautifulSoup(client.get("/review/pilot/gold/").content, "html.parser")

    offered = {each["value"] for each in page.select("input[name=task]")}
    assert offered == {tasks[0].image.key, tasks[2].image.key}


@pytest.mark.parametrize("asked", ["0", "nothing", "9" * 30, "١"])
def test_a_response_that_is_none_is_not_offered(client, campaign, asked):
    assert client.get(f"/review/pilot/gold/?response={asked}&images=x").status_code == 200
    assert client.post("/review/pilot/gold/", {"response": asked}).status_code == 422


def test_other_images_are_offered_beside_the_same_response(client, campaign, monkeypatch):
    monkeypatch.setattr("qualcontrol.pages.gold.AT_ONCE", 1)
    TaskFactory.create_batch(2, campaign=campaign)

    page = BeautifulSoup(client.get("/review/pilot/gold/?response=1&page=1").content, "html.parser")

    assert page.find("a", string="Next images")["href"] == "?response=1&page=1&images=2"


def test_a_bad_caption_is_made_up(client, campaign):
    task = TaskFactory(campaign=campaign, image__key="0a1b")
    fields = {"task": "0a1b", "text": "Things are here.", "reason": "vague"}

    page = client.post("/review/pilot/gold/", fields, follow=True).content.decode()

    gold = Gold.objects.get()
    assert (gold.task, gold.text, gold.verdict) == (task, "Things are here.", "BAD")
    assert "made up" in page


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"response": "999", "verdict": "GOOD"}, "The campaign has none with this number."),
        ({"response": "one", "verdict": "GOOD"}, "The campaign has none with this number."),
        ({"task": "nope", "text": "A", "reason": "b"}, "The campaign has no image nope."),
        ({"task": "", "text": "", "reason": ""}, "Choose an image."),
        ({"response": ""}, "Choose one."),
    ],
)
def test_gold_that_cannot_be_made_says_why(client, campaign, fields, problem):
    answer = client.post("/review/pilot/gold/", fields)

    assert problem in answer.content.decode()
    assert not Gold.objects.exists()


def test_the_page_of_gold_says_how_it_was_judged(client, campaign, reviewer):
    task = TaskFactory(campaign=campaign)
    gold = seed_gold(task=task, text="Made up.", reason="wrong", actor=UserFactory(), at=NOON)
    judge_item(
        campaign=campaign,
        key=gold.key,
        verdict="GOOD",
        reason="",
        reviewer=reviewer,
        at=NOON,
    )

    page = client.get("/review/pilot/gold/")

    (row,) = page.context["page"]
    assert (row.judged, row.right) == (1, 0)


def test_the_page_of_gold_shows_nobody_what_they_are_still_to_judge(client, campaign, reviewer):
    task = TaskFactory(campaign=campaign)
    values = {"task": task, "reason": "wrong", "at": NOON}
    seed_gold(text="By somebody else.", actor=UserFactory(), **values)
    seed_gold(text="By the reviewer.", actor=reviewer, **values)

    page = client.get("/review/pilot/gold/").content.decode()

    assert "By the reviewer." in page
    assert "By somebody else." not in page
    assert "1 more item is hidden" in page
