"""Forged requests to a task page have no lasting effect.

Task pages are public, and all parameters of their URLs can be invented.
"""

import json

import pytest

from annotate.kinds import KINDS
from annotate.models import Response, Worker
from hits.models import Assignment, WorkerAccount, WorkerBarring
from hits.services.claims import recount_places
from tests.factories import NOON, HitFactory, HitTypeFactory, WorkerAccountFactory, make_campaign
from tests.hits.opened_pages import SENTENCE, form_fields, listed, open_page, send
from tests.submitted import take_submission

pytestmark = pytest.mark.django_db

LONG_TEXT = (
    "A grey cat sits on a red roof and looks at the small birds in the tall trees behind the house."
)


@pytest.fixture
def hit():
    """A HIT of nine slots, of a campaign with eight images and three captions each."""
    campaign = make_campaign(tasks=8)
    return HitFactory(hit_type=HitTypeFactory(campaign=campaign))


def shows_a_task(page):
    return b"<textarea" in page.content


def test_forged_pages_turn_no_worker_away(client, hit):
    for n in range(60):
        open_page(client, hit, f"FORGED{n}", f"ASTRANGER{n}")

    pages = [open_page(client, hit, f"REAL{n}", f"AWORKER{n}") for n in range(5)]

    assert all(shows_a_task(page) for page in pages)
    assert not WorkerBarring.objects.exists()


def test_answers_forged_in_a_workers_name_do_not_shut_the_worker_out(client, hit):
    account = WorkerAccountFactory()
    for n in range(20):
        page = open_page(client, hit, f"FORGED{n}", account.marketplace_id)
        if shows_a_task(page):
            send(client, hit, page, "A forged sentence about a grey cat on a red roof.")

    page = open_page(client, hit, "REAL1", account.marketplace_id)

    assert shows_a_task(page)
    assert "forged" not in page.content.decode()
    assert not WorkerBarring.objects.exists()


def test_a_forged_request_takes_no_task_from_a_page_that_is_open(client, hit):
    mine = form_fields(open_page(client, hit, "REAL1", "AWORKER1"))
    for n in range(40):
        open_page(client, hit, f"FORGED{n}", f"ASTRANGER{n}")
        open_page(client, hit, "REAL1", f"ASTRANGER{n}")

    sent = client.post(
        f"/task/{hit.campaign.slug}/",
        {name: SENTENCE if name.startswith("caption-") else v for name, v in mine.items()},
    )

    assert b"data-forward" in sent.content


def test_an_answer_sent_while_the_submission_is_read_changes_nothing(client, hit, monkeypatch):
    """The post has passed its checks when the marketplace's report of the assignment is
    ingested."""
    account = WorkerAccountFactory()
    page = open_page(client, hit, "REAL1", account.marketplace_id)
    (number,) = hit.pages.get().claims.values_list("task__number", flat=True)
    check = KINDS["caption"].check

    def check_then_read(self, task, config, fields):
        answer = check(task, config, fields)
        take_submission(
            campaign=hit.campaign,
            hit=hit,
            listed=listed("REAL1", account.marketplace_id, **{f"caption-{number}": SENTENCE}),
            at=NOON,
        )
        return answer

    monkeypatch.setattr(type(KINDS["caption"]), "check", check_then_read)
    sent = send(client, hit, page, "A later sentence about a grey cat on a red roof.")

    assert sent.status_code == 409
    assert Response.objects.get().caption.text == SENTENCE
    assert not hit.pages.exists()
    assert recount_places(hit.campaign) == 0


def test_counts_that_a_stranger_sends_with_another_text_are_not_the_workers(client, hit):
    account = WorkerAccountFactory()
    counts = {"characters": {"pasted": 500}, "times_left": 50}
    mine = open_page(client, hit, "REAL1", account.marketplace_id)
    name = next(name for name in form_fields(mine) if name.startswith("caption-"))
    theirs = form_fields(open_page(client, hit, "REAL1", account.marketplace_id))
    send(client, hit, mine)

    client.post(
        f"/task/{hit.campaign.slug}/",
        {**theirs, name: LONG_TEXT, name.replace("caption", "behaviour"): json.dumps(counts)},
    )
    take_submission(
        campaign=hit.campaign,
        hit=hit,
        listed=listed("REAL1", account.marketplace_id, **{name: SENTENCE}),
        at=NOON,
    )

    response = Response.objects.get()
    assert response.caption.text == SENTENCE
    assert not hasattr(response, "behaviour")
    assert response.seconds is None
    assert response.assessment.codes == ""


def test_a_page_shows_nobody_what_was_sent_from_it(client, hit):
    page = open_page(client, hit, "REAL1", "AWORKER1")
    send(client, hit, page, LONG_TEXT)

    again = open_page(client, hit, "REAL1", "AWORKER1")

    assert hit.pages.get().answered_at is not None
    assert shows_a_task(again)
    assert LONG_TEXT not in again.content.decode()


def test_a_page_request_makes_no_worker_and_no_answer(client, hit):
    for n in range(5):
        send(client, hit, open_page(client, hit, f"FORGED{n}", f"ASTRANGER{n}"))

    assert not Worker.objects.exists()
    assert not WorkerAccount.objects.exists()
    assert not Assignment.objects.exists()
    assert not Response.objects.exists()


def test_a_forged_page_does_not_make_a_worker_caption_an_image_twice(client, hit):
    account = WorkerAccountFactory()
    other = HitFactory(hit_type=hit.hit_type)
    first = open_page(client, hit, "REAL1", account.marketplace_id)
    mine = hit.campaign.tasks.filter(claims__page__assignment_id="REAL1")
    mine.update(places_left=0)
    open_page(client, hit, "FORGED1", account.marketplace_id)
    mine.update(places_left=3)

    second = open_page(client, other, "REAL2", account.marketplace_id)

    shown = [{n for n in form_fields(page) if n.startswith("caption-")} for page in (first, second)]
    assert shown[0].isdisjoint(shown[1])
