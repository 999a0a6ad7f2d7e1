"""The processes of deploy/compose.yaml, started by its own commands without containers.

Two processes of each site, two Celery workers for short tasks, one for jobs, and beat do a
campaign together.
"""

import os
import re
import secrets
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests
import yaml

from benchmarks.invariants import broken_in
from tests.hits.marketplace_process import ROOT, MarketplaceProcess
from tests.servers import PATIENCE, answers, free_port, running
from tests.services.captioning import prepare_campaign
from tests.services.installation import (
    REQUEST_RELEASE,
    Installation,
    ServiceAbsent,
    redis,
    scratch_database,
)

pytestmark = pytest.mark.services

IMAGES, CAPTIONS, WORKERS = 4, 3, 8
TOKEN = "a-token-for-prometheus"
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
PRODUCT = {k: v for k, v in COMPOSE["services"].items() if v["image"] == "captions"}
CELERY_WORKERS = [
    ("jobs", 0),
    *(("worker", number) for number in range(PRODUCT["worker"]["deploy"]["replicas"])),
]


class Deployment:
    """Starts services of compose.yaml as processes of this machine."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.ports = {"0.0.0.0:8000": free_port(), "0.0.0.0:8001": free_port()}
        self.site, self.market = (f"http://127.0.0.1:{port}" for port in self.ports.values())
        self.environment = self._environment()
        marketplace = MarketplaceProcess(self.market, self.environment)
        self.installation = Installation(folder, self.environment, marketplace)

    def _environment(self):
        """Values of this test for all variables that compose.yaml sets."""
        given = {
            "DATABASE_URL": self.stack.enter_context(scratch_database("composed_site")),
            "MARKETPLACE_DATABASE_URL": self.stack.enter_context(
                scratch_database("composed_market")
            ),
            "CELERY_BROKER_URL": self.stack.enter_context(redis(self.folder)),
            "MEDIA_ROOT": str(self.folder / "media"),
            # There is no proxy.
            "BEHIND_PROXY": "false",
            "MARKETPLACE_BEHIND_PROXY": "false",
            "LOG_FORMAT": "json",
            # Beat is to do its part within the test.
            "SYNC_SECONDS": "2",
        }
        assert given.keys() == PRODUCT["site"]["environment"].keys()
        return {
            **{k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"},
            **given,
            "SITE_URL": self.site,
            "MARKETPLACE_URL": self.market,
            # Simulated workers are made at a `local` marketplace only.
            "MTURK_ENDPOINT": "local",
            "SECRET_KEY": secrets.token_urlsafe(50),
            "MARKETPLACE_SECRET_KEY": secrets.token_urlsafe(50),
            "WEB_CONCURRENCY": "2",
            "METRICS_TOKEN": TOKEN,
            "MARKETPLACE_METRICS_TOKEN": TOKEN,
            "LOG_REQUESTS": "true",
            "LOG_LEVEL": "INFO",
        }

    def command(self, service: str) -> list[str]:
        """The service's command with this machine's programs, ports and folders."""
        program, *arguments = PRODUCT[service]["command"]
        here = {name: f"127.0.0.1:{port}" for name, port in self.ports.items()}
        here["/tmp/beat"] = str(self.folder / "beat")
        path = Path(sys.executable).parent / program
        return [str(path), *(here.get(each, each) for each in arguments)]

    def run(self, service: str) -> None:
        subprocess.run(self.command(service), cwd=ROOT, env=self.environment, check=True)

    def start(self, service: str, *options: str, name: str = "", **variables: str) -> None:
        log = self.folder / f"{name or service}.log"
        environment = {**self.environment, **variables}
        process = running([*self.command(service), *options], log, environment, ROOT)
        self.installation.processes[name or service] = self.stack.enter_context(process)

    def metrics(self, url: str) -> str:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return requests.get(f"{url}/metrics", headers=headers, timeout=PATIENCE).text


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("composed")
    try:
        with ExitStack() as stack:
            yield start_all(Deployment(folder, stack))
    except ServiceAbsent as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


def start_all(deployment: Deployment) -> Deployment:
    deployment.run("migrate")
    deployment.run("marketplace-migrate")
    deployment.start("marketplace")
    wait = deployment.installation.wait_until
    wait(lambda: answers(f"{deployment.market}/readyz"), "the marketplace is ready")
    keys = deployment.installation.marketplace.requester("composed")
    deployment.environment["AWS_ACCESS_KEY_ID"] = keys["access_key"]
    deployment.environment["AWS_SECRET_ACCESS_KEY"] = keys["secret_key"]
    deployment.start("site")
    for service, number in CELERY_WORKERS:
        # Containers have host names of their own.
        name = f"{service}-{number}"
        deployment.start(
            *(service, "--hostname", f"{name}@%h"),
            name=name,
            PROMETHEUS_MULTIPROC_DIR=str(deployment.folder / f"metrics-{name}"),
            METRICS_ADDRESS=f"127.0.0.1:{free_port()}",
        )
    deployment.start("beat")
    wait(lambda: answers(f"{deployment.site}/readyz"), "the site is ready")
    return deployment


def test_the_processes_finish_a_campaign_together(deployment):
    installation = deployment.installation
    wanted = IMAGES * CAPTIONS
    prepare_campaign(installation, images=IMAGES, captions=CAPTIONS)
    installation.manage("publish", "services")
    open_slots = "SELECT coalesce(sum(available), 0) FROM hits_hit WHERE status = 'OPEN'"
    installation.wait_until(lambda: installation.number(open_slots) == wanted, "slots are opened")

    def is_complete() -> bool:
        installation.manage(
            *("simulate_workers", "services", "--workers", str(WORKERS), "--careless", "0")
        )
        missing = "SELECT count(*) FROM annotate_task WHERE answers_missing > 0"
        return installation.number(missing) == 0

    installation.wait_until(is_complete, "all captions are there")
    unpaid = "SELECT count(*) FROM hits_assignment WHERE status <> 'APPROVED'"
    installation.wait_until(lambda: installation.number(unpaid) == 0, "all are paid")
    installation.manage("shell", "--no-imports", "--command", REQUEST_RELEASE)
    installation.delay("background.tasks.work_next")
    released = "SELECT count(*) FROM annotate_releasedcaption"
    installation.wait_until(lambda: installation.number(released) == wanted, "a release is made")

    assert installation.rows("SELECT error FROM hits_sync WHERE error <> ''") == []
    environment = deployment.environment
    assert broken_in(environment["DATABASE_URL"], environment["MARKETPLACE_DATABASE_URL"]) == []
    assert_each_process_works_and_names_no_worker(deployment)


def assert_each_process_works_and_names_no_worker(deployment: Deployment) -> None:
    for site in ("site", "marketplace"):
        log = (deployment.folder / f"{site}.log").read_text()
        assert len(set(re.findall(r'"process": (\d+)', log))) == 2, f"{site}: not both answer"
    ping = "from config.celery import app; print(len(app.control.ping(timeout=30)))"
    answered = deployment.installation.manage("shell", "--no-imports", "--command", ping)
    assert int(answered) == len(CELERY_WORKERS)
    # Each process of a site shows the requests of both.
    shown = deployment.metrics(deployment.site)
    posted = re.search(
        r'http_request_seconds_count{method="POST",route="task/<slug:slug>/",status="200"} (\S+)',
        shown,
    )
    assert posted is not None, shown
    assert float(posted[1]) >= IMAGES * CAPTIONS
    assert 'campaign_responses_missing{campaign="services"} 0.0' in shown
    assert 'operation="CreateHITWithHITType",outcome="answered"' in deployment.metrics(
        deployment.market
    )
    workers = deployment.installation.rows("SELECT marketplace_id FROM hits_workeraccount")
    logs = deployment.installation.logs(last=10_000_000)
    assert len(workers) >= CAPTIONS
    assert not [worker for (worker,) in workers if worker in logs]
