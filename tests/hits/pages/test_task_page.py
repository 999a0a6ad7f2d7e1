"""The task page: what it shows, and how it handles forged, late, long or strange input."""

import json
from base64 import b64decode
from datetime import timedelta
from io import BytesIO
from itertools import product

import pytest
from bs4 import BeautifulSoup
from django.core import signing
from django.utils import timezone
from PIL import Image

from annotate.models import Worker
from hits.models import Claim, TaskPage, WorkerBarring
from hits.pages.task_page.form import SALT, sign_form
from hits.services.claims import recount_places
from hits.services.hit_pages import PAGES_PER_SLOT, FrameParameters, close_pages
from hits.services.task_pages import TaskForm
from hits.tasks import tell_barring
from qualcontrol.services.exclusions import pause_worker
from tests.factories import (
    NOON,
    AssignmentFactory,
    BoxFactory,
    ClassFactory,
    ExclusionFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    TaskFactory,
    WorkerAccountFactory,
    make_campaign,
)
from tests.hits.opened_pages import ORIGIN, address, form_fields

pytestmark = [pytest.mark.django_db, pytest.mark.database]

SENTENCE = "A brown dog jumps over a low wooden fence in a garden."


@pytest.fixture
def hit():
    campaign = make_campaign(tasks=2)
    return HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1", slots=3)


def account():
    """A worker known from a reported submission, as AWORKER1."""
    return WorkerAccountFactory(marketplace_id="AWORKER1")


def submitted(hit):
    """Report the page's assignment as submitted."""
    return AssignmentFactory(hit=hit, account=account(), assignment_id="ASSIGNMENT1")


def answer(client, hit, text=SENTENCE, **changes):
    page = client.get(address(hit))
    fields = form_fields(page)
    filled = {
        name: text if name.startswith("caption-") else value for name, value in fields.items()
    }
    return client.post(f"/task/{hit.campaign.slug}/", {**filled, **changes})


def test_the_page_shows_the_image_its_keywords_and_its_author(client, hit):
    task = hit.campaign.tasks.order_by("number").first()
    BoxFactory(image=task.image, object_class=ClassFactory(name="Guitar"))
    type(task.image).objects.update(author="A. Photographer", license_url="https://example.org/by")

    page = client.get(address(hit)).content.decode()

    assert "Guitar" in page
    assert "You do not have to use these words" in page
    assert "A. Photographer" in page
    assert "At least 8 words" in page


def test_a_task_without_priming_shows_no_keywords(client, hit):
    task = hit.campaign.tasks.order_by("number").first()
    BoxFactory(image=task.image, object_class=ClassFactory(name="Guitar"))
    hit.campaign.tasks.update(shows_keywords=False)

    assert "Guitar" not in client.get(address(hit)).content.decode()


@pytest.mark.parametrize("assignment", ["ASSIGNMENT_ID_NOT_AVAILABLE", None])
def test_a_preview_allocates_nothing(client, hit, assignment):
    page = client.get(address(hit, assignmentId=assignment, workerId=None))

    assert page.status_code == 200
    assert b"data-preview" in page.content
    assert b'name="token"' not in page.content
    assert not Worker.objects.exists()
    assert not Claim.objects.exists()


def test_opening_the_page_again_shows_the_same_task(client, hit):
    first, second = client.get(address(hit)), client.get(address(hit))

    assert list(form_fields(first))[1:] == list(form_fields(second))[1:]
    assert Claim.objects.count() == 1


def test_an_answer_is_stored_before_it_is_sent_to_the_marketplace(client, hit):
    page = answer(client, hit, "  A  brown dog jumps over a low\u200b wooden fence 🐕. ")

    form = BeautifulSoup(page.content, "html.parser").select_one("form[data-forward]")
    assert form["action"] == f"{ORIGIN}/mturk/externalSubmit"
    assert form.select_one("[name=assignmentId]")["value"] == "ASSIGNMENT1"
    page = TaskPage.objects.get()
    assert list(page.fields.values()) == ["A brown dog jumps over a low wooden fence 🐕."]
    assert page.answered_at is not None


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> a dog runs over the green grass today",
        'A man says "hello" & waves at five small dogs',
        "رجل يقود دراجة في شارع مزدحم بالسيارات اليوم",
        "A 🐕 and a 🐈 sleep side by side on a sofa",
    ],
)
def test_strange_characters_come_back_as_text(client, hit, text):
    page = answer(client, hit, text)

    form = BeautifulSoup(page.content, "html.parser").select_one("form[data-forward]")
    assert form.select_one("[name^=caption-]")["value"] == text
    assert b"<script>alert" not in page.content
    assert list(TaskPage.objects.get().fields.values()) == [text]


