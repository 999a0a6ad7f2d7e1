"""The API's jobs."""

import pytest

from background.models import JobStatus
from tests.api import send

pytestmark = pytest.mark.django_db


def test_a_job_is_cancelled_and_repeated(api, complete_campaign):
    key = send(api, "/api/campaigns/pilot/releases/", name="v1").json()["id"]

    cancelled = api.post(f"/api/jobs/{key}/cancel/")
    twice = api.post(f"/api/jobs/{key}/cancel/")
    again = api.post(f"/api/jobs/{key}/again/")

    assert cancelled.json()["status"] == "CANCELLED"
    assert twice.status_code == 409
    assert (again.status_code, again.json()["status"]) == (202, "WAITING")
    statuses = [row["status"] for row in api.get("/api/jobs/").json()["results"]]
    assert statuses == [JobStatus.WAITING, JobStatus.CANCELLED]


def test_jobs_are_filtered(api, complete_campaign):
    send(api, "/api/campaigns/pilot/releases/", name="v1")

    assert len(api.get("/api/jobs/?status=WAITING&campaign=pilot").json()["results"]) == 1
    assert api.get("/api/jobs/?kind=report").json()["results"] == []
