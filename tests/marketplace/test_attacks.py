"""Malicious requests are refused with a message and change nothing."""

import json
import socket
from urllib.parse import urlsplit

import pytest
import requests
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, get_resolver

from marketplace.api.dispatch import CONTENT_TYPE
from marketplace.api.signing import SERVICE
from marketplace.errors import DomainError, StudyRefused
from marketplace.models import Assignment, Hit, Requester
from marketplace.services.links import sign_in_url
from tests.marketplace.factories import (
    make_hit,
    make_hit_type,
    make_requester,
    make_study,
    make_worker,
)
from tests.marketplace.people import join, make_group
from tests.servers import PATIENCE

TARGET = "MTurkRequesterServiceV20170117"


def signed_in() -> Client:
    client = Client()
    client.get("/" + sign_in_url(make_worker()).split("/", 3)[3])
    return client


def operator() -> Client:
    client = Client()
    client.force_login(User.objects.create(username="operator", is_staff=True))
    return client


def every_path(text: str) -> list[str]:
    """The path of every page, with the text as each of its arguments."""
    paths = []
    for prefix, urls in (("", "marketplace.urls"), ("operator/", "marketplace.operator.urls")):
        for each in get_resolver(urls).url_patterns:
            if isinstance(each, URLPattern):
                route = str(each.pattern)
                while "<" in route:
                    before, _open, rest = route.partition("<")
                    route = before + text + rest.partition(">")[2]
                paths.append(f"/{prefix}{route}")
    return paths


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["%00", "a%00b"])
def test_a_nul_in_an_address_finds_nothing(text):
    """PostgreSQL raises an error for a NUL in any query."""
    worker, staff = signed_in(), operator()
    paths = {path for path in every_path(text) if text in path}

    for path in paths:
        for client in (worker, staff, Client()):
            assert client.get(path).status_code == 404
            assert client.post(path).status_code == 404
    for path in ("/", "/mturk/preview", "/operator/hits", "/operator/activity"):
        for name in ("q", "groupId", "page", "before"):
            assert staff.get(f"{path}?{name}={text}").status_code == 404
            assert worker.get(f"{path}?{name}={text}").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["groups/{}/agreement", "groups/{}/withdrawal", "next/{}"])
def test_a_number_above_all_keys_finds_nothing_for_a_member(path):
    assert join(make_group()).post(f"/home/{path.format('9' * 20)}").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["{}", "{}/members/A1/withdrawal", "{}/tasks/{}/close"])
def test_a_number_above_all_keys_finds_nothing_for_an_operator(path):
    number = "9" * 20

    answer = operator().post(f"/operator/people/{path.format(number, number)}")

    assert answer.status_code == 404


@pytest.mark.django_db
def test_a_nul_in_a_cookie_is_ignored():
    for name in ("sessionid", settings.SESSION_COOKIE_NAME, "csrftoken", "messages"):
        for path in ("/", "/sign-in", "/operator/"):
            answer = Client().get(path, headers={"cookie": rf'{name}="a\000b"'})
            assert answer.status_code in {200, 302}, (name, path)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["assignmentId", "PROLIFIC_PID", "name", "country", "q"])
def test_a_nul_in_a_form_finds_nothing(name, settings):
    settings.SIGN_UP_IS_OPEN = True
    make_study()
    fields = {"name": "ada", "password": "a long password", name: "a\0b"}

    for path in ("/mturk/externalSubmit", "/sign-in", "/sign-up", "/join/scenes"):
        assert Client().post(path, fields).status_code < 500


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["base64", "idna", "rot13", "utf-7", "zlib", "none-such"])
@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "text/plain"])
def test_a_form_in_another_encoding_is_refused(charset, kind):
    body = b'--x\r\nContent-Disposition: form-data; name="assignmentId"\r\n\r\nA\r\n--x--\r\n'

    response = Client().generic(
        "POST", "/mturk/externalSubmit", body, content_type=f"{kind}; charset={charset}"
    )

    assert response.status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize(
    "moment",
    ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-01-01", "now", "%20"],
)
def test_a_payout_of_no_time_is_not_found(moment):
    assert operator().get(f"/operator/money/payouts/{moment}.csv").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address",
    ["http://[", "https://h:port/", "https://h:0/", "//h", "https://", "h\r\nSet-Cookie: a=b"],
)
def test_a_study_leads_back_to_a_web_address_alone(address):
    with pytest.raises(StudyRefused):
        make_study(return_url=address)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "url",
    ["https://h/&#13;&#10;x", "https://\u2100.org/", "https://[1.2.3.4]/", "https://h:99999/"],
)
def test_an_external_url_that_no_browser_opens_is_refused(url):
    question = make_hit().question.replace("https://example.org/task", url)

    with pytest.raises(DomainError, match="ExternalURL"):
        make_hit(question=question)


