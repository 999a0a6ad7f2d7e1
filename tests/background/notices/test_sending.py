"""Addresses of webhooks, and one request to them. Without the database."""

import base64
import hashlib
import hmac
import socket
from threading import BoundedSemaphore, Event, Timer
from threading import enumerate as enumerate_threads
from time import sleep

import pytest

from background.notices.sending import post, signature
from background.outgoing import exchange
from background.outgoing.exchange import AddressRefused, RequestFailed, check_url, is_public, parse
from tests.hooks import endless, receiver


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
    ],
)
def test_addresses_of_machines_and_private_networks_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808"])
def test_addresses_of_the_internet_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://hooks.example/", "must begin with https"),
        ("file:///etc/passwd", "must begin with https"),
        ("https:///path", "must begin with https"),
        ("https://user:pass@hooks.example/", "user name or a password"),
        ("https://hooks.example:99999/", "not a valid URL"),
        ("https://[::1/", "not a valid URL"),
        ("https://hooks.example/a b", "no blanks"),
        ("https://hooks.example/\r\nX: y", "no blanks"),
        ("https://höoks.example/", "ASCII"),
        ("http://127.0.0.1/", "private network"),
        ("http://localhost:8000/", "private network"),
        ("http://[::1]:8000/", "private network"),
        ("http://2130706433/", "private network"),
        ("http://169.254.169.254/latest/meta-data/", "private network"),
    ],
)
def test_a_bad_address_is_refused_with_a_reason(url, reason):
    with pytest.raises(AddressRefused, match=reason):
        check_url(url, allows_private=False)


def test_private_addresses_can_be_allowed():
    assert check_url("http://127.0.0.1:8000/", allows_private=True).port == 8000


def test_the_host_header_names_unusual_ports_only():
    assert parse("https://hooks.example/").host_header == "hooks.example"
    assert parse("https://hooks.example:8443/").host_header == "hooks.example:8443"
    assert parse("http://[2001:db8::1]/").host_header == "[2001:db8::1]"


def test_a_request_arrives_with_its_body_and_headers():
    with receiver() as found:
        post(found.url, b"{}", {"Webhook-Id": "7"}, seconds=60, allows_private=True)

    ((headers, body),) = found.requests
    assert body == b"{}"
    assert headers["Webhook-Id"] == "7"
    assert headers["Host"] == found.url.split("/")[2]


def test_loopback_is_refused_before_anything_is_sent():
    with receiver() as found, pytest.raises(RequestFailed, match="private network"):
        post(found.url, b"{}", {}, seconds=60)

    assert found.requests == []


def test_a_name_that_leads_to_loopback_is_refused(monkeypatch):
    monkeypatch.setattr("background.outgoing.exchange.resolve", lambda *_, **__: ["127.0.0.1"])

    with pytest.raises(RequestFailed, match=r"to which hooks\.example leads"):
        post("http://hooks.example/", b"{}", {}, seconds=60)


def test_one_private_address_among_public_ones_is_refused(monkeypatch):
    monkeypatch.setattr(
        "background.outgoing.exchange.resolve", lambda *_, **__: ["8.8.8.8", "10.0.0.1"]
    )

    with pytest.raises(RequestFailed, match=r"10\.0\.0\.1"):
        post("http://hooks.example/", b"{}", {}, seconds=60)


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch):
    asked = []

    def connect(address, timeout):
        asked.append(address)
        raise ConnectionRefusedError("refused")

    monkeypatch.setattr("background.outgoing.exchange.resolve", lambda *_, **__: ["8.8.8.8"])
    monkeypatch.setattr(socket, "create_connection", connect)

    with pytest.raises(RequestFailed, match="No answer: refused"):
        post("https://hooks.example/", b"{}", {}, seconds=60)

    assert asked == [("8.8.8.8", 443)]


def test_a_redirect_is_not_followed():
    with receiver() as second, receiver(status=302, location=second.url) as first:
        with pytest.raises(RequestFailed, match=r"a redirect \(302\) to http"):
            post(first.url, b"{}", {}, seconds=60, allows_private=True)

        assert (len(first.requests), second.requests) == (1, [])


