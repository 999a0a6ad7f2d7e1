"""The client in the documentation runs a campaign of ten photographs with real processes."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from PIL import Image as Picture

from hits.local import Installation, child, manage, marketplace_running, site_running
from hits.management.commands.serve import WORKER
from tests.hits.marketplace_process import NotOffered, WorkerSession
from tests.servers import PATIENCE, free_port
from tests.services.captioning import caption_one

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "docs" / "client" / "run_campaign.py"
PHOTOGRAPHS = 10
NAMES = ["🐕 in the park.jpg", "صورة.jpg", *(f"photo {n}.jpg" for n in range(PHOTOGRAPHS - 2))]
CAMPAIGN_FILE = """
references = 1
baselines = 1
budget = "20.00"
[priming]
share = 0
[hit]
images = 10
assignments = 1
[workers]
countries = []
approved_hits = 0
approval_rate = 0
[review]
share = 1
first = 0
approve_after_hours = 0
"""
MAKE_TOKEN = """
from django.contrib.auth.models import User
from django.utils import timezone
from accounts.services.api_tokens import issue_token
print(issue_token(user=User.objects.get(), at=timezone.now())[1])
"""


def test_the_client_runs_a_campaign_from_photographs_to_a_release(tmp_path):
    photographs = tmp_path / "photographs"
    photographs.mkdir()
    for number, name in enumerate(NAMES):
        Picture.new("RGB", (64, 48), (25 * number, 90, 120)).save(photographs / name)
    file = tmp_path / "campaign.toml"
    file.write_text(CAMPAIGN_FILE, encoding="utf-8")

    with ExitStack() as stack:
        places, environment = started(tmp_path / "site", stack)
        client = subprocess.Popen(
            [
                *[sys.executable, str(CLIENT), str(photographs), "--site", places.site_url],
                *["--name", "park", "--file", str(file), "--out", str(tmp_path / "out")],
                *["--verdict", "GOOD", "--pause", "0.5"],
            ],
            env={**os.environ, **environment, "API_TOKEN": token_of(environment)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        stack.callback(client.kill)
        write_captions(places, environment, client)
        said, _ = client.communicate(timeout=3 * PATIENCE)

    assert client.returncode == 0, said
    captions = json.loads((tmp_path / "out" / "captions.json").read_text(encoding="utf-8"))
    baseline = json.loads((tmp_path / "out" / "baseline.json").read_text(encoding="utf-8"))
    assert sorted(image["file_name"] for image in captions["images"]) == sorted(NAMES)
    assert (len(captions["annotations"]), len(baseline)) == (PHOTOGRAPHS, PHOTOGRAPHS)
    assert "20 captions cost" in said


def started(folder: Path, stack: ExitStack) -> tuple[Installation, dict[str, str]]:
    """The processes of `serve`, with their own database."""
    places = Installation(folder, free_port(), free_port())
    folder.mkdir()
    environment = {
        **places.environment(),
        "API_READS_PER_MINUTE": "0",
        "SYNC_SECONDS": "1",
    }
    manage(["first_admin"], environment)
    stack.enter_context(marketplace_running(places, environment))
    environment |= places.keys(environment)
    stack.enter_context(site_running(places, environment))
    log = places.logs / "worker.log"
    stack.enter_context(child("worker", WORKER, log=log, environment=environment))
    return places, environment


def token_of(environment: dict[str, str]) -> str:
    """A token of the administrator."""
    return manage(["shell", "--verbosity", "0", "-c", MAKE_TOKEN], environment).strip()


def write_captions(
    places: Installation, environment: dict[str, str], client: "subprocess.Popen[str]"
) -> None:
    """Let two workers caption all photographs, as soon as the campaign is published."""
    made = manage(["marketplace_worker", "ada", "grace", "--json"], environment)
    group = ""
    for number, line in enumerate(made.splitlines()):
        row = json.loads(line)
        worker = WorkerSession(places.marketplace_url, row["worker_id"], row["sign_in_url"])
        worker.sign_in()
        end = time.monotonic() + 2 * PATIENCE
        while True:
            assert client.poll() is None, client.communicate()[0]
            assert time.monotonic() < end, "no HIT was offered"
            group = group or group_of(places)
            try:
                if group:
                    text = f"A large brown dog number {number} runs across a wide green field."
                    caption_one(worker, group, text)
                    break
            except NotOffered:
                pass
            time.sleep(0.5)


def group_of(places: Installation) -> str:
    """The HIT type of the only campaign; empty before there is one."""
    connection = sqlite3.connect(places.folder / "campaigns.sqlite3", timeout=PATIENCE)
    try:
        found = connection.execute("SELECT hit_type_id FROM hits_hittype").fetchone()
    finally:
        connection.close()
    return str(found[0]) if found else ""
