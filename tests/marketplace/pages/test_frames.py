"""The list of HITs, the statements, and the frames with requesters' pages."""

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from marketplace import clock
from marketplace.models import AssignmentStatus, Hit, Transfer, Worker
from marketplace.questions.documents import parse_question
from marketplace.services import assignments, reviews
from marketplace.services.links import sign_in_url
from tests.marketplace.driver import QUESTION
from tests.marketplace.factories import make_hit, make_hit_type, make_requester, make_worker

pytestmark = pytest.mark.django_db

HTML = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[<!DOCTYPE html><p>Hello</p>]]>'
    "</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
)
FRAMES = "http://frames.example"


@pytest.fixture
def worker():
    return make_worker()


@pytest.fixture
def client(worker, settings) -> Client:
    client = Client()
    client.get(sign_in_url(worker).removeprefix(settings.MARKETPLACE_URL))
    return client


def open_hit(**changes) -> Hit:
    question = changes.pop("question", None)
    hit = make_hit(make_hit_type(**changes), **({"question": question} if question else {}))
    Hit.objects.filter(pk=hit.pk).update(expires_at=clock.now() + timedelta(hours=1))
    return hit


def titles(client: Client, **query: str) -> list[str]:
    rows = BeautifulSoup(client.get("/", query).content, "lxml").select("tr[data-group] th a")
    return [row.text for row in rows]


@pytest.fixture
def three_groups():
    lab = make_requester()
    open_hit(requester=lab, title="old", reward=Decimal("0.50"), keywords="boxes")
    open_hit(requester=lab, title="quick", assignment_duration=timedelta(minutes=1))
    requirement = {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "EqualTo",
        "LocaleValues": [{"Country": "NL"}],
    }
    open_hit(
        requester=lab, title="new", reward=Decimal("0.01"), qualification_requirements=[requirement]
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["new", "quick", "old"]),
        ({"sort": "reward"}, ["old", "quick", "new"]),
        ({"sort": "time"}, ["quick", "new", "old"]),
        ({"sort": "nonsense"}, ["new", "quick", "old"]),
        ({"reward": "0.05"}, ["quick", "old"]),
        ({"reward": "$0.50"}, ["old"]),
        ({"reward": "NaN"}, ["new", "quick", "old"]),
        ({"reward": "-3"}, ["new", "quick", "old"]),
        ({"qualified": "1"}, ["quick", "old"]),
        ({"q": "BOXES"}, ["old"]),
        ({"q": "lab", "sort": "reward"}, ["old", "quick", "new"]),
    ],
)
def test_the_list_is_sorted_and_narrowed(client, three_groups, query, expected):
    assert titles(client, **query) == expected


def test_accepting_the_next_one_is_remembered_for_the_session(client, worker):
    hit = open_hit()
    Hit.objects.filter(pk=hit.pk).update(available=2, max_assignments=2)

    response = client.post(f"/groups/{hit.hit_type.public_id}/accept", {"auto": "1"})

    def is_checked() -> bool:
        page = BeautifulSoup(client.get(response.url).content, "lxml")
        return page.find("input", id="auto").has_attr("checked")

    assert is_checked()
    client.post("/auto-accept")
    assert not is_checked()


def test_a_box_that_is_unchecked_on_the_preview_is_remembered(client, worker):
    hit = open_hit()
    Hit.objects.filter(pk=hit.pk).update(available=2, max_assignments=2)
    client.post("/auto-accept", {"on": "1"})
    preview = hit.hit_type.get_absolute_url()
    form = BeautifulSoup(client.get(preview).content, "lxml").find("form", class_="row")
    fields = {
        field["name"]: field["value"]
        for field in form.find_all("input", attrs={"name": True})
        if field.get("type") != "checkbox"
    }

    client.post(form["action"], fields)

    assert not client.session.get("accepts_next")


def test_a_worker_cannot_submit_look_at_or_return_anothers_assignment(client):
    hit = open_hit()
    found = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=clock.now())

    answers = [
        client.post("/mturk/externalSubmit", {"assignmentId": found.public_id, "caption": "Mine"}),
        client.get(found.get_absolute_url()),
        client.post(f"{found.get_absolute_url()}/return"),
    ]

    found.refresh_from_db()
    assert [answer.status_code for answer in answers] == [409, 404, 404]
    assert found.status == "Accepted"


def test_a_submissions_page_may_be_framed_by_this_site_only(client, worker):
    hit = open_hit()
    found = assignments.accept(worker=worker, hit_type=hit.hit_type, at=clock.now())

    response = client.post(
        "/mturk/externalSubmit", {"assignmentId": found.public_id, "caption": "A dog."}
    )

    assert "X-Frame-Options" not in response.headers
    assert "frame-ancestors 'self';" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize(("hits", "expected"), [(1, "last"), (2, "accepted")])
