"""A whole installation for a benchmark, and a campaign in it: both sites and the reconciler as
processes on their own PostgreSQL server, or on SQLite."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.broken_parts import Network
from benchmarks.fleet import Fleet, OwnPostgresql, OwnRedis, Program, own_postgresql, own_redis
from benchmarks.import_openimages import BOXES_PER_IMAGE, write_files
from benchmarks.invariants import Rows, broken_in, reading
from benchmarks.lean_browser import Answer, LeanBrowser, NoAnswer, Unexpected, ask, good
from hits.local import (
    HOST,
    Installation,
    ProcessFailed,
    free_port,
    make_workers,
    manage,
    stopped_by_signals,
)

NAME = "replay"
MARKETPLACE, SITE, RECONCILER = "marketplace", "site", "reconciler"
CELERY, SECOND_CELERY, BEAT = "celery worker", "second celery worker", "celery beat"
JOBS = "job worker"
POSTGRESQL = "postgresql"
WORKERS_AT_ONCE = 200
# Signs what only lives as long as the benchmark.
KEY = "a-key-of-a-benchmark-which-signs-nothing-that-matters"
# A killed site needs seconds until it answers again, and on a busy machine a minute.
STEADILY_FOR = 120.0
JSON = {"Content-Type": "application/json"}
MAKE_REVIEWERS = """
from django.contrib.auth import get_user_model
from django.utils import timezone
from accounts.models import TeamRole
from accounts.services.api_tokens import issue_token
from accounts.services.teams import add_member, first_team
at = timezone.now()
for name in {names!r}:
    user = get_user_model().objects.create_user(name)
    add_member(team=first_team(at=at), user=user, role=TeamRole.RESEARCHER, at=at)
    print(issue_token(user=user, at=at)[1])
"""


@dataclass
class Whole:
    """The installation: its processes, its databases, and what a benchmark asks of it."""

    places: Installation
    environment: dict[str, str]
    fleet: Fleet
    postgresql: OwnPostgresql | None = None
    redis: OwnRedis | None = None
    # The processes that sync campaigns.
    syncing: tuple[str, ...] = (RECONCILER,)
    tokens: list[str] = field(default_factory=list)

    def manage(self, *arguments: str) -> str:
        """Run a management command; return its output. Raises ProcessFailed."""
        return manage(arguments, self.environment)

    @contextmanager
    def site_rows(self) -> Iterator[Rows]:
        with reading(self.environment["DATABASE_URL"]) as rows:
            yield rows

    def number(self, sql: str) -> float:
        """The number that a query on the site's database returns."""
        with self.site_rows() as rows:
            return float(rows(sql)[0][0] or 0)

    def wait_until(self, holds: Callable[[], bool], what: str, seconds: float) -> None:
        """Raises ProcessFailed if it does not hold in time."""
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise ProcessFailed(f"{what}: not within {seconds:g} s\n{self.fleet.logs()}")
            time.sleep(0.2)

    def broken(self) -> list[str]:
        """A line for each invariant that does not hold."""
        lines = broken_in(
            self.environment["DATABASE_URL"], self.environment["MARKETPLACE_DATABASE_URL"]
        )
        return lines + open_pages(self.places.site_url)

    def prepare_images(self, count: int) -> None:
        """Import new images by their rows alone, and select all of them."""
        boxes = round(count * BOXES_PER_IMAGE) + 1
        files = write_files(self.places.folder, boxes=boxes, seed=1)
        self.manage(
            *["import_openimages", "--classes", str(files.classes)],
            *["--images", str(files.images), "--boxes", str(files.boxes), "--split", NAME],
        )
        self.manage("select_images", "--split", NAME, "--all", "--name", NAME)

    def create_campaign(self, name: str, *, budget: str, sections: str) -> None:
        """Create a draft on the images; `sections` is the rest of its file."""
        path = self.places.folder / f"{name}.toml"
        path.write_text(
            f'name = "{name}"\nselection = "{NAME}"\nbudget = "{budget}"\n{sections}',
            encoding="utf-8",
        )
        self.manage("create_campaign", str(path))

    def steadily(self, method: str, path: str, body: object = None) -> Any:
        """The same as `call`, repeated while the site fails; raises ProcessFailed."""
        return _steadily(lambda: self.call(method, path, body))

    def workers(self, count: int) -> list[str]:
        """Make workers who meet nocaps' requirements; return links by which they sign in."""
        links: list[str] = []
        for first in range(0, count, WORKERS_AT_ONCE):
            last = min(count, first + WORKERS_AT_ONCE)
            names = [f"worker-{number}" for number in range(first, last)]
            links += make_workers(
                names, country="US", approved=6000, rate=99, environment=self.environment
            )
        return links

    def browsers(self, count: int) -> list[LeanBrowser]:
        """The browsers of this many workers, signed in, for the latest group of HITs."""
        group, links = self.group(), self.workers(count)
        browsers = [LeanBrowser(self.places.marketplace_url, group) for _ in links]
        for browser, link in zip(browsers, links, strict=True):
            browser.sign_in(link)
        return browsers

    def group(self) -> str:
        with self.site_rows() as rows:
            return str(rows("SELECT hit_type_id FROM hits_hittype ORDER BY id DESC")[0][0])

    def make_reviewers(self, *names: str) -> None:
        """Create researchers with API tokens."""
        printed = self.manage(
            "shell", "--no-imports", "--command", MAKE_REVIEWERS.format(names=names)
        )
        self.tokens = printed.split()

    def call(self, method: str, path: str, body: object = None, *, reviewer: int = 0) -> object:
        """Call the requester site's API as a reviewer; raises Unexpected."""
        return json.loads(self.answer(method, path, body, reviewer=reviewer).text or "null")

    def answer(self, method: str, path: str, body: object = None, *, reviewer: int = 0) -> Answer:
        """The same, for an answer that is not JSON."""
        answer = ask(
            method,
            f"{self.places.site_url}/api/{path}",
            body="" if body is None else json.dumps(body),
            headers={**JSON, "Authorization": f"Token {self.tokens[reviewer]}"},
        )
        return good(answer)

    def hook(self, name: str, **body: object) -> None:
        """Use a test hook of the marketplace, which has to be running with them."""
        url = f"{self.places.marketplace_url}/test/{name}"
        _steadily(lambda: good(ask("POST", url, body=json.dumps(body), headers=JSON)))


