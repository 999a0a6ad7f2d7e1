"""Security of the site: headers, cookies, redirects, forms and logs."""

import logging
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import INFO, Tags, run_checks
from django.db import IntegrityError
from django.test import Client

from shared.logs import PrivateFormatter
from tests.factories import UserFactory
from tests.servers import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
WORKER = "A2SUAM1J3GNN3B"

# The browser tests set the second one for the whole test process.
NOT_PASSED_ON = {"DJANGO_SETTINGS_MODULE", "DJANGO_ALLOW_ASYNC_UNSAFE"}


def check_deployment(**variables):
    """Run `check --deploy` with production settings; it must report nothing worse than a hint."""
    kept = {name: text for name, text in os.environ.items() if name not in NOT_PASSED_ON}
    production = {
        "SITE_URL": "https://captions.example.org",
        "SECRET_KEY": secrets.token_urlsafe(50),
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=kept | production | variables,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_deployment_check_finds_nothing_behind_a_proxy():
    assert "no issues" in check_deployment(BEHIND_PROXY="true")


def test_the_deployment_check_names_the_setting_for_a_proxy(settings):
    settings.IS_HTTPS, settings.BEHIND_PROXY = True, False

    found = run_checks(tags=[Tags.security], include_deployment_checks=True)

    assert [check.level for check in found if check.id == "annotate.I001"] == [INFO]


@pytest.fixture
def https(settings):
    """Settings of a site with an https address, behind a proxy."""
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True


def test_a_browser_that_comes_by_http_is_sent_to_https(https):
    answer = Client().get("/sign-in/?next=/new/")

    assert (answer.status_code, answer.url) == (301, "https://testserver/sign-in/?next=/new/")


@pytest.mark.django_db
def test_a_browser_that_comes_by_https_is_told_to_stay(https):
    answer = Client(headers={"X-Forwarded-Proto": "https"}).get("/sign-in/")

    assert answer.status_code == 200
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


@pytest.fixture
def ada():
    user = UserFactory(username="ada")
    user.set_password("a long pass phrase")
    user.save()
    return user


def sign_in(client, **fields):
    return client.post("/sign-in/", {"username": "ada", "password": "a long pass phrase", **fields})


@pytest.mark.django_db
def test_cookies_are_for_this_site_and_no_script(https, ada):
    client = Client(headers={"X-Forwarded-Proto": "https"})
    client.get("/sign-in/")

    sign_in(client)

    for name in ("sessionid", "csrftoken"):
        cookie = client.cookies[name]
        assert (cookie["httponly"], cookie["secure"], cookie["samesite"]) == (True, True, "Lax")


@pytest.mark.django_db
def test_signing_in_begins_a_new_session(client, ada):
    session = client.session
    session["planted"] = True
    session.save()
    planted = session.session_key
    client.cookies["sessionid"] = planted

    sign_in(client)

    assert client.session.session_key != planted
    assert client.session.get("_auth_user_id") == str(ada.pk)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "\x08https://evil.example/",
    ],
)
def test_signing_in_and_out_leads_to_no_other_site(client, ada, address):
    signed_in = sign_in(client, next=address)
    signed_out = client.post("/sign-out/", {"next": address})

    assert signed_in.url == "/"
    assert signed_out.url == "/sign-in/"


@pytest.mark.django_db
def test_signing_in_leads_to_the_page_that_was_asked_for(client, ada):
    assert sign_in(client, next="/new/").url == "/new/"


@pytest.mark.django_db
def test_a_visit_does_not_sign_out(client, ada):
    client.force_login(ada)

    assert client.get("/sign-out/").status_code == 405
    assert client.get("/").status_code == 200


@pytest.mark.django_db
def test_a_form_from_another_site_is_refused_with_a_page(ada):
    client = Client(enforce_csrf_checks=True)

    answer = sign_in(client)

    assert answer.status_code == 403
    assert "Form expired" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/sign-in/", "/admin/", "/account/tokens/", "/nowhere/"])
def test_no_other_site_frames_a_page_of_the_dashboard(client, ada, address):
    client.force_login(ada)

    answer = client.get(address)

    assert answer.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"


def logged(message, *arguments, error=None):
    """The log entry as the site's formatter writes it."""
    record = logging.LogRecord("name", logging.ERROR, "path", 1, message, arguments, None)
    if error is not None:
        try:
            raise error
        except IntegrityError:
            record.exc_info = sys.exc_info()
    return PrivateFormatter("{message}", style="{").format(record)


def test_query_strings_are_cut_off_addresses():
    text = logged('"GET %s HTTP/1.1" 200', f"/task/pilot/?workerId={WORKER}&hitId=3X")

    assert text == '"GET /task/pilot/?… HTTP/1.1" 200'


def test_worker_ids_are_taken_out_of_messages_and_tracebacks():
    detail = f"DETAIL:  Key (endpoint, marketplace_id)=(local, {WORKER}) already exists."

    text = logged("refused %s", WORKER, error=IntegrityError(f"duplicate key\n{detail}"))

    assert "refused (a worker)" in text
    assert "Traceback" in text
    assert WORKER not in text


# Optional packages, which set up logging of their own when a test loads them.
OF_TESTS = ("absl", "datasets", "huggingface_hub", "sentry_sdk", "spacy", "weasel")


def test_every_handler_of_the_site_uses_the_private_formatter():
    names = [name for name in logging.Logger.manager.loggerDict if not name.startswith(OF_TESTS)]
    loggers = [logging.getLogger(name) for name in (None, *names)]
    handlers = [h for logger in loggers for h in getattr(logger, "handlers", [])]

    ours = [h for h in handlers if type(h) is logging.StreamHandler]
    assert ours
    assert all(isinstance(h.formatter, PrivateFormatter) for h in ours)
    assert not [h for h in handlers if h.__class__.__name__ == "AdminEmailHandler"]
