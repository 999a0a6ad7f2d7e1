"""The worker's page about discarded answers, and the appeal that begins there."""

import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup

from annotate.kinds import KINDS
from annotate.models import Campaign, Caption, Response, Task
from annotate.services.responses import withdraw
from hits.models import TOLD_AFTER, AssignmentStatus, WorkerAccount, WorkerMessage
from hits.services.accounts import ERASED
from hits.services.messages import tell_workers, told_url
from hits.services.payments import lose
from qualcontrol.models import Appeal
from qualcontrol.review.judging import judge
from qualcontrol.services.exclusions import answer_appeal, exclude_worker
from qualcontrol.services.intake import review_submitted
from tests.factories import (
    NOON,
    AssignmentFactory,
    LinkCampaignFactory,
    LinkResponseFactory,
    LinkTaskFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
    WorkerAccountFactory,
    make_campaign,
)

pytestmark = pytest.mark.django_db

LATER = NOON + TOLD_AFTER


@pytest.fixture(params=["en"])
def campaign(request):
    return make_campaign(
        tasks=0, language=request.param, review={"tells_workers": True, "pause_certainty": 1}
    )


@pytest.fixture
def worker(campaign):
    account = WorkerAccountFactory(marketplace_id="AWORKER1")
    AssignmentFactory(
        hit__hit_type__campaign=campaign,
        account=account,
        status=AssignmentStatus.APPROVED,
        decided_at=NOON,
    )
    return account.worker


def respond(campaign, worker, text, reason="", **values):
    task = TaskFactory(campaign=campaign)
    response = ResponseFactory(task=task, worker=worker, text=text, **values)
    if reason:
        judge(response=response, verdict="BAD", reason=reason, reviewer=UserFactory(), at=NOON)
    return response


def read(client, campaign, worker):
    parts = urlsplit(told_url(campaign, worker))
    page = client.get(f"{parts.path}?{parts.query}")
    assert page.status_code == 200
    return page.content.decode()


def test_a_worker_is_told_once_and_reads_what_is_so_then(client, campaign, worker):
    respond(campaign, worker, "Used", "")
    respond(campaign, worker, "Listed", "a list of keywords, not a sentence")
    withdraw(responses=[respond(campaign, worker, "Withdrawn")], at=NOON)
    assignment = AssignmentFactory(account=worker.account, hit__hit_type__campaign=campaign)
    respond(campaign, worker, "Lost", assignment=assignment)
    lose(assignment=assignment, at=NOON)

    tell_workers(campaign=campaign, at=LATER - timedelta(seconds=1))
    assert not WorkerMessage.objects.exists()
    for _ in range(2):
        tell_workers(campaign=campaign, at=LATER)

    message = WorkerMessage.objects.get()
    assert message.recipients.get().account.worker == worker
    assert told_url(campaign, worker) in message.text
    assert "AWORKER1" not in message.text
    page = read(client, campaign, worker)
    assert "Listed" in page
    assert "a list of keywords, not a sentence" in page
    assert not any(
        word in page for word in ["Used<", "Withdrawn", "Lost", "AWORKER1", worker.pseudonym]
    )


def test_a_worker_reads_why_an_assignment_was_rejected(client, campaign, worker):
    rejected = AssignmentFactory(
        account=worker.account,
        hit__hit_type__campaign=campaign,
        status=AssignmentStatus.REJECTED,
        decided_at=NOON,
        feedback="Sent without the task page.",
    )
    respond(campaign, worker, "Rejected", assignment=rejected, status="DISCARDED")

    page = read(client, campaign, worker)

    assert "Sent without the task page." in page
    assert "Nobody has found fault" not in page


def test_a_worker_reads_that_there_are_more_answers_than_the_page_shows(
    client, campaign, worker, monkeypatch
):
    monkeypatch.setattr("hits.pages.told.MOST_SHOWN", 1)
    respond(campaign, worker, "Earlier", "vague")
    assert "There are more." not in read(client, campaign, worker)

    respond(campaign, worker, "Later", "vague")

    page = read(client, campaign, worker)
    assert "Later" in page
    assert "Earlier" not in page
    assert "There are more." in page


