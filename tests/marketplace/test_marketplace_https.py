"""A marketplace with an https URL: deployment check and redirects."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from tests.servers import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def check_deployment(**environ: str) -> str:
    kept = {name: text for name, text in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    process = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING",
         "--settings", "marketplace.settings"],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE,
        env={**kept, "MARKETPLACE_URL": "https://marketplace.example.org",
             "MARKETPLACE_SECRET_KEY": secrets.token_urlsafe(50), **environ},
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return process.stdout + process.stderr


def test_the_deployment_check_finds_nothing_behind_a_proxy():
    assert "no issues" in check_deployment(MARKETPLACE_BEHIND_PROXY="true")


def test_the_deployment_check_names_the_setting_for_a_proxy():
    assert "marketplace.I001" in check_deployment()


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
