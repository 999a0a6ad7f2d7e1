"""A marketplace with an https URL: deployment check and redirects."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import INFO, Tags, run_checks
from django.test import Client

from tests.servers import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def python(*arguments: str, **environ: str) -> str:
    """Python's output with the environment of an https marketplace."""
    process = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "marketplace.settings",
             "MARKETPLACE_URL": "https://marketplace.example.org",
             "MARKETPLACE_SECRET_KEY": secrets.token_urlsafe(50), **environ},
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return process.stdout + process.stderr


def check_deployment(**environ: str) -> str:
    return python(
        "manage.py", "check", "--deploy", "--fail-level", "WARNING",
        "--settings", "marketplace.settings", **environ,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "'self' https:"),
        ({"MARKETPLACE_HTTP_HOSTS": "10.0.0.5"}, "'self' https: http://10.0.0.5:*"),
        (
            {"MARKETPLACE_FRAME_URL": "http://frames.example"},
            "'self' https: http://frames.example",
        ),
        (
            {"MARKETPLACE_URL": "http://localhost:8001"},
            "'self' https: http://127.0.0.1:* http://localhost:*",
        ),
    ],
)
def test_only_a_marketplace_on_this_machine_frames_pages_of_this_machine(environ, expected):
    show = "from django.conf import settings; print(settings.CONTENT_POLICY['frame-src'])"

    assert python("-c", show, **environ) == f"{expected}\n"


@pytest.mark.slow
def test_the_deployment_check_finds_nothing_behind_a_proxy():
    assert "no issues" in check_deployment(MARKETPLACE_BEHIND_PROXY="true")


def test_the_deployment_check_names_the_setting_for_a_proxy(settings):
    settings.IS_HTTPS, settings.BEHIND_PROXY = True, False

    found = run_checks(tags=[Tags.security], include_deployment_checks=True)

    assert [check.level for check in found if check.id == "marketplace.I001"] == [INFO]


@pytest.fixture
def https(settings) -> None:
    """Settings of a marketplace with an https URL, behind a proxy."""
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.BEHIND_PROXY = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


@pytest.mark.django_db
def test_a_browser_that_comes_by_http_is_sent_to_https(https):
    response = Client().get("/sign-in?next=/queue")

    assert (response.status_code, response.url) == (301, "https://testserver/sign-in?next=/queue")


@pytest.mark.django_db
def test_a_browser_that_comes_by_https_is_told_to_stay(https):
    response = Client(headers={"X-Forwarded-Proto": "https"}).get("/sign-in")

    assert response.status_code == 200
    assert response.headers["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.django_db
def test_programs_and_posted_forms_are_not_redirected(https):
    client = Client()

    assert client.get("/healthz").status_code == 200
    call = client.post(
        "/", "{}", content_type="application/x-amz-json-1.1", headers={"X-Amz-Target": "x"}
    )
    assert call.status_code == 400
    assert client.post("/mturk/externalSubmit", {"assignmentId": "x"}).status_code == 409


@pytest.mark.django_db
def test_without_a_proxy_nobody_is_sent_in_circles(https, settings):
    settings.BEHIND_PROXY = False
    settings.SECURE_PROXY_SSL_HEADER = None

    assert Client().get("/sign-in").status_code == 200
