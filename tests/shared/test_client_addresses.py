"""Clients' addresses, with and without a proxy."""

import pytest

from shared.client_addresses import UNKNOWN, client_address

HERE, FORGED = "192.0.2.7", "203.0.113.9"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:4711", "192.0.2.7"),
        ("[2001:db8:1:2::7]:4711", "2001:db8:1:2::"),
        ("", UNKNOWN),
        ("unix:", UNKNOWN),
    ],
)
def test_the_address_of_a_request(rf, given, expected):
    assert client_address(rf.get("/", REMOTE_ADDR=given)) == expected


@pytest.mark.parametrize(("is_behind", "expected"), [(True, HERE), (False, "127.0.0.1")])
def test_only_a_proxy_says_where_a_request_is_from(rf, settings, is_behind, expected):
    settings.BEHIND_PROXY = is_behind
    forwarded = f"{FORGED}, {HERE}"

    found = client_address(rf.get("/", REMOTE_ADDR="127.0.0.1", HTTP_X_FORWARDED_FOR=forwarded))

    assert found == expected


@pytest.mark.parametrize("forwarded", ["", "garbage", "192.0.2.7, ", "\x00"])
def test_a_proxy_that_adds_no_address_locks_nobody_by_a_forged_one(rf, settings, forwarded):
    settings.BEHIND_PROXY = True

    found = client_address(rf.get("/", REMOTE_ADDR="127.0.0.1", HTTP_X_FORWARDED_FOR=forwarded))

    assert found in {UNKNOWN, "127.0.0.1"}
