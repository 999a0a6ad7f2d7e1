"""The marketplace's backup, restored into an empty database."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from tests.marketplace.factories import make_hit

ROOT = Path(__file__).resolve().parents[2]
HITS = "from marketplace.models import Hit; print(*Hit.objects.values_list('public_id', flat=True))"


@pytest.mark.django_db(transaction=True)
def test_a_restored_marketplace_has_its_hits(tmp_path):
    if connection.vendor != "sqlite":
        pytest.skip("the requester site's test restores on PostgreSQL, by the same code")
    hit = make_hit()
    call_command("marketplace_backup", str(tmp_path / "backup"))
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "marketplace.settings",
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{tmp_path / 'restored.sqlite3'}",
    }

    def manage(*arguments):
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        ).stdout

    manage("marketplace_restore", str(tmp_path / "backup"))

    assert manage("shell", "--no-imports", "-c", HITS).split() == [hit.public_id]