def test_the_page_of_a_submission_says_whether_more_hits_are_left(client, worker, hits, expected):
    hit = open_hit()
    for _ in range(hits - 1):
        other = make_hit(hit.hit_type)
        Hit.objects.filter(pk=other.pk).update(expires_at=clock.now() + timedelta(hours=1))
    mine = assignments.accept(worker=worker, hit_type=hit.hit_type, at=clock.now())

    page = client.post("/mturk/externalSubmit", {"assignmentId": mine.public_id, "a": "1"})

    body = BeautifulSoup(page.content, "lxml").body
    assert body["data-submission"] == expected
    assert ("Next HIT of this group" in body.text) == (expected == "accepted")


def send(assignment, *, accept: str = "application/json", **answer: str):
    """Submit as a task page of another site does: in the background, and without cookies."""
    fields = {"assignmentId": assignment.public_id, **answer}
    return Client().post("/mturk/externalSubmit", fields, headers={"Accept": accept})


@pytest.mark.parametrize(
    ("accept", "is_json"),
    [
        ("application/json, text/plain, */*", True),
        ("text/html;q=0.5, application/json", True),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", False),
        ("*/*", False),
    ],
)
def test_a_task_page_says_that_it_wants_json_as_libraries_do(worker, accept, is_json):
    found = assignments.accept(worker=worker, hit_type=open_hit().hit_type, at=clock.now())

    reply = send(found, accept=accept, a="1")

    assert reply.headers["Content-Type"].startswith("application/json") == is_json


def test_a_task_page_of_any_site_reads_what_became_of_the_answers(worker):
    found = assignments.accept(worker=worker, hit_type=open_hit().hit_type, at=clock.now())

    replies = [send(found, a="1"), send(found, a="1"), send(found, a="2")]

    assert [reply.json()["outcome"] for reply in replies] == ["last", "last", "over"]
    assert [reply.status_code for reply in replies] == [200, 200, 409]
    assert "already submitted" in replies[2].json()["message"]
    assert {reply.headers["Access-Control-Allow-Origin"] for reply in replies} == {"*"}


def test_the_same_answers_again_show_the_same_page(worker):
    found = assignments.accept(worker=worker, hit_type=open_hit().hit_type, at=clock.now())

    pages = [send(found, accept="text/html", a="1") for _ in range(2)]

    assert [page.status_code for page in pages] == [200, 200]
    assert pages[0].content == pages[1].content
    assert found.hit.assignments.filter(status="Submitted").count() == 1


def test_a_task_page_learns_that_the_time_is_over_or_the_hit_was_returned(worker):
    late = assignments.accept(worker=worker, hit_type=open_hit().hit_type, at=clock.now())
    returned = assignments.accept(worker=worker, hit_type=open_hit().hit_type, at=clock.now())
    type(late).objects.filter(pk=late.pk).update(deadline=clock.now())
    assignments.give_back(assignment=returned, at=clock.now())

    assert send(late, a="1").json()["outcome"] == "late"
    assert send(returned, a="1").json()["outcome"] == "over"
    assert send(returned).json()["outcome"] == "refused"


def test_the_text_of_a_late_answer_is_shown_to_be_copied(worker):
    late = assignments.accept(worker=worker, hit_type=open_hit().hit_type, at=clock.now())
    type(late).objects.filter(pk=late.pk).update(deadline=clock.now())

    page = send(late, accept="text/html", caption="A <dog>.\nOn a mat.", workerId="W1", empty=" ")

    body = BeautifulSoup(page.content, "lxml").body
    assert (page.status_code, body["data-submission"]) == (409, "late")
    assert [text.text for text in body.select("blockquote")] == ["A <dog>.\nOn a mat."]


def test_a_task_page_can_ask_whether_it_may_submit_in_the_background():
    reply = Client().get("/mturk/externalSubmit", headers={"Accept": "application/json"})

    assert (reply.status_code, reply.json()["outcome"]) == (405, "refused")
    assert reply.headers["Access-Control-Allow-Origin"] == "*"


def test_a_hits_own_page_is_a_stranger_to_this_site(client):
    response = client.get(f"/frames/{open_hit(question=HTML).public_id}")

    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox ")
    assert "allow-same-origin" not in policy
    assert "allow-top-navigation" not in policy


AMAZONS_SAMPLE = """<script src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script>
<form id="mturk_form" action="https://{host}.mturk.com/mturk/externalSubmit" method="post">"""


@pytest.mark.parametrize("host", ["www", "workersandbox", "worker"])
def test_a_page_written_for_amazon_submits_here(client, host):
    html = AMAZONS_SAMPLE.format(host=host)
    hit = open_hit(question=HTML.replace("<p>Hello</p>", html))

    page = BeautifulSoup(client.get(f"/frames/{hit.public_id}").content, "lxml")

    assert page.find("form")["action"] == "/mturk/externalSubmit"
    assert page.find("script")["src"] == "/static/marketplace/external_hit.js"


