"""A small campaign of generated scenes, and workers who caption them over HTTP."""

from collections.abc import Callable
from pathlib import Path

import requests

from simulation.scenes.dataset import Dataset, draw_dataset
from tests.hits.framed_work import fields_of
from tests.hits.marketplace_process import WorkerSession
from tests.servers import PATIENCE
from tests.services.installation import Installation

CAMPAIGN_FILE = """
name = "services"
selection = "services"
references = {references}
baselines = 1
budget = "100.00"

[review]
share = 0
first = 0
approve_after_hours = 0
"""
Send = Callable[..., requests.Response]


def prepare_campaign(installation: Installation, *, images: int, captions: int) -> None:
    """Create a draft campaign of generated scenes with the product's commands."""
    folder: Path = installation.folder
    for _ in draw_dataset(Dataset(folder / "scenes"), count=images + 10, seed=1, split="services"):
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
        "select_images", "--split", "services", "--count", str(images), "--name", "services"
    )
    file = folder / "campaign.toml"
    file.write_text(CAMPAIGN_FILE.format(references=captions - 1), encoding="utf-8")
    installation.manage("create_campaign", str(file))


def caption_one(
    worker: WorkerSession,
    hit_type_id: str,
    text: str,
    *,
    get: Send = requests.get,
    post: Send = requests.post,
) -> None:
    """Do one assignment over HTTP: accept, open the frame, write, submit.

    `get` and `post` send the requests to the requester site.
    """
    frame = worker.accept(hit_type_id)
    page = get(frame.src, timeout=PATIENCE)
    answers = {
        name: text if name.startswith("caption-") else value
        for name, value in fields_of(page, "data-task").items()
    }
    kept = post(frame.src.split("?")[0], data=answers, timeout=PATIENCE)
    passed_on = fields_of(kept, "data-forward")
    answer = worker.submit(passed_on.pop("assignmentId"), **passed_on)
    assert answer.ok, answer.text