@pytest.mark.django_db
def test_a_review_policy_of_any_size_is_not_kept():
    policy = {
        "PolicyName": "SimplePlurality/2011-09-01",
        "Parameters": [{"Key": "QuestionIds", "Values": ["q" * 200] * 1000},
                       {"Key": "QuestionAgreementThreshold", "Values": ["51"]}],
    }  # fmt: skip

    with pytest.raises(DomainError, match="at most 65535"):
        make_hit(hit_review_policy=policy)


@pytest.mark.django_db
def test_a_page_to_come_back_to_has_a_limit():
    """A redirect to a URL of any length would fail."""
    response = Client().get("/queue?" + "x" * 20_000)

    assert (response.status_code, response.url) == (302, "/sign-in")


class Wire:
    """Sends raw bytes to the marketplace."""

    def __init__(self, url: str, requester: Requester) -> None:
        self.url, self.requester = url, requester

    def signed(self, operation: str = "GetAccountBalance", body: bytes = b"{}") -> dict[str, str]:
        """The headers of a correctly signed call."""
        headers = {"Content-Type": CONTENT_TYPE, "X-Amz-Target": f"{TARGET}.{operation}"}
        request = AWSRequest("POST", f"{self.url}/", headers=headers, data=body)
        credentials = Credentials(self.requester.access_key, self.requester.secret_key)
        SigV4Auth(credentials, SERVICE, "us-east-1").add_auth(request)
        return {"Host": urlsplit(self.url).netloc, **dict(request.headers)}

    def send(self, headers: dict[str, str], line: str = "POST / HTTP/1.1", body: bytes = b"{}"):
        """Send a request; return the response's status and body."""
        head = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
        length = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        parts = urlsplit(self.url)
        with socket.create_connection((parts.hostname, parts.port), PATIENCE) as connection:
            connection.sendall(f"{line}\r\n{head}{length}".encode("latin-1") + body)
            answer = b""
            while piece := connection.recv(65_536):
                answer += piece
        status, _newline, rest = answer.partition(b"\r\n")
        return int(status.split()[1]), rest.partition(b"\r\n\r\n")[2]


@pytest.fixture
def wire(marketplace) -> Wire:
    return Wire(marketplace.url, make_requester())


NONSENSE = [
    "", "x" * 5000, "\xff\xfe", "\t", "0" * 16, "99999999T999999Z", "00010101T000000Z",
    "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=a/b", "Basic YTpi", "Bearer x",
    "AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/mturk-requester/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64,
    "AWS4-HMAC-SHA256 Credential=AKIA/20260101/../mturk-requester/aws4_request, "
    "SignedHeaders=" + "a;" * 2000 + "b, Signature=" + "0" * 64,
]  # fmt: skip


def test_a_signature_is_whole_or_refused(wire):
    assert wire.send(wire.signed())[0] == 200
    for name in ("Authorization", "X-Amz-Date", "X-Amz-Target", "Content-Type"):
        for text in NONSENSE:
            status, body = wire.send({**wire.signed(), name: text})

            assert status == 400, (name, text)
            assert json.loads(body)["__type"] != "ServiceFault", (name, text)
    status, body = wire.send({**wire.signed(), "X-Amz-Content-SHA256": "0" * 64}, body=b"{ }")
    assert (status, json.loads(body)["__type"]) == (400, "InvalidSignatureException")


