"""Large uploads that are broken off, under gunicorn."""

import os
import re
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import requests
from django.test import Client

from annotate.models import Image
from background.models import Job
from tests.databases import database_url
from tests.factories import UserFactory
from tests.servers import PATIENCE, free_port, running, wait_until_ready

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.one_database,
    pytest.mark.slow,
]
ROOT = Path(__file__).resolve().parents[2]
STATED = 3 * 10**9
SENT = 100 * 2**20
PIECE = bytes(2**20)


@pytest.fixture
def site(tmp_path, settings):
    """The site's address and log, with folders of its own below `tmp_path`."""
    port = free_port()
    (tmp_path / "temporary").mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
        "DATABASE_URL": database_url(),
        "SECRET_KEY": settings.SECRET_KEY,
        "WEB_CONCURRENCY": "1",
        "LOG_FORMAT": "text",
        "MEDIA_ROOT": str(tmp_path / "media"),
        "TMPDIR": str(tmp_path / "temporary"),
        "UPLOAD_MAX_MB": "4000",
    }
    command = [
        *(sys.executable, "-m", "gunicorn", "--config", "python:shared.gunicorn"),
        *("--bind", f"127.0.0.1:{port}", "config.wsgi:application"),
    ]
    log = tmp_path / "gunicorn.log"
    with running(command, log, environment, ROOT) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(f"{url}/sign-in/", process)
        yield url, log


def test_an_upload_of_3_gigabytes_that_is_cut_off_leaves_nothing(site, tmp_path):
    url, log = site
    cookies = _signed_in(url)
    before = _most_memory(log)

    _send_a_part(url, cookies)
    _wait_until_empty(tmp_path / "temporary")

    assert _most_memory(log) - before < SENT / 2
    assert not (tmp_path / "uploads").exists() or not list((tmp_path / "uploads").iterdir())
    assert not Job.objects.exists()
    assert not Image.objects.exists()
    page = requests.get(f"{url}/images/import/", cookies=cookies, timeout=PATIENCE)
    assert (page.status_code, "Traceback" in log.read_text()) == (200, False)


def _signed_in(url):
    client = Client()
    client.force_login(UserFactory())
    cookies = {name: one.value for name, one in client.cookies.items()}
    page = requests.get(f"{url}/images/import/", cookies=cookies, timeout=PATIENCE)
    assert page.ok
    return cookies | dict(page.cookies)


def _send_a_part(url, cookies):
    """Send the beginning of a form whose file is far longer, and close the connection."""
    host, port = url.removeprefix("http://").split(":")
    fields = {"csrfmiddlewaretoken": cookies["csrftoken"], "kind": "own", "split": "mine"}
    parts = [
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    parts.append(
        '--b\r\nContent-Disposition: form-data; name="photographs"; filename="a.png"\r\n'
        "Content-Type: image/png\r\n\r\n"
    )
    head = (
        f"POST /images/import/ HTTP/1.1\r\nHost: {host}:{port}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\n"
        f"Cookie: {'; '.join(f'{name}={value}' for name, value in cookies.items())}\r\n"
        f"Content-Length: {STATED}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        connection.sendall((head + "".join(parts)).encode())
        for _ in range(SENT // len(PIECE)):
            connection.sendall(PIECE)


def _wait_until_empty(folder):
    """Wait until no temporary file of an upload is left."""
    end = time.monotonic() + PATIENCE
    while list(folder.glob("*upload*")):
        assert time.monotonic() < end, list(folder.iterdir())
        time.sleep(0.1)


def _most_memory(log):
    """The most bytes of memory that the server's process has used."""
    (pid,) = set(re.findall(r"Booting worker with pid: (\d+)", log.read_text()))
    with suppress(FileNotFoundError):
        status = Path(f"/proc/{pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024
    pytest.skip("Memory is read from /proc.")
