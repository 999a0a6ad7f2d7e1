"""A campaign through a real Celery worker and beat, on Redis and PostgreSQL: nobody calls the
reconciler here but beat."""

import os
import re
from pathlib import Path

import pytest
import requests
from bs4 import BeautifulSoup

from hits.simulation.scenes.dataset import Dataset, draw_dataset
from tests.hits.marketplace_process import WorkerSession, running_marketplace
from tests.servers import PATIENCE
from tests.services.installation import Installation, ServiceAbsent, running_installation

pytestmark = pytest.mark.services

IMAGES, CAPTIONS = 2, 3
CAMPAIGN_FILE = f"""
name = "services"
selection = "services"
references = {CAPTIONS - 1}
baselines = 1
budget = "10.00"

[review]
share = 0
first = 0
approve_after_hours = 0
"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    with running_marketplace(folder) as marketplace:
        try:
            with running_installation(folder, marketplace) as running:
                yield running
        except ServiceAbsent as error:
            if os.environ.get("CI"):
                pytest.fail(str(error))
            pytest.skip(str(error))


def prepare_campaign(installation: Installation) -> None:
    """Drawn scenes, imported and selected, as a draft campaign; all by the product's commands."""
    folder: Path = installation.folder
    for _ in draw_dataset(Dataset(folder / "scenes"), count=IMAGES + 10, seed=1, split="services"):
        pass
    scenes = folder / "scenes"
    installation.manage(
        "import_openimages",
        *["--classes", str(scenes / "class-descriptions-boxable.csv")],
        *["--hierarchy", str(scenes / "hierarchy.json"), "--images", str(scenes / "images.csv")],
        *["--boxes", str(scenes / "boxes.csv"), "--files", str(scenes / "images")],
        *["--split", "services"],
    )
    installation.manage(
        "select_images", "--split", "services", "--count", str(IMAGES), "--name", "services"
    )
    file = folder / "campaign.toml"
    file.write_text(CAMPAIGN_FILE, encoding="utf-8")
    installation.manage("create_campaign", str(file))


def caption_one(worker: WorkerSession, hit_type_id: str, text: str) -> None:
    """One assignment over HTTP: accept, open the frame, write, hand on."""
    frame = worker.accept(hit_type_id)
    page = requests.get(frame.src, timeout=PATIENCE)
    answers = {
        name: text if name.startswith("caption-") else value
        for name, value in fields(page, "form[data-task]").items()
    }
    kept = requests.post(frame.src.split("?")[0], data=answers, timeout=PATIENCE)
    passed_on = fields(kept, "form[data-forward]")
    answer = worker.submit(passed_on.pop("assignmentId"), **passed_on)
    assert answer.ok, answer.text


def fields(page: requests.Response, selector: str) -> dict[str, str]:
    form = BeautifulSoup(page.text, "html.parser").select_one(selector)
    assert form is not None, page.text
    return {field["name"]: field.get("value", "") for field in form.select("[name]")}


def test_a_campaign_runs_by_the_clock_from_publishing_to_its_release(installation):
    prepare_campaign(installation)
    workers = [w.sign_in() for w in installation.marketplace.workers("s1", "s2", "s3")]
    installation.delay("annotate.tasks.make_thumbnails")

    installation.manage("publish", "services")
    open_seats = "SELECT coalesce(sum(available), 0) FROM hits_hit WHERE status = 'OPEN'"
    wanted = IMAGES * CAPTIONS
    installation.wait_until(lambda: installation.number(open_seats) == wanted, "beat opens seats")
    hit_type_id = installation.rows("SELECT hit_type_id FROM hits_hittype")[0][0]
    for turn in range(IMAGES):
        for number, worker in enumerate(workers):
            text = f"Drawn shapes stand side by side on the lawn, take {turn} of {number}."
            caption_one(worker, hit_type_id, text)
    approved = "SELECT count(*) FROM hits_assignment WHERE status = 'APPROVED'"
    installation.wait_until(lambda: installation.number(approved) == wanted, "beat pays")
    key = installation.number("SELECT id FROM annotate_campaign")
    installation.delay("qualcontrol.tasks.make_release", key, "r1", 1, False)
    released = "SELECT count(*) FROM annotate_releasedcaption"
    installation.wait_until(lambda: installation.number(released) == wanted, "the release is made")

    submitted = "SELECT count(*) FROM annotate_response WHERE status = 'SUBMITTED'"
    assert installation.number(submitted) == wanted
    assert installation.number("SELECT count(*) FROM annotate_release WHERE NOT is_partial") == 1
    assert installation.number("SELECT count(*) FROM hits_sync WHERE error <> ''") == 0
    thumbnails = installation.media / "thumbnails" / "services"
    installation.wait_until(
        lambda: len(list(thumbnails.glob("*.jpg"))) == IMAGES + 10, "thumbnails are made"
    )
    assert_no_worker_is_named_in_the_logs(installation, workers)


def assert_no_worker_is_named_in_the_logs(
    installation: Installation, workers: list[WorkerSession]
) -> None:
    logs = installation.logs(last=10_000_000)
    assert "task" in logs
    assert not [w.worker_id for w in workers if re.search(rf"\b{w.worker_id}\b", logs)]
