"""Section "Frame flow": the parameters of a task page, and its submission."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from lxml import etree

from marketplace.questions import answers
from tests.marketplace.driver import QUESTION, counts, create_hit, create_hit_type, new_hit

pytestmark = pytest.mark.one_database

# What client programs parse answers by.
ANSWERS_SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("question_form_answers.xsd")))


@pytest.fixture
def hit_type_id(client):
    hit_type_id, _ = new_hit(client, MaxAssignments=3)
    return hit_type_id


def answer_of(client, assignment_id: str) -> str:
    return client.get_assignment(AssignmentId=assignment_id)["Assignment"]["Answer"]


@pytest.mark.parametrize(
    ("url", "start"),
    [
        ("https://example.org/t", "/t?assignmentId="),
        ("https://example.org/t?a=1&amp;b=%26", "/t?a=1&b=%26&assignmentId="),
    ],
)
def test_the_frame_is_told_four_parameters(marketplace, client, url, start):
    """Conformance check 41."""
    hit_type_id = create_hit_type(client)
    question = QUESTION.replace("https://example.org/task", url)
    hit_id = create_hit(client, hit_type_id, Question=question)["HITId"]
    worker, assignment_id = marketplace.at_work(hit_type_id)

    src = worker.frame(f"/assignments/{assignment_id}")["src"]

    assert src.removeprefix("https://example.org").startswith(start)
    told = parse_qs(urlsplit(src).query)
    assert told["assignmentId"] == [assignment_id]
    assert told["hitId"] == [hit_id]
    assert told["workerId"] == [worker.worker_id]
    assert told["turkSubmitTo"] == [marketplace.url]
    assert "turkSubmitTo=http%3A%2F%2F" in src


def test_a_preview_allocates_nothing_and_takes_no_answers(marketplace, client, hit_type_id):
    """Conformance check 42."""
    worker = marketplace.worker()

    frame = worker.frame(f"/groups/{hit_type_id}/preview")
    response = worker.try_submit("ASSIGNMENT_ID_NOT_AVAILABLE")

    assert "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in frame["src"]
    assert response.status_code == 400
    assert "preview" in response.text
    assert client.list_hits()["HITs"][0]["NumberOfAssignmentsAvailable"] == 3


TEXTS = [
    "<b>A dog</b> & a \"cat\" — 'both'",
    "😀 مرحبا\nsecond\tline",
    "]]> &amp; <!-- -->",
    " spaces around ",
    "\r\nbreaks\r\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_answers_survive_as_they_were_typed(marketplace, client, hit_type_id, text):
    """Conformance check 43."""
    worker, assignment_id = marketplace.at_work(hit_type_id)

    worker.submit(assignment_id, caption=text, hitId="x", workerId="y", other="")

    document = answer_of(client, assignment_id)
    assert answers.read(document) == {"caption": [text], "other": [""]}
    ANSWERS_SCHEMA.assertValid(etree.fromstring(document.encode()))


def test_control_characters_are_left_out(marketplace, client, hit_type_id):
    worker, assignment_id = marketplace.at_work(hit_type_id)

    worker.submit(assignment_id, caption="a\x00b\x0bc\ufffed")

    assert answers.read(answer_of(client, assignment_id)) == {"caption": ["abcd"]}


@pytest.mark.parametrize(("setting", "values"), [("join", ["a|b"]), ("separate", ["a", "b"])])
def test_a_field_that_comes_twice(marketplace, client, hit_type_id, setting, values):
    marketplace.choose(MTURK_REPEATED_FIELDS=setting)
    worker, assignment_id = marketplace.at_work(hit_type_id)

    worker.submit(assignment_id, choice=["a", "b"])

    document = answer_of(client, assignment_id)
    assert document.count("<FreeText>") == len(values)
    assert all(f"<FreeText>{value}</FreeText>" in document for value in values)


def test_fields_of_the_address_count_too(marketplace, client, hit_type_id):
    worker, assignment_id = marketplace.at_work(hit_type_id)

    response = requests.post(
        f"{marketplace.url}/mturk/externalSubmit?assignmentId={assignment_id}&first=1",
        data={"second": "2"},
    )

    assert response.status_code == 200
    assert answers.read(answer_of(client, assignment_id)) == {"first": ["1"], "second": ["2"]}


def test_a_large_answer_is_kept_whole(marketplace, client, hit_type_id):
    worker, assignment_id = marketplace.at_work(hit_type_id)

    worker.submit(assignment_id, caption="é" * 100_000)

    assert len(answers.read(answer_of(client, assignment_id))["caption"][0]) == 100_000


@pytest.mark.parametrize("size", [1_100_000, 5_000_000])
def test_an_answer_beyond_the_limit_is_refused_in_words(marketplace, client, hit_type_id, size):
    worker, assignment_id = marketplace.at_work(hit_type_id)

    response = worker.try_submit(assignment_id, caption="x" * size)

    assert 400 <= response.status_code < 500
    assert "Please shorten them" in response.text
    worker.submit(assignment_id)


@pytest.mark.parametrize(("count", "status"), [(3000, 200), (10_001, 413)])
def test_a_form_may_have_thousands_of_fields(marketplace, client, hit_type_id, count, status):
    worker, assignment_id = marketplace.at_work(hit_type_id)
    cells = {f"cell {number}": "x" for number in range(count)}

    assert worker.try_submit(assignment_id, **cells).status_code == status


def test_a_form_without_an_answer_is_refused(marketplace, client, hit_type_id):
    marketplace.choose(MTURK_FRAME_FIELDS_ALONE_ARE_ANSWERS=False)
    worker, assignment_id = marketplace.at_work(hit_type_id)

    response = worker.try_submit(assignment_id, hitId="x")

    assert response.status_code == 400
    worker.submit(assignment_id)


def test_a_second_submission_changes_nothing(marketplace, client, hit_type_id):
    """Conformance check 44."""
    worker, assignment_id = marketplace.at_work(hit_type_id)
    worker.submit(assignment_id, caption="first")

    response = worker.try_submit(assignment_id, caption="second")

    assert response.status_code == 409
    assert "first" in answer_of(client, assignment_id)


def test_a_late_submission_changes_nothing(marketplace, client, hit_type_id):
    """Conformance check 44."""
    worker, assignment_id = marketplace.at_work(hit_type_id)
    marketplace.advance(seconds=600)

    response = worker.try_submit(assignment_id)

    assert response.status_code == 409
    assert "its time is over" in response.text
    hit_id = client.list_hits()["HITs"][0]["HITId"]
    assert counts(client, hit_id) == ("Assignable", 3, 0, 0)


def test_another_workers_assignment_is_out_of_reach(marketplace, client, hit_type_id):
    """Conformance check 44."""
    worker, other = marketplace.worker(), marketplace.worker()
    assignment_id = worker.accept(hit_type_id)

    assert other.try_submit(assignment_id).status_code == 409
    assert other.get(f"/assignments/{assignment_id}").status_code == 404
    assert other.post(f"/assignments/{assignment_id}/return").status_code == 404
    worker.submit(assignment_id)


def test_a_frame_without_cookies_can_submit(marketplace, client, hit_type_id):
    """Conformance check 45."""
    assignment_id = marketplace.worker().accept(hit_type_id)

    response = requests.post(
        f"{marketplace.url}/mturk/externalSubmit",
        data={"assignmentId": assignment_id, "caption": "A dog."},
        headers={"Origin": "https://example.org", "Referer": "https://example.org/task"},
    )

    assert response.status_code == 200
    assert 'target="_top"' in response.text


def test_the_submission_needs_a_form_post(marketplace):
    response = requests.get(f"{marketplace.url}/mturk/externalSubmit")

    assert response.status_code == 405


HTML_QUESTION = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[<!DOCTYPE html><p>Hello</p>]]>'
    "</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
)


def test_a_page_of_the_requesters_own_text_is_a_stranger_to_this_site(marketplace, client):
    hit_type_id, _ = new_hit(client, Question=HTML_QUESTION)
    worker, assignment_id = marketplace.at_work(hit_type_id)

    frame = worker.frame(f"/assignments/{assignment_id}")
    page = requests.get(marketplace.url + frame["src"])

    assert "allow-same-origin" not in frame["sandbox"]
    assert "sandbox allow-scripts" in page.headers["Content-Security-Policy"]
    assert "allow-same-origin" not in page.headers["Content-Security-Policy"]
    assert page.text == "<!DOCTYPE html><p>Hello</p>"