def _steadily(action: Callable[[], Any]) -> Any:
    """Repeat an action while a server fails; raises ProcessFailed if it refuses, or does not stop
    failing."""
    end = time.monotonic() + STEADILY_FOR
    while True:
        try:
            return action()
        except (NoAnswer, Unexpected) as error:
            is_refused = isinstance(error, Unexpected) and error.status < 500
            if is_refused or time.monotonic() > end:
                raise ProcessFailed(str(error)) from error
            time.sleep(0.5)


def open_pages(site_url: str) -> list[str]:
    """A line for each page of the researcher's that answers a visitor who has not signed in."""
    paths = ["", f"campaigns/{NAME}/", f"campaigns/{NAME}/campaign.toml", "images/", "jobs/"]
    paths += ["api/campaigns/", f"api/campaigns/{NAME}/responses/", f"api/releases/{NAME}/"]
    answers = [ask("GET", f"{site_url}/{path}") for path in paths]
    return [
        f"7. {answer.url} answers a visitor without an account: {answer.status}"
        for answer in answers
        if answer.status < 300
    ]


def programs(
    places: Installation,
    environment: Mapping[str, str],
    *,
    sync_seconds: float,
    web_processes: int = 0,
    counts_statements: bool = False,
) -> dict[str, Program]:
    """The installation's processes by name."""

    def command(name: str) -> list[str]:
        counts = str(counts_of(places.folder, name))
        return ["benchmarks/counted.py", counts] if counts_statements else ["manage.py"]

    celery = ["-m", "celery", "-A", "config"]
    worker = [*celery, "worker", "--concurrency", "1"]
    beat = ["--schedule", str(places.folder / "beat"), "--pidfile", ""]
    port = int(environment["MARKETPLACE_PORT"])
    marketplace = [*command(MARKETPLACE), "marketplace", "--port", str(port)]
    site = [*command(SITE), "serve", "--site-only", "--port", str(places.site_port)]

    def background(*arguments: str) -> Program:
        return Program(arguments, environment, is_background=True)

    if web_processes:
        marketplace = _gunicorn("marketplace", port, web_processes)
        site = _gunicorn("config", places.site_port, web_processes)
    return {
        MARKETPLACE: Program(marketplace, environment, f"{places.marketplace_url}/healthz"),
        SITE: Program(site, environment, f"{places.site_url}/sign-in/"),
        RECONCILER: background("manage.py", "sync", "--watch", f"{sync_seconds:g}"),
        JOBS: background("manage.py", "work_jobs", "--watch", "1"),
        CELERY: background(*worker, "--hostname", "one@%h"),
        SECOND_CELERY: background(*worker, "--hostname", "two@%h"),
        BEAT: background(*celery, "beat", *beat),
    }


