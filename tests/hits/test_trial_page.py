"""The trial of new workers: the task page and the qualification of HITs."""

import pytest
from bs4 import BeautifulSoup

from annotate.models import Response
from hits.models import WorkerBarring
from hits.reconcile.reconciler import reconcile
from qualcontrol.review.judging import judge
from tests.factories import NOON, UserFactory
from tests.hits.framed_work import open_page, published, work
from tests.hits.marketplace_process import NotOffered

pytestmark = pytest.mark.django_db(transaction=True)

TRIAL = {"share": 0, "first": 1, "trial": 2, "approve_after_hours": 0}


@pytest.fixture
def campaign(marketplace, requester):
    return published(tasks=6, review=TRIAL)


def judge_first(verdict):
    judge(
        response=Response.objects.order_by("pk").first(),
        verdict=verdict,
        reason="vague",
        reviewer=UserFactory(),
        at=NOON,
    )


def text_of(page):
    return BeautifulSoup(page.content, "html.parser").select_one("main").get_text(" ", strip=True)


def test_a_new_worker_is_offered_no_more_until_the_first_answer_is_judged(
    client, marketplace, campaign
):
    [worker] = marketplace.fresh_workers(1)
    hit_type_id = campaign.hit_types.get().hit_type_id
    for number in range(2):
        work(client, worker, campaign, number)

    reconcile(campaign)
    with pytest.raises(NotOffered):
        worker.accept(hit_type_id)

    judge_first("GOOD")
    reconcile(campaign)
    assert b"<textarea" in open_page(client, worker.accept(hit_type_id)).content


def test_a_worker_who_has_a_hit_is_told_to_come_back_and_can_continue_at_once(
    client, marketplace, campaign
):
    [worker] = marketplace.fresh_workers(1)
    frames = [worker.accept(campaign.hit_types.get().hit_type_id)]
    text = text_of(open_page(client, frames[0]))
    assert "You can submit 2 before the check is done" in text
    worker.give_back(frames[0])
    for number in range(2):
        work(client, worker, campaign, number)
    held = worker.accept(campaign.hit_types.get().hit_type_id)
    reconcile(campaign)

    text = text_of(open_page(client, held))
    assert "Your first answers are being checked" in text
    assert "come back later" in text
    assert WorkerBarring.objects.get().is_wanted

    judge_first("GOOD")
    assert b"<textarea" in open_page(client, held).content


def test_a_page_that_is_open_already_can_be_submitted(client, marketplace, campaign):
    [worker] = marketplace.fresh_workers(1)
    work(client, worker, campaign)
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    open_page(client, frame)
    work(client, worker, campaign, 1)
    reconcile(campaign)

    assert b"<textarea" in open_page(client, frame).content


def test_a_worker_who_failed_the_trial_is_told_nothing_of_it(client, marketplace, campaign):
    [worker] = marketplace.fresh_workers(1)
    for number in range(2):
        work(client, worker, campaign, number)
    held = worker.accept(campaign.hit_types.get().hit_type_id)
    reconcile(campaign)
    judge_first("BAD")
    judge(
        response=Response.objects.counting().get(),
        verdict="BAD",
        reason="vague",
        reviewer=UserFactory(),
        at=NOON,
    )

    assert "No more work for you here" in text_of(open_page(client, held))
