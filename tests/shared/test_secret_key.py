"""The signing key's file."""

import re
import secrets
import stat
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from shared import secret_key
from shared.secret_key import check_listening, check_wsgi_server, data_folder, is_loopback, kept_key

VARIABLE = "SECRET_KEY"


def test_the_key_is_made_once_for_its_owner_alone(tmp_path):
    path = tmp_path / "new" / "key"

    first, second = (kept_key(path, variable=VARIABLE) for _ in range(2))

    assert first == second
    assert len(first) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_two_installations_have_different_keys(tmp_path):
    first, second = (kept_key(tmp_path / name, variable=VARIABLE) for name in ("one", "two"))

    assert first != second


def test_a_process_that_comes_second_takes_the_key_of_the_first(tmp_path, monkeypatch):
    path = tmp_path / "key"
    make, overtaking = secrets.token_urlsafe, []

    def token(size):
        if not overtaking:
            overtaking.append(True)
            overtaking.append(kept_key(path, variable=VARIABLE))
        return make(size)

    monkeypatch.setattr(secret_key.secrets, "token_urlsafe", token)

    assert kept_key(path, variable=VARIABLE) == overtaking[1]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "\n", "short\n", "\xff" * 60])
def test_a_file_without_a_whole_key_is_refused(tmp_path, content):
    path = tmp_path / "key"
    path.write_text(content, encoding="latin-1")
    path.chmod(0o600)

    with pytest.raises(ImproperlyConfigured, match=re.escape(str(path))):
        kept_key(path, variable=VARIABLE)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_other_users_can_read_is_refused(tmp_path, mode):
    path = tmp_path / "key"
    kept_key(path, variable=VARIABLE)
    path.chmod(mode)

    with pytest.raises(ImproperlyConfigured, match="chmod 600"):
        kept_key(path, variable=VARIABLE)


def test_a_link_to_a_key_elsewhere_is_refused(tmp_path):
    kept_key(tmp_path / "elsewhere", variable=VARIABLE)
    (tmp_path / "key").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ImproperlyConfigured, match="Set SECRET_KEY"):
        kept_key(tmp_path / "key", variable=VARIABLE)


def test_where_no_key_can_be_kept_the_error_says_what_to_set(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ImproperlyConfigured, match="Set MARKETPLACE_SECRET_KEY"):
        kept_key(tmp_path / "file" / "key", variable="MARKETPLACE_SECRET_KEY")


@pytest.mark.parametrize(
    ("engine", "name", "expected"),
    [
        ("django.db.backends.sqlite3", "/data/site.sqlite3", "/data"),
        ("marketplace.sqlite", "/data/site.sqlite3", "/data"),
        ("django.db.backends.sqlite3", ":memory:", "/var"),
        ("django.db.backends.sqlite3", "file:site?mode=memory", "/var"),
        ("django.db.backends.postgresql", "site", "/var"),
    ],
)
def test_the_key_is_beside_the_database_if_that_is_a_file(engine, name, expected):
    folder = data_folder({"ENGINE": engine, "NAME": name}, otherwise=Path("/var"))

    assert folder == Path(expected)


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
