"""A draft that is saved again: what it keeps, and what follows from its new settings."""

from decimal import Decimal
from unittest.mock import Mock

import pytest

from annotate.kinds import CampaignNotPossible
from annotate.models import Campaign, Response, Task
from annotate.services.drafts import begin_draft
from annotate.services.responses import close_or_reopen
from hits.services import lifecycle
from hits.services.lifecycle import ChangedTerms, add_to_budget, publish, save_draft, terms_of
from qualcontrol.models import Assessment, Copying, SpotCheck, WorkerRisk
from qualcontrol.review.gold import seed_gold
from qualcontrol.review.judging import judge
from qualcontrol.review.undoing import take_back
from qualcontrol.risk.estimate import random_order
from qualcontrol.services.exclusions import (
    count_unwelcome,
    exclude_worker,
    reinstate_worker,
)
from qualcontrol.services.flagging import assess
from qualcontrol.services.sampling import draw_spot_checks
from qualcontrol.services.worker_risks import learn, recount_worker_risks
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db


def saved_with(section, **values):
    """The only campaign, a draft, saved with these values in a section of its file."""
    row = Campaign.objects.get()
    file = {**row.config_json, section: {**row.config_json[section], **values}}
    draft = begin_draft(owner=UserFactory(), campaign=row, file=file, at=NOON)
    return save_draft(draft=draft, endpoint="local", at=NOON)


def test_a_draft_that_is_edited_keeps_what_was_added_to_its_budget():
    campaign = CampaignFactory(status="DRAFT")
    add_to_budget(campaign=campaign, amount=Decimal(500), actor=None, at=NOON)

    saved = saved_with("instructions", intro="Look closely.")

    assert saved.budget == saved.config.budget == 1500


def test_a_draft_with_gold_items_keeps_its_tasks():
    campaign = CampaignFactory(status="DRAFT", tasks=1)
    made_up = {"text": "A dog.", "reason": "vague", "actor": UserFactory(), "at": NOON}
    seed_gold(task=campaign.tasks.get(), **made_up)

    with pytest.raises(CampaignNotPossible, match="gold items"):
        saved_with("priming", share=0)

    assert campaign.tasks.count() == 1


@pytest.mark.parametrize("verdict", ["GOOD", "BAD"])
def test_a_draft_that_wants_one_reviewer_takes_the_judgement_that_there_is(verdict):
    review = {"share": 0, "first": 0, "reviewers": 2}
    response = ResponseFactory(
        task__campaign=CampaignFactory(status="DRAFT", config={"review": review})
    )
    judge(response=response, verdict=verdict, reason="vague", reviewer=UserFactory(), at=NOON)
    assert not SpotCheck.objects.get().verdict

    saved_with("review", reviewers=1)

    response.refresh_from_db()
    assert SpotCheck.objects.get().verdict == verdict
    assert (response.status == "DISCARDED") == (verdict == "BAD")