@pytest.mark.parametrize("text", ["", "A dog.", "word " * 20_000])
def test_a_refused_answer_keeps_what_was_written_and_says_why(client, hit, text):
    page = answer(client, hit, text)

    assert page.status_code == 422
    soup = BeautifulSoup(page.content, "html.parser")
    assert soup.select_one("textarea").text.strip() == text.strip()
    assert soup.select_one("[data-problems] li").text.startswith("Please")
    assert soup.select_one("textarea")["aria-invalid"] == "true"
    assert TaskPage.objects.get().fields == {}


def test_the_script_gets_the_same_in_json(client, hit):
    fields = form_fields(client.get(address(hit)))
    name = next(field for field in fields if field.startswith("caption-"))
    path, json = f"/task/{hit.campaign.slug}/", {"Accept": "application/json"}

    refused = client.post(path, {**fields, name: "A dog."}, headers=json)
    stored = client.post(path, {**fields, name: SENTENCE}, headers=json)

    assert (refused.status_code, stored.status_code) == (422, 200)
    assert refused.json()["problems"][name][0].startswith("Please")
    assert stored.json() == {"fields": {name: SENTENCE}}
    assert stored.headers["Access-Control-Allow-Origin"] == "*"


def test_of_an_answer_sent_twice_the_later_one_stands(client, hit):
    answer(client, hit)
    answer(client, hit, SENTENCE.replace("brown", "black"))

    (text,) = TaskPage.objects.get().fields.values()
    assert "black" in text


def test_a_caption_without_end_is_refused_before_it_is_kept(client, hit):
    page = answer(client, hit, "A dog runs over the grass and says " + "o" * 200_000)

    assert page.status_code == 422
    assert TaskPage.objects.get().fields == {}


def test_an_answer_to_a_page_that_has_ended_is_kept(client, hit):
    fields = form_fields(client.get(address(hit)))
    name = next(field for field in fields if field.startswith("caption-"))
    close_pages(TaskPage.objects.values_list("pk", flat=True))

    page = client.post(f"/task/{hit.campaign.slug}/", {**fields, name: SENTENCE})

    assert b"data-forward" in page.content
    assert TaskPage.objects.get().fields == {name: SENTENCE}
    assert Claim.objects.get().task.number == int(name.removeprefix("caption-"))
    assert recount_places(hit.campaign) == 0


def test_a_hit_has_a_limited_number_of_pages(client, hit):
    answer(client, hit)
    for n in range(PAGES_PER_SLOT * hit.slots + 5):
        client.get(address(hit, assignmentId=f"OTHER{n}"))

    assert hit.pages.count() == PAGES_PER_SLOT * hit.slots
    # The one with an answer stays longest, of the others the latest ones.
    assert hit.pages.filter(assignment_id="ASSIGNMENT1").exists()
    assert not hit.pages.filter(assignment_id="OTHER0").exists()
    assert recount_places(hit.campaign) == 0


def test_a_form_without_our_token_is_refused(client, hit):
    page = answer(client, hit, token="forged:token:here")

    assert page.status_code == 403
    assert not TaskPage.objects.answered().exists()


def test_a_token_of_another_worker_reaches_only_that_workers_page(client, hit):
    number = hit.campaign.tasks.order_by("number")[0].number
    frame = FrameParameters("ASSIGNMENT1", "HIT1", "AWORKER2", ORIGIN)

    answer(client, hit, token=sign_form(TaskForm(frame, timezone.now(), (number,))))

    assert TaskPage.objects.answered().get().marketplace_id == "AWORKER2"


@pytest.mark.parametrize("content", [{"a": 1}, [1, 2, 3], [{}, "x", []], "text", None])
def test_a_token_of_another_form_is_refused(client, hit, content):
    token = signing.dumps(content, salt=SALT)

    assert answer(client, hit, token=token).status_code == 403


def test_a_token_expires(client, hit, monkeypatch):
    fields = form_fields(client.get(address(hit)))
    monkeypatch.setattr(
        "django.core.signing.time.time", lambda: timezone.now().timestamp() + 3 * 3600
    )

    page = client.post(f"/task/{hit.campaign.slug}/", {**fields, "caption-1": SENTENCE})

    assert page.status_code == 403
    assert "too old" in page.content.decode()


