"""The pages of workers, their actions, and the decision log."""

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse
from django.utils.html import escape

from accounts.pages.lists import PER_PAGE
from annotate.models import ResponseStatus
from corpora.wording import percent, probability
from qualcontrol.models import Act, Appeal, Decision
from qualcontrol.review.judging import judge
from qualcontrol.services.exclusions import (
    exclude_worker,
    pause_worker,
    propose_exclusion,
    record_appeal,
)
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.worker_risks import refresh_worker_risks
from tests.factories import NOON, CampaignFactory, ResponseFactory, UserFactory, WorkerFactory

pytestmark = pytest.mark.django_db

BY_POLICY = {"reason": "lists", "actor": None, "at": NOON}


@pytest.fixture
def worker(campaign):
    """A worker with one response in the campaign, flagged and counted."""
    response = ResponseFactory(task__campaign=campaign)
    review_submitted(campaign=campaign, responses=[response], at=NOON)
    refresh_worker_risks(campaign=campaign)
    return response.worker


def post_act(client, worker, act, **fields):
    address = reverse("qualcontrol:act", args=["pilot", worker.pseudonym, act])
    return client.post(address, fields, follow=True).content.decode()


@pytest.mark.parametrize(
    "page",
    [
        "/review/pilot/quality/",
        "/review/pilot/workers/{worker}/",
        "/campaigns/pilot/images/{task}/",
    ],
)
def test_no_page_leads_a_viewer_to_one_that_is_refused(client, campaign, worker, page):
    client.force_login(UserFactory(team__role="VIEWER"))
    number = worker.responses.get().task.number

    answer = client.get(page.format(worker=worker.pseudonym, task=number))

    assert answer.status_code == 200
    links = BeautifulSoup(answer.content, "html.parser").select("main a[href^='/']")
    refused = {link["href"] for link in links if client.get(link["href"]).status_code == 403}
    assert refused == set()


@pytest.mark.parametrize(("role", "selects"), [("VIEWER", False), ("REVIEWER", True)])
def test_only_those_who_decide_about_workers_can_select_them(client, worker, role, selects):
    client.force_login(UserFactory(team__role=role))

    page = BeautifulSoup(client.get("/review/pilot/workers/").content, "html.parser")

    assert worker.pseudonym in page.table.get_text()
    # The script looks for the boxes of each form that it finds.
    assert bool(page.select("[data-select-rows]")) == selects
    assert bool(page.select("[data-select-rows] [data-select-all]")) == selects


@pytest.mark.usefixtures("reviewer")
def test_the_workers_page_counts_what_each_did(client, campaign, django_assert_max_num_queries):
    busy, other = WorkerFactory(), WorkerFactory()
    good = ResponseFactory(task__campaign=campaign, worker=busy)
    judge(response=good, verdict="GOOD", reason="", reviewer=None, at=NOON)
    ResponseFactory(task__campaign=campaign, worker=busy, status="DISCARDED")
    ResponseFactory(worker=busy)
    ResponseFactory(task__campaign=campaign, worker=other)
    exclude_worker(campaign=campaign, worker=other, **BY_POLICY)

    with django_assert_max_num_queries(15):
        rows = client.get("/review/pilot/workers/").context["workers"]

    figures = {(w.pseudonym, w.submitted, w.discarded, w.good, w.bad, w.state) for w in rows}
    assert figures == {
        (busy.pseudonym, 2, 1, 1, 0, "active"),
        (other.pseudonym, 1, 1, 0, 0, "excluded"),
    }


@pytest.mark.usefixtures("reviewer")
def test_a_workers_page_shows_their_work_and_what_was_decided(
    client, campaign, django_assert_max_num_queries
):
    worker = WorkerFactory()
    for number in range(12):
        text = f"Sentence number {number} of this worker."
        response = ResponseFactory(task__campaign=campaign, worker=worker, text=text)
        judge(response=response, verdict="GOOD", reason="", reviewer=None, at=NOON)
        ResponseFactory(task__campaign=campaign, worker=worker)
    ResponseFactory(worker=worker, text="A sentence of another campaign.")
    exclude_worker(campaign=campaign, worker=worker, **BY_POLICY)

    with django_assert_max_num_queries(22):
        page = client.get(f"/review/pilot/workers/{worker.pseudonym}/").content.decode()

    assert "Sentence number 11 of this worker." in page
    assert "worker excluded: lists" in page
    assert "A sentence of another campaign." not in page


