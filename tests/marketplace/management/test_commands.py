"""Commands whose output other programs read."""

import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
import requests
from django.core.management import CommandError, call_command

from marketplace.models import Worker
from marketplace.services.operators import MOST_APPROVED
from marketplace.services.qualifications import held_by
from tests.servers import PATIENCE, free_port

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments: str) -> list[dict[str, str]]:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.django_db
def test_the_same_requester_keeps_keys_and_balance():
    [first] = run("marketplace_requester", "lab", "--balance", "12.50")

    [again] = run("marketplace_requester", "lab")

    assert again == first
    assert set(first) == {"access_key", "secret_key", "endpoint_url"}


@pytest.mark.django_db
def test_the_snippet_makes_a_client_with_the_requesters_keys():
    [keys] = run("marketplace_requester", "lab")
    out = StringIO()

    call_command("marketplace_requester", "lab", stdout=out)

    names: dict[str, object] = {}
    exec(out.getvalue(), names)
    client = names["client"]
    assert client.meta.endpoint_url == keys["endpoint_url"]
    assert client._request_signer._credentials.secret_key == keys["secret_key"]


@pytest.mark.django_db
@pytest.mark.parametrize("balance", ["a lot", "-1", "0.001", "nan", "1e400", "1e12"])
def test_an_impossible_balance_is_refused(balance):
    with pytest.raises(CommandError, match="balance"):
        run("marketplace_requester", "lab", f"--balance={balance}")


@pytest.mark.django_db
def test_the_same_worker_gets_a_link_again(client):
    first, other = run("marketplace_worker", "ann", "ben")

    [again] = run("marketplace_worker", "ann", "--country", "US")

    assert again["worker_id"] == first["worker_id"] != other["worker_id"]
    path = again["sign_in_url"].partition("/sign-in/")[2]
    assert client.get(f"/sign-in/{path}").status_code == 302


@pytest.mark.django_db
@pytest.mark.parametrize(
    "options",
    [
        ["--country", "USA"],
        ["--rate", "0", "--approved", "1"],
        ["--rate", "50"],
        ["--approved", "-1"],
        ["--approved", "9" * 30],
    ],
)
def test_an_impossible_worker_is_refused(options):
    with pytest.raises(CommandError):
        run("marketplace_worker", "ann", *options)


# The last name has 100 characters, and 300 in the form in which names are stored.
@pytest.mark.django_db
@pytest.mark.parametrize("name", ["  ", "n" * 101, "\ufb2c" * 100])
def test_a_worker_needs_a_name_that_can_be_stored(name):
    with pytest.raises(CommandError, match="1 to 100 characters"):
        run("marketplace_worker", name)


@pytest.mark.django_db
@pytest.mark.database
def test_the_longest_history_with_the_lowest_rate_can_be_stored():
    run("marketplace_worker", "ann", "--approved", str(MOST_APPROVED), "--rate", "1")

    assert Worker.objects.get().rejected_count == 99 * MOST_APPROVED


@pytest.mark.parametrize("option", ["--port", "--tls-port"])
@pytest.mark.parametrize("value", ["0", "65536", "-1", "a"])
def test_an_impossible_port_is_refused(option, value):
    with pytest.raises(CommandError, match=option):
        call_command("marketplace", f"{option}={value}")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("marketplace --tls-port 8443", "--tls-port goes with --tls"),
        ("marketplace --certificates DIR", "--certificates goes with --tls"),
        ("marketplace_operator ann --new-password --remove-app", "not allowed with"),
        ("marketplace_people team --withdrawals --since 2026-03-01", "without --withdrawals"),
        ("marketplace_people team --withdrawals --before 2026-03-01", "without --withdrawals"),
        ("marketplace_study s --close --return-url https://a.example", "without --return-url"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(line, message):
    with pytest.raises(CommandError, match=message):
        call_command(*line.split())


@pytest.mark.django_db
def test_a_master_holds_the_qualification_under_both_of_its_ids(settings):
    made = run("marketplace_worker", "ann", "--masters")[0]
    worker = Worker.objects.get(public_id=made["worker_id"])
    as_master = held_by(worker)

    run("marketplace_worker", "ann", "--no-masters")
    worker.refresh_from_db()

    assert set(settings.MTURK_MASTERS_IDS) <= set(as_master)
    assert not set(settings.MTURK_MASTERS_IDS) & set(held_by(worker))


def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a marketplace whose database does not exist yet."""
    return {
        **{name: text for name, text in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{tmp_path / 'new.sqlite3'}",
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["marketplace_erase_worker", "marketplace_people"])
def test_a_command_before_the_first_start_finds_nobody(name, tmp_path):
    command = [sys.executable, "manage.py", name, "NOBODY"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: ")
    assert "NOBODY" in done.stderr


@pytest.mark.slow
def test_the_server_starts_from_nothing_and_stops_when_told(tmp_path):
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "marketplace", "--port", str(port)],
        cwd=ROOT,
        env={**environment(tmp_path), "MARKETPLACE_URL": f"http://127.0.0.1:{port}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        health = requests.get(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE)
        style = requests.get(f"http://127.0.0.1:{port}/static/marketplace/marketplace.css")
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout=PATIENCE)
    finally:
        process.kill()
        process.stdout.close()
        process.wait()

    assert f"http://127.0.0.1:{port}" in line
    assert (health.status_code, health.text) == (200, '{"status": "ok"}')
    assert style.status_code == 200
    assert status == 0