def test_an_answer_that_is_not_2xx_is_a_failure():
    with receiver(status=500) as found, pytest.raises(RequestFailed, match="The answer was 500"):
        post(found.url, b"{}", {}, seconds=60, allows_private=True)


@pytest.mark.parametrize("byte", [b"", b"H"])
def test_a_webhook_that_never_ends_its_answer_has_a_time_limit(byte):
    with endless(byte) as url, pytest.raises(RequestFailed, match="nothing complete within 0.2 s"):
        post(url, b"{}", {}, seconds=0.2, allows_private=True)


@pytest.fixture
def silent_resolver(monkeypatch):
    """A resolver that answers nothing until the end of the test."""
    ended = Event()

    def wait(*_, **__):
        ended.wait(60)
        raise socket.gaierror("no answer")

    monkeypatch.setattr(socket, "getaddrinfo", wait)
    monkeypatch.setattr(exchange, "_lookups", BoundedSemaphore(2))
    yield
    ended.set()
    for thread in lookups():
        thread.join()


def lookups():
    """The threads that resolve a name now."""
    return [each for each in enumerate_threads() if each.name == exchange.THREAD]


@pytest.mark.usefixtures("silent_resolver")
def test_a_name_that_is_not_resolved_in_time_is_not_delivered_to():
    with pytest.raises(RequestFailed, match=r"hooks\.example was not resolved within 0\.1 s"):
        post("https://hooks.example/", b"{}", {}, seconds=0.1)


@pytest.mark.usefixtures("silent_resolver")
def test_names_that_are_never_resolved_leave_a_limited_number_of_threads():
    for _ in range(2):
        with pytest.raises(RequestFailed, match="was not resolved"):
            post("https://hooks.example/", b"{}", {}, seconds=0.05)
    with pytest.raises(RequestFailed, match="too many other host names"):
        post("https://hooks.example/", b"{}", {}, seconds=0.05)

    assert len(lookups()) == 2


@pytest.mark.usefixtures("silent_resolver")
def test_the_form_of_a_webhook_does_not_wait_for_the_resolver(monkeypatch):
    monkeypatch.setattr(exchange, "FORM_SECONDS", 0.05)

    assert check_url("https://hooks.example/", allows_private=False).host == "hooks.example"


def test_the_time_for_resolving_counts_as_time_of_the_request(monkeypatch):
    left = []

    def connect(address, timeout):
        left.append(timeout)
        raise ConnectionRefusedError("refused")

    def resolve(*_, **__):
        sleep(0.2)
        return ["8.8.8.8"]

    monkeypatch.setattr("background.outgoing.exchange.resolve", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)

    with pytest.raises(RequestFailed, match="refused"):
        post("https://hooks.example/", b"{}", {}, seconds=60)

    assert left[0] <= 59.8


def test_the_time_for_connecting_counts_as_time_of_the_request(monkeypatch):
    connect = socket.create_connection
    timers = []

    def connect_slowly(*arguments, **options):
        sleep(0.2)
        return connect(*arguments, **options)

    def count(seconds, action):
        timers.append(seconds)
        return Timer(seconds, action)

    monkeypatch.setattr(socket, "create_connection", connect_slowly)
    monkeypatch.setattr(exchange, "Timer", count)

    with receiver() as found:
        post(found.url, b"{}", {}, seconds=60, allows_private=True)

    assert timers[0] <= 59.8


def test_a_host_name_that_cannot_be_encoded_is_an_error_of_the_request():
    with pytest.raises(RequestFailed, match="not a valid host name"):
        post(f"https://{'a' * 70}.example/", b"{}", {}, seconds=60)


def test_the_signature_is_that_of_the_specification():
    secret = "whsec_" + base64.b64encode(b"0123456789abcdef").decode()
    signed = b'msg_1.1614265330.{"test": 1}'
    expected = hmac.new(b"0123456789abcdef", signed, hashlib.sha256).digest()

    found = signature(secret, "msg_1", 1614265330, b'{"test": 1}')

    assert found == f"v1,{base64.b64encode(expected).decode()}"