def test_a_worker_reads_nothing_about_others_or_with_a_key_of_another_campaign(
    client, campaign, worker
):
    respond(campaign, worker, "Own", "vague")
    respond(campaign, WorkerAccountFactory().worker, "Of another", "vague")
    assert "Of another" not in read(client, campaign, worker)

    other = make_campaign(tasks=0, review={"tells_workers": True})
    key = urlsplit(told_url(campaign, worker)).query
    silent = make_campaign(tasks=0)
    for address in [
        f"/task/{other.slug}/told/?{key}",
        f"/task/{campaign.slug}/told/?{key}x",
        f"/task/{campaign.slug}/told/",
        urlsplit(told_url(silent, worker))._replace(scheme="", netloc="").geturl(),
    ]:
        assert client.get(address).status_code == 404


def test_the_outlines_of_boxes_are_valid_in_a_language_with_decimal_commas(client):
    campaign = LinkCampaignFactory(config={"language": "de", "review": {"tells_workers": True}})
    task = LinkTaskFactory(campaign=campaign, boxes=["Dog", "Car"])
    worker = WorkerAccountFactory().worker
    response = LinkResponseFactory(task=task, worker=worker)
    judge(response=response, verdict="BAD", reason="vague", reviewer=UserFactory(), at=NOON)

    page = BeautifulSoup(read(client, campaign, worker), "html.parser")

    assert page.html["lang"] == "de"
    outlines = sorted(path["d"].partition("V")[0] for path in page.select("figure path"))
    assert outlines == ["M0.0 0.2H0.1", "M0.1 0.2H0.2"]


def test_a_worker_who_cannot_be_written_to_yet_is_told_later(campaign, worker):
    stranger = WorkerAccountFactory().worker
    respond(campaign, stranger, "Waits for its approval", "vague")

    tell_workers(campaign=campaign, at=LATER)

    assert not WorkerMessage.objects.exists()


def test_a_worker_whose_exclusion_is_lifted_meanwhile_is_not_told_of_it(
    campaign, worker, monkeypatch
):
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)
    locked = Campaign.objects.locked

    def reinstate_before(pk):
        campaign.exclusions.update(lifted_at=NOON)
        return locked(pk)

    monkeypatch.setattr(Campaign.objects, "locked", reinstate_before)
    tell_workers(campaign=campaign, at=LATER)

    assert not WorkerMessage.objects.exists()


def test_an_excluded_worker_whose_first_answers_are_used_reads_of_the_others(
    client, campaign, worker
):
    campaign.config_json["review"]["discard"] = "since_first_bad"
    campaign.save()
    responses = [respond(campaign, worker, text) for text in ("Used", "Listed")]
    review_submitted(campaign=campaign, responses=responses, at=NOON)
    judge(response=responses[1], verdict="BAD", reason="a list", reviewer=UserFactory(), at=NOON)
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    page = read(client, campaign, worker)

    assert "You get no more tasks of this project." in page
    assert "your answers are not used" not in page
    assert "Used<" not in page


def test_an_excluded_worker_appeals_and_reads_the_answer(client, campaign, worker):
    respond(campaign, worker, "Swept away")
    exclude_worker(campaign=campaign, worker=worker, reason="copies W-OTHER", actor=None, at=NOON)
    tell_workers(campaign=campaign, at=NOON)
    assert "You get no more tasks" in WorkerMessage.objects.get().text
    page = read(client, campaign, worker)
    assert "Nobody has found fault with this one." in page
    assert "W-OTHER" not in page
    parts = urlsplit(told_url(campaign, worker))

    for _ in range(2):
        client.post(f"{parts.path}?{parts.query}", {"text": "I wrote it myself."})

    appeal = Appeal.objects.get()
    assert "A person will look at your work again" in read(client, campaign, worker)
    answer_appeal(
        appeal=appeal, is_granted=True, answer="So you did.", actor=UserFactory(), at=LATER
    )
    page = read(client, campaign, worker)
    assert "You were right." in page
    assert "So you did." in page
    assert "All your answers are used." in page


