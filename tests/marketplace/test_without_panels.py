"""A marketplace without the app `panels` works: sign in, accept, submit, approve, pay."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
JOURNEY = """
import sys

import django

django.setup()

from datetime import timedelta

from bs4 import BeautifulSoup
from django.core.management import call_command
from django.test import Client
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from marketplace import server
from marketplace.models import Assignment, Hit, Transfer, TransferKind
from marketplace.services.links import sign_in_url
from marketplace.services import money, retention, reviews, studies
from tests.marketplace.factories import make_hit, make_hit_type, make_study, make_worker

call_command("migrate", verbosity=0)
call_command("check")
worker, hit_type = make_worker(), make_hit_type()
make_hit(hit_type)
Hit.objects.update(expires_at=timezone.now() + timedelta(hours=1))
make_study(hit_type, at=timezone.now())
client = Client(SERVER_NAME="127.0.0.1")


def post(page, action):
    form = BeautifulSoup(client.get(page).content, "lxml").find("form", action=action)
    assert form is not None, (page, action)
    inputs = form.find_all("input", {"name": True})
    fields = {each["name"]: each.get("value", "") for each in inputs}
    return client.post(action, fields)


client.get("/sign-in/" + sign_in_url(worker).partition("/sign-in/")[2])
post("/", reverse("accept", args=[hit_type.public_id]))
assignment = Assignment.objects.get()
frame = client.post("/mturk/externalSubmit", {"assignmentId": assignment.public_id, "caption": "x"})
assert frame.status_code == 200, frame.content
reviews.approve(assignment=Assignment.objects.get(), at=timezone.now())
assert money.pay_out(at=timezone.now()) == 1
assert Transfer.objects.filter(kind=TransferKind.PAYOUT, worker=worker).count() == 1
assert Client(SERVER_NAME="127.0.0.1").get("/join/scenes?PROLIFIC_PID=p1").status_code == 200
for each in server.repeaters():
    each.step()
retention.erase_worker(worker=worker, at=timezone.now())
worker.refresh_from_db()
assert worker.erased_at is not None
try:
    reverse("prolific_hook")
except NoReverseMatch:
    pass
else:
    sys.exit("The app is installed.")
assert not [name for name in sys.modules if name.startswith("marketplace.panels")]
print("done")
"""


@pytest.mark.slow
@pytest.mark.one_database
def test_a_marketplace_without_panels_pays_for_an_accepted_hit(tmp_path):
    environ = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.marketplace.without_panels",
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{tmp_path / 'core.sqlite3'}",
    }

    done = subprocess.run(
        [sys.executable, "-c", JOURNEY],
        cwd=ROOT, env=environ, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done\n")