@pytest.mark.usefixtures("reviewer")
def test_a_workers_page_shows_risk_and_what_moved_it(client, campaign):
    worker = WorkerFactory()
    lists = [
        ResponseFactory(task__campaign=campaign, worker=worker, text=f"cat, dog, tree, car {n}")
        for n in range(6)
    ]
    review_submitted(campaign=campaign, responses=lists, at=NOON)
    judge(response=lists[0], verdict="BAD", reason="list", reviewer=None, at=NOON)
    worker_risk = campaign.worker_risks.get()

    page = client.get(f"/review/pilot/workers/{worker.pseudonym}/").content.decode()

    assert f"<strong>{probability(worker_risk.risk)}</strong>." in page
    assert f"(90% interval {percent(worker_risk.low)} to {percent(worker_risk.high)})" in page
    assert worker_risk.reasons
    assert all(escape(reason["sentence"]) in page for reason in worker_risk.reasons)


@pytest.mark.usefixtures("reviewer")
def test_a_worker_of_another_campaign_is_not_found(client, campaign):
    stranger = ResponseFactory().worker

    assert client.get(f"/review/pilot/workers/{stranger.pseudonym}/").status_code == 404


def test_reinstating_restores_and_is_logged(client, campaign, worker, reviewer):
    exclude_worker(campaign=campaign, worker=worker, **BY_POLICY)

    page = post_act(client, worker, "reinstate", reason="a mistake")

    assert "captions restored: 1" in page
    assert worker.responses.get().status == ResponseStatus.SUBMITTED
    decision = Decision.objects.get(act=Act.REINSTATE)
    assert (decision.actor, decision.reason) == (reviewer, "a mistake")


def test_a_worker_is_paused_and_resumed(client, campaign, worker, reviewer):
    page = post_act(client, worker, "pause", reason="odd hours")
    assert "is paused" in page
    assert "odd hours" in page
    assert campaign.pauses.in_force().exists()

    post_act(client, worker, "resume", reason="all fine")

    assert not campaign.pauses.in_force().exists()
    assert Decision.objects.get(act=Act.RESUME).actor == reviewer


def test_a_person_keeps_a_worker_paused_whom_the_policy_paused(client, campaign, worker, reviewer):
    address = f"/review/pilot/workers/{worker.pseudonym}/"
    pause_worker(campaign=campaign, worker=worker, **BY_POLICY)
    assert f'formaction="{address}pause/"' in client.get(address).content.decode()

    page = post_act(client, worker, "pause", reason="asks")

    assert "is paused" in page
    assert "formaction" not in page
    assert Decision.objects.filter(act=Act.PAUSE, actor=reviewer).exists()


def test_a_worker_who_is_proposed_for_exclusion_is_left(client, campaign, worker, reviewer):
    propose_exclusion(campaign=campaign, worker=worker, reason="many bad ones", at=NOON)
    page = client.get(f"/review/pilot/workers/{worker.pseudonym}/").content.decode()
    assert "many bad ones" in page

    post_act(client, worker, "decline", reason="a new one")

    assert not campaign.proposals.open().exists()
    assert not campaign.exclusions.exists()


@pytest.mark.usefixtures("reviewer")
@pytest.mark.parametrize("act", ["pause", "resume", "decline", "reinstate"])
def test_an_act_that_is_not_possible_now_says_so(client, campaign, worker, act):
    if act == "pause":
        about = {"campaign": campaign, "worker": worker, "reason": "asks", "at": NOON}
        pause_worker(**about, actor=UserFactory())

    page = post_act(client, worker, act, reason="why not")

    assert 'class="message warning"' in page


@pytest.mark.usefixtures("reviewer")
def test_an_act_needs_a_reason(client, campaign, worker):
    exclude_worker(campaign=campaign, worker=worker, **BY_POLICY)

    page = post_act(client, worker, "reinstate")

    assert "Enter a reason" in page
    assert campaign.exclusions.in_force().exists()


