"""`serve` on one's own databases: what it says, and what becomes of its processes."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
import requests

from hits import local
from hits.local import ProcessFailed, child, clean_environment, locked_to_serve
from tests.servers import PATIENCE, free_port, stop

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[4]


def environment(folder: Path) -> dict[str, str]:
    """Of an installation in the folder, which knows no address of its own."""
    inherited = clean_environment({})
    left = {k: v for k, v in inherited.items() if k not in {"SITE_URL", "MARKETPLACE_URL"}}
    return {
        **left,
        "DATABASE_URL": f"sqlite:///{folder / 'campaigns.sqlite3'}",
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{folder / 'marketplace.sqlite3'}",
        "MEDIA_ROOT": str(folder / "media"),
    }


def serve(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-u", "manage.py", "serve", *arguments],
        cwd=ROOT,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def refusal(folder: Path, *arguments: str) -> str:
    """The output of a `serve` that does not start."""
    process = serve(folder, *arguments)
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    return said


def told(process: "subprocess.Popen[str]", words: str) -> str:
    """The process's output up to the line with these words."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if words in line:
            return "".join(lines)
    raise AssertionError("".join(lines))


def ended(process: "subprocess.Popen[str]") -> None:
    stop(process)
    assert process.stdout is not None
    process.stdout.close()


def ports() -> list[str]:
    return ["--port", str(free_port()), "--marketplace-port", str(free_port())]


def test_a_second_serve_on_a_folder_is_refused_in_one_line(tmp_path):
    ready = tmp_path / "ready"
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time; from pathlib import Path; "
            "from hits.local import locked_to_serve; "
            f"locked_to_serve(Path({str(tmp_path)!r})); Path({str(ready)!r}).touch(); "
            "time.sleep(600)",
        ],
        cwd=ROOT,
    )
    try:
        while not ready.exists():
            time.sleep(0.05)
        said = refusal(tmp_path, "--own", *ports())
    finally:
        stop(holder)

    assert said == (
        f"CommandError: {tmp_path} is in use by another `demo` or `serve`; stop that one first.\n"
    )
    locked_to_serve(tmp_path)


def test_another_address_to_listen_on_is_refused_where_it_would_be_ignored(tmp_path):
    said = refusal(tmp_path, "--own", "--host", "127.0.0.2", *ports())

    assert said.startswith("CommandError: --host needs --site-only.")


def test_a_site_on_another_port_knows_its_address(tmp_path):
    port = free_port()
    process = serve(tmp_path, "--site-only", "--port", str(port))
    try:
        said = told(process, "is ready")
        answer = requests.get(f"http://127.0.0.1:{port}/sign-in/", timeout=PATIENCE)
    finally:
        ended(process)

    assert said == f"The site is ready at http://127.0.0.1:{port}.\n"
    assert answer.status_code == 200


class Served(NamedTuple):
    """A `serve` on databases of its own, and what it said until both sites had started."""

    folder: Path
    site: int
    marketplace: int
    process: "subprocess.Popen[str]"
    said: str


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder, site, marketplace = tmp_path_factory.mktemp("own"), free_port(), free_port()
    process = serve(folder, "--own", "--port", str(site), "--marketplace-port", str(marketplace))
    try:
        yield Served(folder, site, marketplace, process, told(process, "Stop with Ctrl-C"))
    finally:
        ended(process)


def test_commands_in_another_terminal_find_the_sites_on_other_ports(served):
    file = served.folder / "environment.sh"
    command = f". {file} && {sys.executable} manage.py"

    worker = run_in_shell(f"{command} marketplace_worker ann --json")
    link = json.loads(worker)["sign_in_url"]
    found = run_in_shell(f"{command} shell --no-imports -c {shlex.quote(ASKED)}")
    answer = requests.get(link, timeout=PATIENCE)

    assert f"first run this: . {file}\n" in served.said
    assert file.stat().st_mode & 0o777 == 0o600
    assert link.startswith(f"http://127.0.0.1:{served.marketplace}/")
    assert answer.ok
    assert found.split() == [f"http://127.0.0.1:{served.site}", "10000.00"]


# The site's address, and the balance of its requester at the marketplace.
ASKED = """
from django.conf import settings
from annotate.models import Campaign
from hits.mturk.client import marketplace_of
print(settings.SITE_URL, marketplace_of(Campaign(endpoint="local")).balance())
"""


def run_in_shell(command: str) -> str:
    """The command's output in a new terminal, which knows nothing of the installation."""
    none = {"SITE_URL", "MARKETPLACE_URL", "DATABASE_URL", "MARKETPLACE_DATABASE_URL"}
    left = {k: v for k, v in clean_environment({}).items() if k not in none and "AWS" not in k}
    return subprocess.run(
        ["sh", "-c", command], cwd=ROOT, env=left, check=True, capture_output=True, text=True
    ).stdout


def test_a_process_that_ended_is_started_again_and_not_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "MOST_RESTARTS", 1)
    with child("reader", ["version"], log=tmp_path / "log", environment={}) as running:
        running.process.wait(PATIENCE)
        running.restart()
        running.process.wait(PATIENCE)
        with pytest.raises(ProcessFailed, match="The reader ends again and again"):
            running.restart()

    assert len((tmp_path / "log").read_text().splitlines()) == 2


def test_killing_a_process_stops_neither_site(served):
    for name, command in (("worker", "work_jobs"), ("site", "--site-only")):
        os.kill(child_of(served.process.pid, command), signal.SIGKILL)
        assert f"The {name} stopped unexpectedly and was started again." in told(
            served.process, "started again"
        )
    answers = [
        answer_of(f"http://127.0.0.1:{served.site}/sign-in/"),
        answer_of(f"http://127.0.0.1:{served.marketplace}/healthz"),
    ]

    assert answers == [200, 200]


def child_of(pid: int, command: str) -> int:
    """The first child of the process whose command line has these words."""
    for line in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if command in Path(f"/proc/{line}/cmdline").read_text():
            return int(line)
    raise AssertionError(f"no child runs {command}")


def answer_of(url: str) -> int:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return requests.get(url, timeout=PATIENCE).status_code
        except requests.ConnectionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
