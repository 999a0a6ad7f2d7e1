"""Two marketplace processes on one PostgreSQL database pass the tests of the API together.

A load balancer sends each request to the next process, so that whatever one of them keeps in its
memory, and not in the database, fails a test.
"""

import os
import re
import subprocess
import sys
from contextlib import ExitStack

import pytest

from tests.hits.marketplace_process import ROOT
from tests.servers import free_port, running, wait_until_ready
from tests.services.alternating import alternating
from tests.services.installation import ServiceAbsent, scratch_database

pytestmark = pytest.mark.services

PROCESSES = 2
LEAST_TESTS = 150


@pytest.fixture
def marketplaces(tmp_path):
    """The URL of the load balancer."""
    port, ports = free_port(), [free_port() for _ in range(PROCESSES)]
    url = f"http://127.0.0.1:{port}"
    with ExitStack() as stack:
        try:
            database = stack.enter_context(scratch_database("conformance"))
        except ServiceAbsent as error:
            if os.environ.get("CI"):
                pytest.fail(str(error))
            pytest.skip(str(error))
        environment = {
            **{k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"},
            "MARKETPLACE_DATABASE_URL": database,
            "MARKETPLACE_URL": url,
            "MARKETPLACE_TEST_HOOKS": "true",
        }
        for number in ports:
            command = [sys.executable, "manage.py", "marketplace", "--port", str(number)]
            log = tmp_path / f"{number}.log"
            process = stack.enter_context(running(command, log, environment, ROOT))
            wait_until_ready(f"http://127.0.0.1:{number}/healthz", process)
        stack.enter_context(alternating(port, ports))
        yield url


def test_two_processes_pass_the_tests_of_the_api_together(marketplaces):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/marketplace/conformance", "-q"]
        + ["--ds=marketplace.settings", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PYTEST_"))},
            "CONFORMANCE_URL": marketplaces,
        },
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= LEAST_TESTS, done.stdout[-2000:]
