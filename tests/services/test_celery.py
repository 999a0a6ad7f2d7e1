"""A campaign with a real Celery worker and beat, which alone starts the reconciler."""

import os
import re

import pytest

from tests.hits.marketplace_process import WorkerSession, running_marketplace
from tests.services.captioning import caption_one, prepare_campaign
from tests.services.installation import (
    REQUEST_RELEASE,
    Installation,
    ServiceAbsent,
    running_installation,
)

pytestmark = pytest.mark.services


IMAGES, CAPTIONS = 2, 3


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


def test_a_campaign_runs_by_the_clock_from_publishing_to_its_release(installation):
    prepare_campaign(installation, images=IMAGES, captions=CAPTIONS)
    workers = [w.sign_in() for w in installation.marketplace.workers("s1", "s2", "s3")]
    installation.delay("annotate.tasks.make_copies")

    installation.manage("publish", "services")
    open_slots = "SELECT coalesce(sum(available), 0) FROM hits_hit WHERE status = 'OPEN'"
    wanted = IMAGES * CAPTIONS
    installation.wait_until(lambda: installation.number(open_slots) == wanted, "beat opens slots")
    hit_type_id = installation.rows("SELECT hit_type_id FROM hits_hittype")[0][0]
    for turn in range(IMAGES):
        for number, worker in enumerate(workers):
            text = f"Drawn shapes stand side by side on the lawn, take {turn} of {number}."
            caption_one(worker, hit_type_id, text)
    approved = "SELECT count(*) FROM hits_assignment WHERE status = 'APPROVED'"
    installation.wait_until(lambda: installation.number(approved) == wanted, "beat pays")
    installation.manage("shell", "--no-imports", "--command", REQUEST_RELEASE)
    installation.delay("background.tasks.work_next")
    released = "SELECT count(*) FROM annotate_releasedcaption"
    installation.wait_until(lambda: installation.number(released) == wanted, "the release is made")

    submitted = "SELECT count(*) FROM annotate_response WHERE status = 'SUBMITTED'"
    assert installation.number(submitted) == wanted
    assert installation.number("SELECT count(*) FROM annotate_release WHERE NOT is_partial") == 1
    assert installation.rows("SELECT error FROM hits_sync WHERE error <> ''") == []
    for size in ("copies", "middle", "thumbnails"):
        folder = installation.media / size / "services"
        installation.wait_until(
            lambda folder=folder: len(list(folder.glob("*.jpg"))) == IMAGES + 10, f"{size} are made"
        )
    assert_no_worker_is_named_in_the_logs(installation, workers)


def assert_no_worker_is_named_in_the_logs(
    installation: Installation, workers: list[WorkerSession]
) -> None:
    logs = installation.logs(last=10_000_000)
    assert "task" in logs
    assert not [w.worker_id for w in workers if re.search(rf"\b{w.worker_id}\b", logs)]
