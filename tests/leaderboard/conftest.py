"""A release with twelve images, and a challenge on it."""

import json
import os
from collections.abc import Iterator

import pytest

from annotate.models import Release
from leaderboard.models import Challenge
from tests.leaderboard.making import make_challenge, make_release, results_of
from tests.worlds import shared_rows

IMAGES = 12


@pytest.fixture(scope="module")
def made_release(django_db_setup, django_db_blocker) -> Iterator[int]:
    with shared_rows(django_db_blocker):
        yield make_release(images=IMAGES).pk


@pytest.fixture
def release(made_release, db) -> Release:
    return Release.objects.get(pk=made_release)


@pytest.fixture
def challenge(release) -> Challenge:
    """Opened at noon; three submissions per day, five in total; without its baseline."""
    made = make_challenge(release)
    made.submissions.all().delete()
    return made


@pytest.fixture
def results():
    """The bytes of a valid results file; `change` edits its entries, `word` makes it another."""

    def content(change=None, word: str = "dog") -> bytes:
        entries = json.loads(results_of(IMAGES, word))
        return json.dumps(change(entries) if change else entries).encode()

    return content


@pytest.fixture
def slow_java(tmp_path, monkeypatch) -> None:
    """A Java that does not end in time. The real one may take less than a second."""
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\nexec sleep 60\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