def test_a_replayed_form_after_the_submission_changes_nothing(client, hit):
    fields = form_fields(client.get(address(hit)))
    submitted(hit)

    sent = client.post(f"/task/{hit.campaign.slug}/", {**fields, "caption-1": SENTENCE})
    opened = client.get(address(hit))

    assert (sent.status_code, opened.status_code) == (409, 409)
    assert not TaskPage.objects.answered().exists()


@pytest.mark.parametrize(
    "change",
    [
        {"turkSubmitTo": "https://evil.example"},
        {"turkSubmitTo": "http://127.0.0.1:8001.evil.example"},
        {"turkSubmitTo": "javascript:alert(1)//"},
        {"turkSubmitTo": "http://["},
        {"workerId": "AWORKER1,AWORKER1"},
        {"workerId": "'; DROP TABLE"},
        {"workerId": None},
        {"hitId": "../../etc"},
        {"assignmentId": "<b>"},
    ],
)
def test_wrong_parameters_are_refused_and_never_shown(client, hit, change):
    page = client.get(address(hit, **change))

    if change.get("turkSubmitTo") in {"javascript:alert(1)//", "http://["}:
        # No origin at all counts as missing: the campaign's own marketplace is used.
        assert page.status_code == 200
        assert change["turkSubmitTo"].encode() not in page.content
        return
    assert page.status_code == 400
    assert not Claim.objects.exists()
    assert not any(value and value.encode() in page.content for value in change.values())


def test_a_missing_submit_address_falls_back_to_the_campaigns_marketplace(client, hit):
    page = client.get(address(hit, turkSubmitTo=None))

    assert f"{ORIGIN}/mturk/externalSubmit" in page.content.decode()


def test_a_hit_of_nobodys_is_refused(client, hit):
    assert client.get(address(hit, hitId="UNKNOWN")).status_code == 404


def test_a_hit_that_is_retired_is_refused(client, hit):
    type(hit).objects.update(status="RETIRED")

    assert client.get(address(hit)).status_code == 404


def test_an_assignment_id_that_comes_back_for_another_worker_is_a_page_of_its_own(client, hit):
    answer(client, hit)
    page = client.get(address(hit, workerId="AWORKER2"))

    first, second = TaskPage.objects.order_by("pk")
    assert first.marketplace_id != second.marketplace_id
    assert SENTENCE not in page.content.decode()


def test_a_worker_is_shown_other_tasks_on_a_second_page(client, hit):
    HitFactory(hit_type=hit.hit_type, hit_id="HIT2", slots=3)
    first = form_fields(client.get(address(hit)))
    second = form_fields(client.get(address(hit, assignmentId="ASSIGNMENT2", hitId="HIT2")))

    assert {name for name in first if "caption" in name}.isdisjoint(second)


def test_a_task_that_was_submitted_elsewhere_meanwhile_is_not_shown_again(client, hit):
    fields = form_fields(client.get(address(hit)))
    number = next(name for name in fields if name.startswith("caption-")).removeprefix("caption-")
    ResponseFactory(task=hit.campaign.tasks.get(number=number), worker=account().worker)

    again = form_fields(client.get(address(hit)))

    assert f"caption-{number}" not in again
    assert any(name.startswith("caption-") for name in again)


def test_nothing_left_says_to_return_the_hit(client, hit):
    hit.campaign.tasks.update(answers_missing=0, places_left=0)

    page = client.get(address(hit))

    assert b"data-nothing-left" in page.content
    assert not WorkerBarring.objects.exists()
    assert not TaskPage.objects.exists()