@pytest.fixture
def half_saved(monkeypatch):
    """Saves a draft with this judgement that wants one reviewer now, and is killed on the way."""

    def make(verdict):
        review = {"share": 0, "first": 0, "reviewers": 2}
        campaign = CampaignFactory(status="DRAFT", config={"review": review})
        response = ResponseFactory(task__campaign=campaign)
        judge(response=response, verdict=verdict, reason="vague", reviewer=UserFactory(), at=NOON)
        with monkeypatch.context() as patch:
            patch.setattr(lifecycle, "resolve_judged", Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                saved_with("review", reviewers=1)
        return Campaign.objects.get()

    account = Mock(balance=lambda: Decimal(100))
    monkeypatch.setattr(lifecycle, "marketplace_of", lambda _campaign: account)
    return make


def test_a_draft_whose_save_was_killed_has_its_verdicts_when_it_is_published(half_saved):
    campaign = half_saved("GOOD")

    publish(campaign=campaign, actor=None, at=NOON)

    assert SpotCheck.objects.get().verdict == "GOOD"
    assert Campaign.objects.get().status == "RUNNING"


def test_such_a_draft_is_not_published_at_a_cost_that_its_verdicts_change(half_saved):
    campaign = half_saved("BAD")

    with pytest.raises(ChangedTerms):
        publish(campaign=campaign, actor=None, at=NOON)

    assert SpotCheck.objects.get().verdict == "BAD"
    assert Response.objects.get().status == "DISCARDED"


def test_a_refused_publication_of_such_a_draft_decides_nothing(half_saved):
    campaign = half_saved("BAD")
    seen = terms_of(campaign)._replace(budget=campaign.budget + 1)

    with pytest.raises(ChangedTerms):
        publish(campaign=campaign, actor=None, at=NOON, seen=seen)

    assert not SpotCheck.objects.get().verdict
    assert Response.objects.get().status == "SUBMITTED"


@pytest.fixture
def excluded():
    """The responses, in order, of a worker who is excluded from a draft; the third one is bad."""

    def make(discard):
        review = {"share": 0, "first": 0, "discard": discard}
        campaign = CampaignFactory(status="DRAFT", config={"review": review})
        tasks, worker = TaskFactory.create_batch(4, campaign=campaign), WorkerFactory()
        responses = [ResponseFactory(task=task, worker=worker) for task in tasks]
        assess(campaign=campaign, responses=responses)
        bad = {"verdict": "BAD", "reason": "vague", "reviewer": None, "at": NOON}
        judge(response=responses[2], **bad)
        exclude_worker(campaign=campaign, worker=worker, reason="vague", actor=None, at=NOON)
        return responses

    return make


@pytest.mark.parametrize(
    ("before", "after", "left"), [("since_first_bad", "all", 0), ("all", "since_first_bad", 2)]
)
def test_an_exclusion_discards_what_the_changed_draft_says(excluded, before, after, left):
    responses = excluded(before)

    campaign = saved_with("review", discard=after)

    assert list(Response.objects.counting().order_by("pk")) == responses[:left]
    assert count_unwelcome(campaign) == 0


def test_risks_are_those_of_the_changed_drafts_limit(excluded):
    excluded("all")
    learn(campaign=Campaign.objects.get())
    before = WorkerRisk.objects.get().risk

    campaign = saved_with("review", limit=0.5)

    assert WorkerRisk.objects.get().risk < before
    assert recount_worker_risks(campaign=campaign) == 0


def test_a_draft_that_wants_fewer_first_checks_drops_those_of_what_was_imported():
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 0, "first": 3}})
    tasks, worker = TaskFactory.create_batch(5, campaign=campaign), WorkerFactory()
    responses = [ResponseFactory(task=task, worker=worker) for task in tasks]
    draw_spot_checks(campaign=campaign, responses=responses, at=NOON)

    saved_with("review", first=1)

    assert [check.response for check in SpotCheck.objects.filter(is_first=True)] == responses[:1]


@pytest.mark.parametrize("verdict", ["GOOD", "BAD"])
def test_a_draft_that_wants_no_first_checks_has_none_after_a_verdict_is_taken_back(verdict):
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 0, "first": 1}})
    response, ada = ResponseFactory(task__campaign=campaign), UserFactory()
    draw_spot_checks(campaign=campaign, responses=[response], at=NOON)
    judge(response=response, verdict=verdict, reason="vague", reviewer=ada, at=NOON)

    saved_with("review", first=0)
    take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)

    assert not SpotCheck.objects.exists()


def test_a_draft_that_wants_fewer_first_checks_has_them_after_a_worker_is_reinstated():
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 0, "first": 2}})
    tasks, worker = TaskFactory.create_batch(2, campaign=campaign), WorkerFactory()
    responses = [ResponseFactory(task=task, worker=worker) for task in tasks]
    draw_spot_checks(campaign=campaign, responses=responses, at=NOON)
    about = {"campaign": campaign, "worker": worker, "actor": None, "at": NOON}
    exclude_worker(**about, reason="careless")

    saved_with("review", first=1)
    reinstate_worker(**about, reason="a mistake")

    assert [check.response for check in SpotCheck.objects.open()] == responses[:1]


def test_a_draft_that_wants_a_trial_drops_the_first_checks_beyond_those_that_it_wants():
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 0, "first": 3}})
    tasks, worker = TaskFactory.create_batch(3, campaign=campaign), WorkerFactory()
    responses = [ResponseFactory(task=task, worker=worker) for task in tasks]
    draw_spot_checks(campaign=campaign, responses=responses, at=NOON)

    saved_with("review", first=1, trial=3)

    assert [check.response for check in SpotCheck.objects.all()] == responses[:1]


def test_a_draft_that_wants_more_first_checks_takes_those_that_are_drawn_by_chance():
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 0, "first": 1}})
    tasks, worker = TaskFactory.create_batch(4, campaign=campaign), WorkerFactory()
    responses = [ResponseFactory(task=task, worker=worker) for task in tasks]
    draw_spot_checks(campaign=campaign, responses=responses, at=NOON)
    SpotCheckFactory(response=responses[1])

    saved_with("review", first=3)

    firsts = SpotCheck.objects.filter(is_first=True).order_by("response")
    assert [check.response for check in firsts] == responses[:3]


def test_a_draft_that_wants_more_first_checks_takes_those_that_were_found_bad():
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 0, "first": 1}})
    tasks, worker = TaskFactory.create_batch(4, campaign=campaign), WorkerFactory()
    responses = [ResponseFactory(task=task, worker=worker) for task in tasks]
    draw_spot_checks(campaign=campaign, responses=responses, at=NOON)
    assess(campaign=campaign, responses=responses)
    for response in responses[:2]:
        judge(response=response, verdict="BAD", reason="vague", reviewer=None, at=NOON)

    saved_with("review", first=2, trial=3)

    firsts = SpotCheck.objects.filter(is_first=True).order_by("response")
    assert [check.response for check in firsts] == responses[:3]
    assert campaign.pauses.in_force().filter(worker=worker).exists()


