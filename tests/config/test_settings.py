"""Wrong variables of the environment, which are all named before anything starts."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import Environment
from shared import settings as shared_settings
from shared.environment import BothSites, read
from tests.servers import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
MOST_VARIABLES = 50


def faults(monkeypatch, variables=Environment, **given) -> list[str]:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as error:
        read(variables)
    return str(error.value).splitlines()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SYNC_SECONDS", "10s"),
        ("SYNC_SECONDS", "-5"),
        ("UPLOAD_MAX_MB", "1GB"),
        ("LOG_LEVEL", "loud"),
        ("MTURK_ENDPOINT", "locall"),
        ("CELERY_BROKER_URL", "http://x"),
        ("DATABASE_URL", "mysql://127.0.0.1/captions"),
        ("DATABASE_URL", "postgres://127.0.0.1:x/captions"),
        ("SITE_URL", "https://captions.example.org/site"),
        ("SITE_URL", "captions.example.org"),
        ("SITE_URL", "https://captions.example.org:x"),
        ("MARKETPLACE_URL", "https://work.example.org/?x=1"),
        ("MTURK_WORKER_ORIGINS", "https://a.example.org, b.example.org"),
        ("ALLOWED_HOSTS", "https://captions.example.org"),
        ("METRICS_ADDRESS", "9100"),
        ("METRICS_ADDRESS", "127.0.0.1:port"),
        ("S3_ENDPOINT_URL", "files.example.org"),
        ("COPIES_BUCKET", "bucket/folder"),
        ("HAND_OVER_SECRET", "short"),
        ("EMAIL_FROM", "Image Lab"),
        ("EMAIL_FROM", "Lab, Image <lab@example.org>"),
        ("EMAIL_FROM", "lab@.."),
        ("EMAIL_FROM", "@example.org"),
        ("PROLIFIC_VAT", "20%"),
    ],
)
def test_a_wrong_value_is_named(monkeypatch, name, value):
    (line,) = faults(monkeypatch, **{name: value})

    assert line.startswith(f"{name}: ")
    assert line.endswith(".")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SITE_ULR", "SITE_URL"),
        ("SYNC_SECOND", "SYNC_SECONDS"),
        ("MTURK_ENDPPOINT", "MTURK_ENDPOINT"),
        ("SECRET_KEI", "SECRET_KEY"),
    ],
)
def test_a_misspelt_name_is_named_with_the_one_that_is_meant(monkeypatch, name, meant):
    (line,) = faults(monkeypatch, **{name: "x"})

    assert line == f"{name}: there is no such setting. Do you mean {meant}?"


def test_a_name_that_begins_like_ours_is_no_other_programs(monkeypatch):
    (line,) = faults(monkeypatch, MTURK_FEE_SHARE="20%")

    assert line == "MTURK_FEE_SHARE: there is no such setting. docs/settings.md lists all."


def test_variables_of_other_programs_are_none_of_ours(monkeypatch):
    for name in ("API_TOKEN", "LOG_DIR", "MARKETPLACE_SERVICE_HOST", "MARKETPLACE_PORT_8001_TCP"):
        monkeypatch.setenv(name, "x")

    assert read(Environment).sync_seconds == 60


def test_an_address_of_a_sites_own_needs_its_own_key(monkeypatch):
    monkeypatch.delenv("SECRET_KEY", raising=False)

    (line,) = faults(monkeypatch, SITE_URL="https://captions.example.org")

    assert line.startswith("SECRET_KEY: it is not set, and SITE_URL is https://captions.example")


@pytest.mark.parametrize("site", ["config", "marketplace"])
def test_nobody_is_told_that_a_variable_of_either_site_is_misspelt(monkeypatch, site):
    """One file has the variables of both sites."""
    for each in ("config", "marketplace"):
        for name in import_module(f"{each}.environment").Environment.model_fields:
            monkeypatch.setenv(name.upper(), "")

    assert read(import_module(f"{site}.environment").Environment).log_level == "INFO"


@pytest.mark.parametrize("site", ["config", "marketplace"])
def test_a_site_has_few_variables(site):
    own = import_module(f"{site}.environment").Environment.model_fields

    # boto3 reads the requester's two keys.
    assert len(own) <= MOST_VARIABLES - 2
    assert BothSites.model_fields.keys() <= own.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "check"],
        ["manage.py", "sync", "--watch", "1"],
        ["manage.py", "no_such_command"],
        ["-m", "celery", "--quiet", "-A", "config", "worker"],
        ["manage.py", "marketplace"],
    ],
)
def test_a_process_names_all_of_them_and_does_not_start(command):
    environment = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    wrong = {"LOG_LEVEL": "loud", "EMAIL_PORT": "smtp", "EMAIL_HOTS": "mail.example.org"}

    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment | wrong,
    )

    assert done.returncode != 0
    assert done.stdout == ""
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == sorted(wrong)


def test_the_database_is_in_the_folder_whatever_its_name(monkeypatch, tmp_path):
    folder = tmp_path / "C# 50%41?"
    monkeypatch.setattr(shared_settings, "VAR_DIR", folder)

    databases = shared_settings.databases("", file="site.sqlite3", timeout=1)

    assert databases["default"]["NAME"] == str(folder / "site.sqlite3")


@pytest.mark.parametrize(
    "text",
    [
        "HTTPS://Captions.Example.org",
        "https://captions.example.org/",
        "https://captions.example.org?",
    ],
)
def test_an_address_is_stored_as_browsers_write_it(monkeypatch, text):
    monkeypatch.setenv("SECRET_KEY", "x" * 50)
    monkeypatch.setenv("SITE_URL", text)

    assert read(Environment).site_url == "https://captions.example.org"


def test_the_path_of_a_folder_may_begin_with_that_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    names = ("MEDIA_ROOT", "IMAGES_FOLDER", "SPICE_MODELS")
    for name in names:
        monkeypatch.setenv(name, "~/shared")

    variables = read(Environment)

    assert {getattr(variables, name.lower()) for name in names} == {tmp_path / "shared"}
    monkeypatch.setenv("MEDIA_ROOT", "~nobody.like.this/shared")
    with pytest.raises(ImproperlyConfigured, match="MEDIA_ROOT: it must be the path of a folder"):
        read(Environment)
