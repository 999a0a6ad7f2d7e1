"""Error pages for browsers, and error responses for API clients."""

import pytest
import requests

from marketplace.pages import problems

CALL = {"X-Amz-Target": "MTurkRequesterServiceV20170117.ListHITs"}


def test_an_address_without_a_page_is_told_in_words(marketplace):
    response = requests.get(f"{marketplace.url}/nowhere")

    assert response.status_code == 404
    assert problems.NOT_FOUND in response.text


def test_a_form_of_an_earlier_session_is_refused_in_words(marketplace):
    worker = marketplace.worker()
    worker.get("/")

    response = worker.session.post(
        f"{marketplace.url}/sign-out", data={"csrfmiddlewaretoken": "x" * 64}
    )

    assert response.status_code == 403
    assert problems.STALE in response.text


@pytest.mark.parametrize(
    ("path", "host", "status", "told"),
    [
        ("/api", None, 404, "as POST requests to the root"),
        ("/", "elsewhere.example", 400, "MARKETPLACE_ALLOWED_HOSTS"),
    ],
)
def test_a_call_to_a_wrong_address_is_answered_in_json(marketplace, path, host, status, told):
    headers = {**CALL, **({"Host": host} if host else {})}

    response = requests.post(marketplace.url + path, data="{}", headers=headers)

    assert response.status_code == status
    assert told in response.json()["Message"]
    assert response.json()["__type"] == "UnknownOperationException"


MANY_FILES = "".join(
    f'--b\r\nContent-Disposition: form-data; name="f{number}"; filename="f"\r\n\r\nx\r\n'
    for number in range(101)
)
UNREADABLE = [
    ("application/x-www-form-urlencoded; charset=utf-16", "assignmentId=A"),
    ("multipart/form-data; charset=utf-16; boundary=b", "--b--"),
    ("multipart/form-data", "--b--"),
    ("multipart/form-data; boundary=b", f"{MANY_FILES}--b--"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "body"), UNREADABLE)
@pytest.mark.parametrize("path", ["/mturk/externalSubmit", "/sign-in"])
def test_a_form_that_cannot_be_read_is_refused_in_words(client, path, kind, body):
    response = client.generic("POST", path, body, content_type=kind)

    assert response.status_code == 400
    assert problems.UNREADABLE in response.text


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "body"), UNREADABLE)
def test_a_task_page_reads_that_its_answers_could_not_be_read(client, kind, body):
    response = client.generic(
        "POST", "/mturk/externalSubmit", body, content_type=kind, HTTP_ACCEPT="application/json"
    )

    assert response.status_code == 400
    assert response.json() == {"outcome": "refused", "message": problems.UNREADABLE}


def test_an_error_of_ours_is_a_page_of_ours(rf):
    response = problems.server_error(rf.get("/queue"))

    assert response.status_code == 500
    assert problems.FAILED in response.text