@pytest.mark.parametrize("change", ["body", "operation", "key", "query"])
def test_a_signature_of_another_call_is_refused(wire, change):
    """A signature of one call is not valid for another one."""
    hit = make_hit(make_hit_type(wire.requester))
    body = json.dumps({"HITId": hit.public_id}).encode()
    headers, line = wire.signed("GetHIT", body), "POST / HTTP/1.1"
    if change == "body":
        body = body.replace(b"}", b" }")
    elif change == "operation":
        headers["X-Amz-Target"] = f"{TARGET}.DeleteHIT"
    elif change == "key":
        other = make_requester()
        headers["Authorization"] = headers["Authorization"].replace(
            wire.requester.access_key, other.access_key
        )
    else:
        line = "POST /?HITId=x HTTP/1.1"

    status, answer = wire.send(headers, line, body)

    assert (status, json.loads(answer)["__type"]) == (400, "InvalidSignatureException")
    assert Hit.objects.get().status == "Assignable"


@pytest.mark.parametrize(
    "body",
    [
        b"9" * 6000, b'{"MaxResults":' + b"9" * 6000 + b"}", b"[" * 100_000, b'{"a":' * 50_000,
        b'"\\ud800"', b"\xff", b'{"MaxResults":1e999}', b'{"MaxResults":NaN}', b"null", b"[]", b"1",
        b'{"NextToken":"\\u0000"}', b'{"NextToken":"' + b"a" * 4_500_000 + b'"}',
    ],
    ids=range(13),
)  # fmt: skip
def test_a_body_that_breaks_readers_is_refused_in_json(wire, body):
    answer = requests.post(f"{wire.url}/", data=body, headers=wire.signed("ListHITs", body))

    assert answer.status_code == 400
    assert answer.json()["__type"] in ("SerializationException", "ValidationException")


@pytest.mark.parametrize(
    "moment",
    ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", -62135596800, 253402300799, 1e308,
     -1e308, "1e-400", True, "2026-13-01"],
)  # fmt: skip
def test_a_time_at_the_end_of_time_is_no_fault(wire, moment):
    hit = make_hit(make_hit_type(wire.requester))
    body = json.dumps({"HITId": hit.public_id, "ExpireAt": moment}).encode()

    answer = requests.post(
        f"{wire.url}/", data=body, headers=wire.signed("UpdateExpirationForHIT", body)
    )

    assert answer.status_code in (200, 400), answer.text


@pytest.mark.parametrize(
    "path",
    ["/../../etc/passwd", "/static/../../manage.py", "/static/..%2f..%2fmanage.py",
     "//example.org/%2e%2e", "/static/%5c..%5cmanage.py", "/frames/..%2f..%2fmanage.py",
     "/static/marketplace/../../../var/marketplace-secret-key"],
)  # fmt: skip
def test_no_path_leads_to_a_file_that_is_not_the_sites(wire, path):
    status, body = wire.send({"Host": urlsplit(wire.url).netloc}, f"GET {path} HTTP/1.1", b"")

    assert status == 404
    assert b"django" not in body


@pytest.mark.parametrize("header", ["Host", "X-Forwarded-Host"])
def test_a_strange_host_leads_nowhere(wire, header):
    headers = {"Host": urlsplit(wire.url).netloc, header: "evil.example"}

    status, body = wire.send(headers, "GET /queue HTTP/1.1", b"")

    assert status in (302, 400)
    assert b"evil.example" not in body


def test_answers_beyond_all_measure_are_refused_in_words(wire):
    hit = make_hit()
    many = "&".join(f"a{number}=b" for number in range(20_000))
    for body in (many, "a=" + "x" * 5_000_000):
        answer = requests.post(
            f"{wire.url}/mturk/externalSubmit", data=f"assignmentId=x&{body}",
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )  # fmt: skip

        assert answer.status_code in (400, 413)
        assert "Traceback" not in answer.text
    assert not Assignment.objects.filter(hit=hit).exists()