@pytest.mark.parametrize("text", ["Again.\r\n" * 700 + "x" * 100, "x" * 5001, " "])
def test_an_appeal_that_the_text_area_lets_through_is_stored_and_others_are_kept(
    client, campaign, worker, text
):
    respond(campaign, worker, "Swept away")
    exclude_worker(campaign=campaign, worker=worker, reason="copies", actor=None, at=NOON)
    parts = urlsplit(told_url(campaign, worker))

    answer = client.post(f"{parts.path}?{parts.query}", {"text": text})

    stored = list(Appeal.objects.values_list("text", flat=True))
    area = BeautifulSoup(answer.content, "lxml").find("textarea")
    if "Again" in text:
        assert stored == [text.replace("\r\n", "\n")]
        assert answer.status_code == 302
    else:
        assert stored == []
        assert answer.status_code == 422
        assert area["aria-invalid"] == "true"
        assert area.text == text


@pytest.mark.parametrize("is_during_the_post", [False, True])
def test_nothing_is_shown_or_stored_once_the_workers_data_is_erased(
    client, campaign, worker, monkeypatch, is_during_the_post
):
    respond(campaign, worker, "Swept away")
    exclude_worker(campaign=campaign, worker=worker, reason="copies", actor=None, at=NOON)
    parts = urlsplit(told_url(campaign, worker))

    def erase(_worker=None):
        WorkerAccount.objects.filter(worker=worker).update(marketplace_id=f"{ERASED}1")

    if is_during_the_post:
        monkeypatch.setattr("hits.services.messages.lock_worker", erase)
    else:
        erase()
        assert client.get(f"{parts.path}?{parts.query}").status_code == 404
    answer = client.post(f"{parts.path}?{parts.query}", {"text": "I wrote it myself."})

    assert answer.status_code == 404
    assert not Appeal.objects.exists()


@pytest.mark.parametrize("campaign", ["de"], indirect=True)
def test_a_worker_is_told_in_the_language_of_the_campaign(client, campaign, worker):
    respond(campaign, worker, "Auto, Straße", "a list of keywords, not a sentence (see the rules)")

    tell_workers(campaign=campaign, at=LATER)

    assert "Zu Ihrer Arbeit" in WorkerMessage.objects.get().subject
    page = read(client, campaign, worker)
    assert "eine Liste von Stichwörtern, kein Satz (see the rules)" in page
    assert '<html lang="de"' in page


@pytest.mark.parametrize("campaign", ["ar"], indirect=True)
def test_all_about_an_answer_is_in_the_language_of_the_task(client, campaign, worker):
    why = KINDS["caption"].faults["vague"]
    written, reason = (respond(campaign, worker, text, why) for text in ("قطة على سرير", ""))
    Task.objects.filter(pk=written.task_id).update(
        payload={"rate_first": ["وصف معطى"], "context": "سياق الصورة"}
    )
    Caption.objects.filter(pk=written.pk).update(remark="ملاحظتي", ratings={"1": {"quality": 5}})
    Response.objects.filter(pk=reason.pk).update(cannot_describe="مظلم جدًا")

    page = BeautifulSoup(read(client, campaign, worker), "lxml")
    told = " ".join(each.get_text(" ", strip=True) for each in page.select(".told"))

    assert not re.search("[A-Za-z]", told), told
    assert all(text in told for text in ("وصف معطى", "سياق الصورة", "ملاحظتي", "مظلم جدًا"))


def test_a_note_of_a_good_verdict_is_not_why_an_answer_is_discarded(client, campaign, worker):
    response = respond(campaign, worker, "A brown dog runs.")
    note = {"verdict": "GOOD", "reason": "names the breed"}
    judge(response=response, reviewer=UserFactory(), at=NOON, **note)
    exclude_worker(campaign=campaign, worker=worker, reason="copied", actor=None, at=NOON)

    page = read(client, campaign, worker)

    assert "A brown dog runs." in str(page)
    assert "names the breed" not in str(page)
