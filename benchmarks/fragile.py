"""An installation of real processes for `benchmarks.faults`, whose parts fail when told to."""

import json
import logging
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.broken_parts import Disk, Network, Queue
from benchmarks.fleet import OwnPostgresql, OwnRedis
from benchmarks.invariants import reading
from benchmarks.lean_browser import LeanBrowser
from benchmarks.whole_campaign import (
    BEAT,
    CELERY,
    JOBS,
    MARKETPLACE,
    RECONCILER,
    SECOND_CELERY,
    SITE,
    Whole,
    installed,
)

PROCESSES = (MARKETPLACE, SITE, JOBS, RECONCILER, CELERY, SECOND_CELERY, BEAT)
IMAGES, WORKERS = 8, 14
# How long the site waits for a reply of the marketplace, and how late a delayed reply is.
READ_TIMEOUT, DELAY = 6, 7.0
# Calls come every second, so a fault that is asked for happens within this time.
FAULTS_WITHIN = 6.0
SETTINGS = {
    "MARKETPLACE_TEST_HOOKS": "true",
    "MARKETPLACE_SWEEP_SECONDS": "0.5",
    "MTURK_LIST_SECONDS": "2",
    "MTURK_READ_TIMEOUT": str(READ_TIMEOUT),
    "JOB_LEASE_SECONDS": "6",
}
# Without those of the marketplace's API, whose path is `/`.
SERVER_ERROR = re.compile("Internal Server Error: /.+")
FAULTS_LEFT = "SELECT faults FROM marketplace_rehearsal"


@dataclass
class Fragile:
    """The installation, and its parts outside of the product."""

    whole: Whole
    network: Network
    disk: Disk
    queue: Queue
    browsers: list[LeanBrowser]
    # Faults of calls by kind, as the marketplace was told.
    asked: Counter[str] = field(default_factory=Counter)

    @property
    def processes(self) -> list[str]:
        return [name for name in PROCESSES if name in self.whole.fleet.children]

    @property
    def servers(self) -> list[OwnPostgresql | OwnRedis]:
        """The database and the broker, those that the installation has."""
        servers = (self.whole.postgresql, self.whole.redis)
        return [server for server in servers if server is not None]

    def processor_seconds(self) -> float:
        """The processor time that the installation and this process have used so far."""
        server = self.whole.postgresql
        used = sum(self.whole.fleet.seconds().values()) + time.process_time()
        return used + (server.seconds() if server is not None else 0)

    def fail_calls(self, kind: str, times: int) -> None:
        """Let this many of the next calls to the marketplace fail in this way."""
        seconds = DELAY if kind.startswith("delay") else 0
        self.whole.hook("faults", operation="*", kind=kind, times=times, seconds=seconds)
        self.asked[kind] += times

    def turn_clock(self, seconds: float) -> None:
        """Turn the marketplace's clock ahead, or back."""
        self.whole.hook("clock", advance_seconds=seconds)

    def start_again(self) -> None:
        """Start what does not run, as systemd would, without waiting until it is ready."""
        for server in self.servers:
            if not server.is_running:
                server.start()
        for name in self.processes:
            if not self.whole.fleet.is_running(name):
                self.whole.fleet.start(name, waits=False)

    def mend(self) -> Counter[str]:
        """Let everything run again; return how many calls have failed, by kind."""
        self.start_again()
        for name in self.processes:
            self.whole.fleet.wait_until_ready(name)
        end = time.monotonic() + FAULTS_WITHIN
        while (left := self._faults_left()) and time.monotonic() < end:
            time.sleep(0.2)
        failed = self.asked - left
        self.asked.clear()
        self.whole.hook("faults", clear=True)
        return failed

    def _faults_left(self) -> Counter[str]:
        with reading(self.whole.environment["MARKETPLACE_DATABASE_URL"]) as rows:
            counted = rows(FAULTS_LEFT)
        faults = counted[0][0] if counted else []
        faults = json.loads(faults) if isinstance(faults, str) else faults
        left: Counter[str] = Counter()
        for fault in faults:
            left[fault["kind"]] += fault["times"]
        return +left

    def server_errors(self) -> list[str]:
        """A line for each request that failed although nothing was told to fail there."""
        logs = [log.read_text(errors="replace") for log in self.disk.folder.glob("*.log")]
        return [f"11. {line}" for log in logs for line in SERVER_ERROR.findall(log)]

    def keep_logs(self, place: Path) -> None:
        """Copy the logs, and databases that are files, to look into a failure."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for file in [*self.disk.folder.glob("*.log"), *self.disk.folder.glob("*.sqlite3*")]:
            with suppress(OSError):
                shutil.copy(file, place)


@contextmanager
def fragile_installation(*, on_sqlite: bool) -> Iterator[Fragile]:
    """Start the installation, with a disk, a network and a queue of its own."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-"))) / "disk"
        folder.mkdir()
        folder.parent.chmod(0o755)
        disk, network, queue = Disk(folder), Network(), Queue()
        for part in (disk, network, queue):
            stack.callback(part.close)
        whole = stack.enter_context(
            installed(
                folder,
                on_sqlite=on_sqlite,
                has_redis=not on_sqlite,
                sync_seconds=1,
                marketplace=network,
                settings=queue.settings | SETTINGS,
            )
        )
        whole.make_reviewers("first", "second", "third")
        whole.prepare_images(IMAGES)
        for name in (*whole.syncing, JOBS):
            whole.fleet.start(name)
        browsers = [LeanBrowser(whole.places.marketplace_url, "") for _ in range(WORKERS)]
        for browser, link in zip(browsers, whole.workers(WORKERS), strict=True):
            browser.sign_in(link)
        yield Fragile(whole, network, disk, queue, browsers)