def test_a_worker_who_has_submitted_all_there_is_is_kept_away(client, hit, monkeypatch, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = False
    told = []
    monkeypatch.setattr(tell_barring, "delay", told.append)
    worker = account().worker
    for task in hit.campaign.tasks.all():
        ResponseFactory(task=task, worker=worker)

    page = client.get(address(hit))

    assert b"data-nothing-left" in page.content
    assert "return this task" in page.content.decode()
    barring = WorkerBarring.objects.get()
    assert barring.is_wanted
    assert told == [barring.pk]


def test_an_excluded_worker_is_shown_nothing(client, hit):
    ExclusionFactory(campaign=hit.campaign, worker=account().worker)

    page = client.get(address(hit))

    assert b"data-nothing-left" in page.content
    assert not Claim.objects.exists()
    assert WorkerBarring.objects.get().is_wanted


def test_a_paused_worker_finishes_an_open_page_and_gets_nothing_new(client, hit):
    client.get(address(hit))
    pause_worker(campaign=hit.campaign, worker=account().worker, reason="asks", actor=None, at=NOON)

    assert b"data-nothing-left" not in client.get(address(hit)).content
    another = client.get(address(hit, assignmentId="ASSIGNMENT2"))
    assert b"data-nothing-left" in another.content


def test_the_page_may_be_framed_by_its_marketplace_and_sets_no_cookie(client, hit):
    page = client.get(address(hit))

    policy = page.headers["Content-Security-Policy"]
    assert f"frame-ancestors 'self' {ORIGIN}" in policy
    assert f"form-action 'self' {ORIGIN}" in policy
    assert f"connect-src 'self' {ORIGIN}" in policy
    assert "X-Frame-Options" not in page.headers
    assert not page.cookies


def send(client, hit, page, text=SENTENCE, **fields):
    """Send the page's form as its script does."""
    filled = {
        name: text if name.startswith("caption-") else value
        for name, value in form_fields(page).items()
    }
    address = f"/task/{hit.campaign.slug}/"
    return client.post(address, {**filled, **fields}, headers={"Accept": "application/json"})


def test_an_answer_that_is_sent_again_after_its_ingest_is_no_error(client, hit):
    page = client.get(address(hit))
    first = send(client, hit, page)
    submitted(hit)
    close_pages(TaskPage.objects.values_list("pk", flat=True))

    again = send(client, hit, page)

    assert (again.status_code, again.json()) == (200, first.json())
    assert not TaskPage.objects.exists()


def test_an_answer_is_checked_without_being_stored(client, hit):
    page = client.get(address(hit))

    short = send(client, hit, page, "A dog.", only_check="1")
    good = send(client, hit, page, only_check="1")

    assert "at least 8 words" in str(short.json()["problems"])
    assert (good.status_code, good.json()) == (200, {"problems": {}})
    assert not TaskPage.objects.filter(answered_at__isnull=False).exists()


def test_the_page_says_how_much_time_is_left(client, hit):
    client.get(address(hit))
    opened_at = timezone.now() - timedelta(minutes=15)
    TaskPage.objects.update(opened_at=opened_at)

    page = BeautifulSoup(client.get(address(hit)).content, "html.parser")

    form = page.select_one("form[data-task]")
    assert form is not None
    assert 290 <= int(str(form["data-seconds-left"])) <= 300


def test_several_images_in_one_assignment(client):
    campaign = make_campaign(tasks=3, hit={"images": 2})
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT2", slots=3)

    page = answer(client, hit)

    assert page.status_code == 200
    assert len(TaskPage.objects.get().fields) == 2
    assert Claim.objects.count() == 2


@pytest.mark.parametrize(("workers", "named"), [({"who": "own"}, False), ({}, True)])
def test_people_of_ones_own_read_no_word_of_a_marketplace(client, workers, named):
    campaign = make_campaign(tasks=1, workers=workers)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT2", slots=3)

    page = client.get(address(hit)).content.decode()

    assert ("local marketplace" in page) == named


def test_a_page_lasts_as_long_as_an_assignment(client, hit):
    client.get(address(hit))

    page = TaskPage.objects.get()
    assert page.expires_at - page.opened_at == timedelta(minutes=20)


COUNTS = {
    "seconds_writing": 33.5,
    "times_left": 2,
    "characters": {"typed": 61, "pasted": 12},
}


def counted(hit):
    """The field in which the page's script counts behaviour for the first task."""
    first = hit.campaign.tasks.order_by("number").first()
    return {f"behaviour-{first.number}": json.dumps(COUNTS)}


def test_behaviour_counts_are_stored_with_the_answer(client, hit):
    client.defaults["HTTP_USER_AGENT"] = "Mozilla/5.0 (Linux; Android 14) Chrome/120 Mobile"

    answer(client, hit, **counted(hit))

    page = TaskPage.objects.get()
    assert list(page.counts.values()) == [COUNTS]
    assert page.device == "PHONE"


def test_behaviour_counts_are_not_sent_to_the_marketplace(client, hit):
    page = answer(client, hit, **counted(hit))

    assert b"externalSubmit" in page.content
    assert b"behaviour" not in page.content


def test_without_the_pages_script_nothing_was_counted(client, hit):
    answer(client, hit)

    assert list(TaskPage.objects.get().counts.values()) == [{}]


def test_the_worker_is_told_what_is_counted(client, hit):
    page = client.get(address(hit)).content.decode()

    assert "how many characters you typed, dictated or pasted" in page
    assert "What you type is not recorded before you submit" in page


def dots_in(page):
    """The number of dots in the page's picture, as somebody sees it who looks at it."""
    picture = BeautifulSoup(page.content, "html.parser").select_one("p.dots img")["src"]
    image = Image.open(BytesIO(b64decode(picture.split(",")[1])))
    places = product(range(0, image.width, 40), range(0, image.height, 40))
    cells = (image.crop((x, y, x + 40, y + 40)) for x, y in places)
    return sum(len(cell.getcolors()) > 1 for cell in cells)


def test_a_first_answer_confirms_the_sentence_and_counts_the_dots(client):
    writing = {"confirm": "I write without AI.", "question": True}
    campaign = make_campaign(tasks=2, writing=writing)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1", slots=3)
    page = client.get(address(hit))
    number = str(dots_in(page))
    given = {"behaviour-confirmed": "yes", "behaviour-dots": number}

    without_box = answer(client, hit, **{**given, "behaviour-confirmed": ""})
    miscounted = answer(client, hit, **{**given, "behaviour-dots": "12"})
    # As keyboards for Arabic type it.
    in_arabic = {**given, "behaviour-dots": chr(ord("\N{ARABIC-INDIC DIGIT ZERO}") + int(number))}
    right_in_arabic = answer(client, hit, only_check="1", **in_arabic)
    right = answer(client, hit, **given)
    again = answer(client, hit, SENTENCE.replace("dog", "cat"))

    assert "I write without AI." in page.content.decode()
    assert without_box.status_code == miscounted.status_code == 422
    assert "Please confirm the sentence" in without_box.content.decode()
    assert "Please count the dots in the picture again" in miscounted.content.decode()
    assert right.status_code == right_in_arabic.status_code == again.status_code == 200
    assert b"behaviour-dots" not in right.content
    assert not any("behaviour" in name for name in TaskPage.objects.get().fields)


def test_a_worker_who_has_submitted_before_is_not_asked_again(client):
    campaign = make_campaign(tasks=2, writing={"confirm": "I write without AI.", "question": True})
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1", slots=3)
    known, before = account(), HitFactory(hit_type=hit.hit_type)
    submitted = AssignmentFactory(hit=before, account=known)
    ResponseFactory(task=campaign.tasks.first(), worker=known.worker, assignment=submitted)

    page = client.get(address(hit))

    assert "I write without AI." not in page.content.decode()
    assert "dots" not in page.content.decode()


@pytest.mark.parametrize("is_imported", [False, True])
def test_a_worker_is_asked_on_the_first_page_of_the_campaign(client, is_imported):
    campaign = make_campaign(tasks=2, writing={"confirm": "I write without AI.", "question": True})
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1", slots=3)
    known = account()
    if is_imported:
        ResponseFactory(task=campaign.tasks.first(), worker=known.worker)
    else:
        elsewhere = AssignmentFactory(account=known)
        task = TaskFactory(campaign=elsewhere.hit.campaign)
        ResponseFactory(task=task, worker=known.worker, assignment=elsewhere)

    page = client.get(address(hit)).content.decode()
    refused = answer(client, hit)

    assert "I write without AI." in page
    assert 'class="instructions" open' in page
    assert refused.status_code == 422


@pytest.mark.parametrize(
    "fields", [{f"field-{n}": "x" for n in range(1_500)}, {"large": "x" * 1_100_000}]
)
def test_a_form_that_is_too_large_is_refused_in_words(client, hit, fields, caplog):
    mine = form_fields(client.get(address(hit)))

    answer = client.post(f"/task/{hit.campaign.slug}/", {**mine, **fields})

    assert answer.status_code == 413
    assert "too large" in answer.content.decode()
    assert "Traceback" not in caplog.text


def test_head_has_the_headers_of_get_and_no_body(client, hit):
    page = client.get(address(hit))

    answer = client.head(address(hit))

    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["Content-Length"]) > 1_000
    assert answer.headers["Content-Type"] == page.headers["Content-Type"]
