"""The addresses on which a site may listen without a signing key of its own."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from shared.listening import check_listening, check_wsgi_server, is_loopback


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("0", False),
        ("::", False),
        ("", False),
        ("*", False),
        ("192.0.2.7", False),
        ("10.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("2001:db8::1", False),
        ("no-such-name.invalid", False),
    ],
)
def test_loopback_is_what_only_this_machine_reaches(host, expected):
    assert is_loopback(host) is expected


def test_a_set_key_lets_a_site_listen_anywhere(settings):
    settings.SECRET_KEY_IS_SET = True

    check_listening("0.0.0.0")
    check_wsgi_server()


def test_a_site_without_a_set_key_listens_on_this_machine_only(settings):
    settings.SECRET_KEY_IS_SET = False

    check_listening("127.0.0.1")
    with pytest.raises(ImproperlyConfigured, match=r"KEY is not set.* can reach 0\.0\.0\.0"):
        check_listening("0.0.0.0")
    with pytest.raises(ImproperlyConfigured, match="all addresses"):
        check_listening("")
    with pytest.raises(ImproperlyConfigured, match=f"{settings.SECRET_KEY_VARIABLE} is not set"):
        check_wsgi_server()
