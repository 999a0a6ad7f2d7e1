"""The catalogues of translations against the sources, by GNU gettext."""

import gettext
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.services

ROOT = Path(settings.BASE_DIR)
# Of each site, by the folder of its translations: the folders with texts of pages, and those that
# its settings need.
FOLDERS = {
    "annotate": (
        "accounts", "annotate", "background", "config", "corpora", "hits", "leaderboard",
        "qualcontrol", "shared", "simulation", "templates",
    ),
    "marketplace": ("marketplace", "shared", "templates/marketplace"),
}  # fmt: skip
SETTINGS = {"annotate": "config.settings", "marketplace": "marketplace.settings"}
NO_TEXTS_OF = {"annotate": "templates/marketplace", "marketplace": None}


def run(*command, folder):
    """The program's output on standard error, in English."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stderr


def messages(compiled):
    with compiled.open("rb") as file:
        return {key: text for key, text in gettext.GNUTranslations(file)._catalog.items() if key}


@pytest.mark.parametrize("site", FOLDERS)
def test_each_text_has_a_translation_and_the_compiled_files_are_up_to_date(
    site, tmp_path, monkeypatch
):
    for folder in FOLDERS[site]:
        shutil.copytree(ROOT / folder, tmp_path / folder)
    if other := NO_TEXTS_OF[site]:
        shutil.rmtree(tmp_path / other)
    shutil.copy(ROOT / "manage.py", tmp_path)
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", SETTINGS[site])
    monkeypatch.setenv("MARKETPLACE_DATABASE_URL", f"sqlite:///{tmp_path}/site.sqlite3")
    catalogues = sorted(ROOT.glob(f"{site}/locale/*/LC_MESSAGES/django.po"))
    assert len(catalogues) == len(settings.LANGUAGES) - 1
    languages = [path.parts[-3] for path in catalogues]
    chosen = [part for language in languages for part in ("--locale", language)]
    layout = ["--no-location", "--no-wrap", "--no-obsolete"]
    run(sys.executable, "-m", "django", "makemessages", *chosen, *layout, folder=tmp_path)

    for path, language in zip(catalogues, languages, strict=True):
        found, compiled = tmp_path / path.relative_to(ROOT), tmp_path / f"{language}.mo"
        counts = run("msgfmt", "--check", "--statistics", found, "-o", compiled, folder=tmp_path)
        assert "untranslated" not in counts, (language, counts)
        assert "fuzzy" not in counts, (language, counts)
        assert messages(compiled) == messages(path.with_suffix(".mo")), language