def test_a_draft_that_wants_a_trial_takes_the_rest_of_a_worker_with_a_bad_first_response():
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 1, "first": 1}})
    tasks, worker = TaskFactory.create_batch(4, campaign=campaign), WorkerFactory()
    responses = [ResponseFactory(task=task, worker=worker) for task in tasks]
    draw_spot_checks(campaign=campaign, responses=responses, at=NOON)
    judge(response=responses[0], verdict="BAD", reason="vague", reviewer=None, at=NOON)

    saved_with("review", trial=3)

    firsts = SpotCheck.objects.filter(is_first=True).order_by("response")
    assert [check.response for check in firsts] == responses[:3]


@pytest.mark.parametrize(("quorum", "missing"), [(5, 9), (1, 0)])
def test_a_draft_with_another_quorum_opens_or_closes_imported_images(quorum, missing):
    rules = {"cannot_describe": ["Too dark"], "cannot_describe_quorum": 2}
    campaign = CampaignFactory(status="DRAFT", config={"captions": rules})
    task = TaskFactory(campaign=campaign, wanted=11)
    ResponseFactory.create_batch(2, task=task, cannot_describe="Too dark")
    Task.objects.update(answers_missing=9, places_left=9)
    close_or_reopen([task.pk])

    saved_with("captions", cannot_describe_quorum=quorum)

    task.refresh_from_db()
    assert task.answers_missing == missing


@pytest.mark.parametrize("answer", [{"text": "Too dark"}, {"cannot_describe": "Too bright"}])
def test_a_draft_keeps_the_reasons_that_imported_answers_give(answer):
    rules = {"cannot_describe": ["Too bright"]}
    campaign = CampaignFactory(status="DRAFT", config={"captions": rules})
    ResponseFactory(task=TaskFactory(campaign=campaign), **answer)
    ResponseFactory(task=TaskFactory(campaign=campaign), text="A dog sleeps.")

    with pytest.raises(CampaignNotPossible, match="import them there"):
        saved_with("captions", cannot_describe=["Too dark"])
    saved = saved_with("captions", cannot_describe=["Too bright", "Too blurred"])

    assert saved.config.captions.cannot_describe == ("Too bright", "Too blurred")


def test_a_draft_with_another_share_draws_the_checks_of_what_was_imported_into_it():
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 0.2, "first": 0}})
    task = TaskFactory(campaign=campaign, wanted=30)
    responses = [ResponseFactory(task=task) for _ in range(30)]
    draw_spot_checks(campaign=campaign, responses=responses, at=NOON)
    order = {one.pk: random_order(campaign.config.seed, one.pk) for one in responses}
    last = max(responses, key=lambda one: order[one.pk])

    def drawn_by(share):
        row = Campaign.objects.get()
        file = {**row.config_json, "review": {**row.config_json["review"], "share": share}}
        draft = begin_draft(owner=UserFactory(), campaign=row, file=file, at=NOON)
        assert save_draft(draft=draft, endpoint="local", at=NOON) == row
        return set(SpotCheck.objects.filter(is_random=True).values_list("response", flat=True))

    assert drawn_by(1.0) == set(order)
    judge(response=last, verdict="GOOD", reason="", reviewer=None, at=NOON)
    assert drawn_by(0.3) == {one for one in order if order[one] < 0.3}
    assert SpotCheck.objects.get(response=last).verdict == "GOOD"
    assert SpotCheck.objects.open().count() == len([one for one in order if order[one] < 0.3])


def test_a_draft_with_other_rules_flags_again_what_was_imported_into_it():
    campaign = CampaignFactory(status="DRAFT", config={"captions": {"least_words": 3}})
    tasks = TaskFactory.create_batch(2, campaign=campaign, wanted=11)
    first = ResponseFactory(task=tasks[0], text="A brown dog sleeps.")
    theirs = [ResponseFactory(task=task, text="A cat sleeps on a red sofa.") for task in tasks]
    assess(campaign=campaign, responses=[first, *theirs])
    learn(campaign=campaign)
    copied = Assessment.objects.get(response=theirs[1])
    assert "too_short" not in Assessment.objects.get(response=first).codes

    saved_with("captions", least_words=5)

    assert "too_short" in Assessment.objects.get(response=first).codes
    again = Assessment.objects.get(response=theirs[1])
    assert (again.flags, again.position) == (copied.flags, copied.position)
    assert Copying.objects.get().original == theirs[0]
    risk = WorkerRisk.objects.get(worker=first.worker)
    assert "too_short" in risk.tally[0][1]
    assert not recount_worker_risks(campaign=campaign)
