"""The marketplace's backup, restored into an empty database of the same kind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.serializers.json import DjangoJSONEncoder

from marketplace.models import Assignment, Hit, Transfer
from marketplace.services import assignments
from tests.marketplace.factories import NOON, make_hit, make_worker
from tests.services.installation import empty_database

ROOT = Path(__file__).resolve().parents[2]
STATE = "from tests.marketplace.test_backups import state; print(state())"
NEW_HIT = """
from tests.marketplace.factories import make_hit
print(make_hit().pk)
"""


def state() -> str:
    """The contents of the marketplace's database, as JSON."""
    found = {
        "hits": Hit.objects.values("public_id", "available", "unreviewed"),
        "assignments": Assignment.objects.values("public_id", "status", "answer"),
        "transfers": Transfer.objects.values(),
    }
    rows = {name: list(each.order_by("pk")) for name, each in found.items()}
    return json.dumps(rows, cls=DjangoJSONEncoder)


class Machine:
    """Runs commands of the marketplace with a database."""

    def __init__(self, url: str) -> None:
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "marketplace.settings",
            "MARKETPLACE_DATABASE_URL": url,
        }

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, program: str) -> str:
        return self.manage("shell", "--no-imports", "-c", program)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_restored_marketplace_has_its_hits_answers_and_money_and_continues(tmp_path):
    """A new row gets a key that the backup does not have: sequences are restored, too."""
    hit = make_hit(max_assignments=3)
    worker = make_worker()
    accepted = assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=accepted, answer="<a/>", at=NOON)
    before = json.loads(state())
    call_command("marketplace_backup", str(tmp_path / "backup"))

    with empty_database(tmp_path) as url:
        machine = Machine(url)
        machine.manage("marketplace_restore", str(tmp_path / "backup"))
        after = json.loads(machine.run(STATE))
        new = int(machine.run(NEW_HIT))

    assert after == before
    assert [each["status"] for each in after["assignments"]] == ["Submitted"]
    assert after["transfers"]
    assert new > hit.pk