@pytest.mark.usefixtures("reviewer")
def test_an_act_that_there_is_not_is_not_found(client, worker):
    address = reverse("qualcontrol:act", args=["pilot", worker.pseudonym, "praise"])

    assert client.post(address, {"reason": "good work"}).status_code == 404
    assert client.get(address.replace("praise", "pause")).status_code == 405


@pytest.fixture
def appeal(campaign, worker):
    exclude_worker(campaign=campaign, worker=worker, **BY_POLICY)
    return record_appeal(
        campaign=campaign, worker=worker, text="I tried hard.", actor=None, at=NOON
    )


@pytest.mark.usefixtures("reviewer")
def test_a_letter_of_an_excluded_worker_is_recorded(client, campaign, worker):
    exclude_worker(campaign=campaign, worker=worker, **BY_POLICY)
    address = reverse("qualcontrol:appeal", args=["pilot", worker.pseudonym])

    refused = client.post(address, follow=True).content.decode()
    page = client.post(address, {"text": "I tried <b>hard</b>."}, follow=True).content.decode()
    twice = client.post(address, {"text": "Please!"}, follow=True).content.decode()

    assert "Enter what the worker wrote." in refused
    assert "I tried &lt;b&gt;hard&lt;/b&gt;." in page
    assert "already has an open appeal" in twice
    assert Appeal.objects.get().text == "I tried <b>hard</b>."


@pytest.mark.parametrize(
    ("granted", "status"),
    [("yes", ResponseStatus.SUBMITTED), ("no", ResponseStatus.DISCARDED)],
)
def test_an_appeal_that_is_granted_undoes_the_exclusion(
    client, appeal, worker, reviewer, granted, status
):
    address = reverse("qualcontrol:answer_appeal", args=["pilot", appeal.pk])

    page = client.post(address, {"answer": "We looked again.", "granted": granted}, follow=True)

    appeal.refresh_from_db()
    assert (appeal.is_granted, appeal.answered_by) == (granted == "yes", reviewer)
    assert "We looked again." in page.content.decode()
    assert worker.responses.get().status == status


@pytest.mark.usefixtures("reviewer")
def test_an_answer_is_written_and_given_once(client, appeal):
    address = reverse("qualcontrol:answer_appeal", args=["pilot", appeal.pk])

    empty = client.post(address, {"granted": "yes"}, follow=True).content.decode()
    client.post(address, {"answer": "No.", "granted": "no"})
    twice = client.post(address, {"answer": "Yes.", "granted": "yes"}, follow=True)

    assert "Enter an answer" in empty
    assert "This appeal is already answered." in twice.content.decode()
    assert Appeal.objects.get().answer == "No."


@pytest.mark.usefixtures("reviewer")
def test_an_appeal_of_another_campaign_is_not_found(client, appeal):
    CampaignFactory(slug="other")
    address = reverse("qualcontrol:answer_appeal", args=["other", appeal.pk])

    assert client.post(address, {"answer": "No.", "granted": "no"}).status_code == 404


@pytest.mark.usefixtures("reviewer")
def test_the_decision_log_is_paged_and_takes_the_same_queries(
    client, campaign, django_assert_max_num_queries
):
    for _ in range(60):
        worker = ResponseFactory(task__campaign=campaign).worker
        Decision.objects.create(
            campaign=campaign, act=Act.DISCARD, worker=worker, reason="lists", at=NOON
        )

    with django_assert_max_num_queries(7):
        page = client.get("/review/pilot/decisions/")

    assert len(page.context["stretch"].rows) == PER_PAGE < 60


@pytest.mark.usefixtures("reviewer")
def test_a_verdict_that_waits_for_a_second_one_is_not_in_the_log_yet(client):
    campaign = CampaignFactory(slug="pilot", config={"review": {"reviewers": 2}})
    response = ResponseFactory(task__campaign=campaign)
    verdict = {"response": response, "verdict": "BAD", "reason": "secret", "at": NOON}
    judge(**verdict, reviewer=UserFactory())
    addresses = ["/review/pilot/decisions/", f"/review/pilot/workers/{response.worker}/"]

    before = [client.get(address).content.decode() for address in addresses]
    judge(**verdict, reviewer=UserFactory())
    after = [client.get(address).content.decode() for address in addresses]

    assert ["secret" in page for page in before] == [False, False]
    assert ["secret" in page for page in after] == [True, True]