def _gunicorn(site: str, port: int, processes: int) -> list[str]:
    options = ["--bind", f"{HOST}:{port}", "--workers", str(processes)]
    return ["-m", "gunicorn", "--config", "python:shared.gunicorn", *options, f"{site}.wsgi"]


def counts_of(folder: Path, name: str) -> Path:
    """The file with the number of a process's statements, if they are counted."""
    return folder / f"{name}.statements"


@contextmanager
def installed(
    folder: Path,
    *,
    on_sqlite: bool = False,
    has_redis: bool = False,
    sync_seconds: float = 2,
    marketplace: Network | None = None,
    web_processes: int = 0,
    counts_statements: bool = False,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Whole]:
    """Make an installation in this folder; start both sites, and stop everything at the end.

    With a network, everybody reaches the marketplace through it. With `web_processes`, gunicorn
    serves each site with this many processes, as in production; otherwise the embedded server does.
    """
    port, site_port = free_port(0), free_port(0)
    places = Installation(folder, site_port, port if marketplace is None else marketplace.port)
    if marketplace is not None:
        marketplace.target = port
    # Stopped by a signal, it still stops its processes.
    with stopped_by_signals(), ExitStack() as stack:
        environment = places.environment() | {
            "MARKETPLACE_PORT": str(port),
            "LOG_LEVEL": "WARNING",
            "SYNC_SECONDS": f"{sync_seconds:g}",
            "API_READS_PER_MINUTE": "0",
            **(settings or {}),
        }
        whole = Whole(places, environment, Fleet(folder, {}))
        if not on_sqlite:
            whole.postgresql = stack.enter_context(own_postgresql(folder / POSTGRESQL))
            for variable, name in (("DATABASE_URL", SITE), ("MARKETPLACE_DATABASE_URL", "market")):
                whole.postgresql.execute(f"CREATE DATABASE {name}")
                environment[variable] = f"{whole.postgresql.url}/{name}"
        if has_redis:
            whole.redis = stack.enter_context(own_redis(folder / "redis"))
            environment["CELERY_BROKER_URL"] = whole.redis.url
            whole.syncing = (CELERY, SECOND_CELERY, BEAT)
        if web_processes:
            environment |= {"SECRET_KEY": KEY, "MARKETPLACE_SECRET_KEY": KEY}
            whole.manage("migrate", "--verbosity", "0", "--settings", "marketplace.settings")
        whole.fleet.programs = programs(
            places,
            environment,
            sync_seconds=sync_seconds,
            web_processes=web_processes,
            counts_statements=counts_statements,
        )
        stack.callback(whole.fleet.stop)
        # The embedded marketplace makes its tables itself, while the site's are made.
        whole.fleet.start(MARKETPLACE, waits=False)
        whole.manage("migrate", "--verbosity", "0")
        whole.fleet.wait_until_ready(MARKETPLACE)
        environment |= places.keys(environment)
        whole.fleet.start(SITE)
        yield whole


def run_measured(whole: Whole, name: str, arguments: Sequence[str]) -> float:
    """Run a management command as a process of the fleet; return its seconds."""
    began = time.monotonic()
    whole.fleet.programs[name] = Program(["manage.py", *arguments], whole.environment)
    whole.fleet.start(name)
    process = whole.fleet.children[name].process
    while process.poll() is None:
        whole.fleet.sample()
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
    if process.returncode:
        raise ProcessFailed(whole.fleet.children[name].log.read_text()[-2000:])
    return time.monotonic() - began