@pytest.mark.parametrize(
    ("written", "served"),
    [
        ("let site = 'https://www.mturk.com';", "let site = '{site}';"),
        ('let site = "https://workersandbox.mturk.com/";', 'let site = "{site}/";'),
        ("see https://www.mturk.com/help", "see https://www.mturk.com/help"),
        ("'https://www.mturk.com.example.org'", "'https://www.mturk.com.example.org'"),
    ],
)
def test_amazons_site_is_replaced_where_a_script_makes_an_address_of_it(
    client, settings, written, served
):
    hit = open_hit(question=HTML.replace("<p>Hello</p>", written))

    page = client.get(f"/frames/{hit.public_id}").content.decode()

    assert page == f"<!DOCTYPE html>{served.format(site=settings.MARKETPLACE_URL)}"


def test_hits_own_pages_can_have_a_host_to_themselves(client, settings):
    settings.MARKETPLACE_FRAME_URL, settings.MARKETPLACE_FRAME_HOST = FRAMES, "frames.example"
    settings.CONTENT_POLICY = {"frame-src": FRAMES}
    settings.ALLOWED_HOSTS = ["testserver", "frames.example"]
    hit = open_hit(question=HTML)
    path = f"/frames/{hit.public_id}"

    preview = client.get(hit.hit_type.get_absolute_url())
    there = client.get(path, headers={"Host": "frames.example"})

    frame = BeautifulSoup(preview.content, "lxml").find("iframe")
    assert frame["src"].startswith(FRAMES + path)
    assert FRAMES in preview.headers["Content-Security-Policy"]
    assert there.status_code == 200
    assert settings.MARKETPLACE_URL in there.headers["Content-Security-Policy"]
    assert client.get(path).status_code == 404
    for other in ("/", "/sign-in", "/earnings", "/mturk/externalSubmit"):
        assert client.get(other, headers={"Host": "frames.example"}).status_code == 404


def paid(worker: Worker, *, title: str, at: datetime) -> None:
    hit = open_hit(title=title, reward=Decimal("1.25"))
    found = assignments.accept(worker=worker, hit_type=hit.hit_type, at=clock.now())
    assignments.submit(assignment=found, answer="<a/>", at=clock.now())
    reviews.approve(assignment=found, at=clock.now())
    Transfer.objects.filter(assignment=found).update(made_at=at)


def test_a_statement_has_what_was_paid_in_its_month(client, worker):
    paid(worker, title="January's last", at=datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC))
    paid(worker, title="=February()", at=datetime(2026, 2, 1, tzinfo=UTC))
    paid(make_worker(), title="somebody else's", at=datetime(2026, 2, 2, tzinfo=UTC))

    page = BeautifulSoup(client.get("/earnings/2026-02").content, "lxml").get_text(" ", strip=True)
    answer = client.get("/earnings/2026-02.csv")

    assert "Earned this month $1.25" in page
    assert "January" not in page
    assert "somebody" not in page
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    assert [(row["kind"], row["title"], row["amount"]) for row in rows] == [
        ("reward", "'=February()", "1.25")
    ]


def test_the_months_with_earnings_are_listed(client, worker):
    paid(worker, title="a", at=datetime(2026, 1, 31, tzinfo=UTC))
    paid(worker, title="b", at=datetime(2026, 3, 1, tzinfo=UTC))

    page = BeautifulSoup(client.get("/earnings").content, "lxml")

    assert [link["href"] for link in page.select(".months li a:first-child")] == [
        "/earnings/2026-03",
        "/earnings/2026-01",
    ]


@pytest.mark.parametrize("month", ["2026-13", "2026-00", "0-1", "999999-01"])
def test_an_invalid_month_has_no_statement(client, month):
    assert client.get(f"/earnings/{month}").status_code == 404
    assert client.get(f"/earnings/{month}.csv").status_code == 404


def test_new_messages_are_counted_beside_their_link(client, worker):
    worker.messages.create(
        requester=make_requester(), subject="Hello", text="Hello.", sent_at=clock.now()
    )

    def link() -> str:
        page = BeautifulSoup(client.get("/").content, "lxml")
        return " ".join(page.find("a", href="/messages").get_text().split())

    before = link()
    client.get("/messages")

    assert (before, link()) == ("Messages 1 new", "Messages")


def test_a_task_whose_host_is_allowed_no_longer_is_shown_and_sent_all_the_same(
    client, worker, settings
):
    settings.MTURK_HTTP_HOSTS = ["tasks.example"]
    hit = open_hit(question=QUESTION.replace("https://example.org", "http://tasks.example"))
    assignment = assignments.accept(worker=worker, hit_type=hit.hit_type, at=clock.now())
    settings.MTURK_HTTP_HOSTS = []
    parse_question.cache_clear()

    page = client.get(assignment.get_absolute_url())
    client.post("/mturk/externalSubmit", {"assignmentId": assignment.public_id, "caption": "A dog"})

    assert page.status_code == 200
    assignment.refresh_from_db()
    assert assignment.status == AssignmentStatus.SUBMITTED
