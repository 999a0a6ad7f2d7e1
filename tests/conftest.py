"""Fixtures for the tests of both sites."""

import atexit
import functools
import gc
import os
import shutil
import sys
from collections.abc import Generator, Sequence
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import botocore.session
import pytest
from django.conf import settings
from django.core.cache import cache
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.test.signals import setting_changed
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis.internal.conjecture import providers

from tests.servers import PATIENCE

HERE = Path(__file__).resolve().parent
IS_MARKETPLACE = settings.SETTINGS_MODULE == "marketplace.settings"
PLUGINS = ["tests.databases", "tests.flush", "tests.pauses"]
pytest_plugins = PLUGINS if IS_MARKETPLACE else [*PLUGINS, "tests.api"]

# A process has one settings module, so the marketplace's tests need a separate run.
REQUESTERS = [
    "accounts",
    "annotate",
    "background",
    "browser",
    "config",
    "corpora",
    "docs",
    "hits",
    "leaderboard",
    "qualcontrol",
    "services",
    "shared/database",
    "simulation",
]
collect_ignore = REQUESTERS if IS_MARKETPLACE else ["marketplace"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even load the tests in Chromium, or with services, unless they are asked for."""
    is_asked_for = f"not {collection_path.name}" not in config.option.markexpr
    is_left_out = collection_path in {HERE / "browser", HERE / "services"} and not is_asked_for
    return True if is_left_out else None


# Fixtures that run a marketplace in its own process.
PROCESSES = {"marketplace", "movable"}

# Without keys, boto3 would request them from a cloud machine's metadata service.
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"


# A client has one requester's keys, so each test makes one, and would read all services' models.
botocore.session.create_loader = functools.cache(botocore.session.create_loader)


# No deadline and no health check for speed, so that tests pass on slow machines.
patient = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}
hypothesis_settings.register_profile("search", derandomize=False, **patient)
# Each run uses the same examples; `--hypothesis-profile=search` looks for others.
hypothesis_settings.register_profile(
    "same", derandomize=True, database=None, max_examples=30, **patient
)
hypothesis_settings.load_profile("same")
# Hypothesis takes some examples from constants in the loaded modules. The loaded modules depend on
# the tests that ran before in the same process, so the examples would, too.
providers._get_local_constants = providers.Constants


@receiver(connection_created)
def _unordered_rows_come_backwards(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Make SQLite return rows in reverse order if a query has no ORDER BY.

    PostgreSQL may return them in any order, while SQLite uses the order of the keys, which would
    hide a missing ORDER BY.
    """
    if connection.vendor == "sqlite":
        connection.connection.execute("PRAGMA reverse_unordered_selects = ON")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Mark what `make test` leaves out, and what CI also runs on PostgreSQL."""
    first = dict[str, pytest.Item]()
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & PROCESSES and not IS_MARKETPLACE:
            item.add_marker("slow")
        is_first = first.setdefault(item.nodeid.partition("[")[0], item) is item
        if _depends_on_database(item, fixtures, is_first=is_first):
            item.add_marker("database")
    yield
    # Slow tests go first, so that at the end no process waits for another one's slow test.
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def _depends_on_database(item: pytest.Item, fixtures: set[str], *, is_first: bool) -> bool:
    """Whether the test may end differently on another database.

    Contents of pages do not: `test_rights.py` and `test_wrong_inputs.py` try the queries of each.
    Cases of a test differ in their input, hardly ever in their statements, so the first is enough,
    unless transactions meet in them.
    """
    mark = item.get_closest_marker("django_db")
    is_transactional = "transactional_db" in fixtures or (mark and mark.kwargs.get("transaction"))
    uses_it = mark or is_transactional or "db" in fixtures
    if not uses_it or item.get_closest_marker("one_database"):
        return False
    return bool(is_transactional) or (
        is_first and not {"pages", "test_pages.py"} & {*item.path.parts}
    )


RUNNING: list[pytest.Item] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    RUNNING[:] = [item]
    return (yield)


def _refuse_processes(event: str, arguments: tuple[Any, ...]) -> None:
    """Let only tests marked `slow` start a process, so that `make test` stays short."""
    if event == "subprocess.Popen" and RUNNING and not _may_start(RUNNING[0], arguments[1]):
        raise RuntimeError(f"Mark {RUNNING[0].name} `slow`: it starts {arguments[0]}.")


def _may_start(item: pytest.Item, command: Sequence[str]) -> bool:
    # git says which version of the software this is, once in a process. fc-list lists the fonts for
    # matplotlib, once on a machine.
    return command[0] in {"git", "fc-list"} or any(
        map(item.get_closest_marker, ("slow", "browser", "services"))
    )


sys.addaudithook(_refuse_processes)


def pytest_collection_finish() -> None:
    """Leave what is loaded by now out of garbage collections. They took a twelfth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_sessionstart() -> None:
    """Django's own hasher takes a quarter of a second on purpose. If static files are not looked
    up, each test client lists them all when it starts."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.WHITENOISE_AUTOREFRESH = True


# What each test needs is set here and not in fixtures: pytest takes longer for five fixtures than
# for most tests.
MEDIA, MEDIA_FOLDERS = Path(mkdtemp(prefix="media-")), count()
atexit.register(shutil.rmtree, MEDIA, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Give the test a folder of files of its own, and forget which requests were counted: limits
    count in the process' cache, so the tests before would use up those of the next."""
    if not IS_MARKETPLACE:
        settings.MEDIA_ROOT = MEDIA / str(next(MEDIA_FOLDERS))
        setting_changed.send(None, setting="MEDIA_ROOT", value=settings.MEDIA_ROOT, enter=True)
    cache.clear()


def pytest_report_header() -> str:
    engine = settings.DATABASES["default"]["ENGINE"].rsplit(".", 1)[-1]
    return f"site: {settings.SETTINGS_MODULE}, database: {engine}"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(request: pytest.FixtureRequest) -> None:
    """Use a test database of this process, so that concurrent runs do not share one."""
    database = settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        # SQLite gives threads access in no particular order, so one thread may wait for all others.
        database["OPTIONS"]["timeout"] = PATIENCE
    elif database["ENGINE"] == "django.db.backends.postgresql":
        # No test stops the database server, so commits need not wait for the disk.
        database["OPTIONS"] = {"options": "-c synchronous_commit=off"}
    request.getfixturevalue("own_database")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real data files. Without it the test is skipped, but fails in CI."""
    folder = Path(os.environ.get("SHARED_DATA", HERE.parent.parent / "shared" / "data"))
    if not folder.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"{folder} is absent")
        pytest.skip(f"{folder} is absent")
    return folder
