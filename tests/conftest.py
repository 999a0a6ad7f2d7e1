"""Fixtures for the tests of both sites."""

import gc
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis.internal.conjecture import providers

from tests.servers import PATIENCE

HERE = Path(__file__).resolve().parent
IS_MARKETPLACE = settings.SETTINGS_MODULE == "marketplace.settings"
pytest_plugins = ["tests.databases", "tests.flush"]

# A process has one settings module, so the marketplace's tests need a separate run.
REQUESTERS = ["annotate", "qualcontrol", "hits", "leaderboard", "browser", "docs", "services"]
collect_ignore = REQUESTERS if IS_MARKETPLACE else ["marketplace"]


# Without keys, boto3 would request them from a cloud machine's metadata service.
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"


# No deadline and no health check for speed, so that tests pass on slow machines.
patient = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}
hypothesis_settings.register_profile("search", derandomize=False, **patient)
# Each run uses the same examples; `--hypothesis-profile=search` looks for others.
hypothesis_settings.register_profile("same", derandomize=True, database=None, **patient)
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
    """Mark the tests that CI also runs on PostgreSQL (docs/development.md), and sort all tests."""
    for item in items:
        if _uses_database(item) and not item.get_closest_marker("one_database"):
            item.add_marker("database")
    yield
    items.sort(key=_place)


def _uses_database(item: pytest.Item) -> bool:
    fixtures = {"db", "transactional_db"} & {*getattr(item, "fixturenames", ())}
    return bool(fixtures or item.get_closest_marker("django_db"))


def _place(item: pytest.Item) -> int:
    """Long tests go first, so that at the end no process waits for another one's long test.

    Those without the test database are the very first: meanwhile, another process may create it.
    """
    if item.get_closest_marker("long") is None:
        return 2
    return 1 if _uses_database(item) else 0


def pytest_collection_finish() -> None:
    """Leave what is loaded by now out of garbage collections. They took a twelfth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


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


@pytest.fixture(autouse=True)
def _passwords_take_no_time(settings: object) -> None:
    """Django's own hasher takes a quarter of a second on purpose."""
    hasher = "django.contrib.auth.hashers.MD5PasswordHasher"
    settings.PASSWORD_HASHERS = [hasher]  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _static_files_are_looked_up(settings: object) -> None:
    """Otherwise each test client lists all static files when it starts."""
    settings.WHITENOISE_AUTOREFRESH = True  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _media_in_a_folder_of_its_own(settings: object, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"  # type: ignore[attr-defined]
