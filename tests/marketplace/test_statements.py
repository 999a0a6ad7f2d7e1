"""How many statements the requests for one caption take. BEGIN and COMMIT count."""

import json
from collections.abc import Callable

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from marketplace.models import (
    Assignment,
    AssignmentStatus,
    Event,
    EventType,
    Hit,
    NotificationSetting,
)
from tests.marketplace.factories import (
    accepted,
    make_current_hit,
    make_hit_type,
    make_worker,
    submitted,
)
from tests.marketplace.people import browser

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def swept(monkeypatch):
    """The sweeps are in time, so that no call sweeps."""
    monkeypatch.setattr("marketplace.api.dispatch.is_swept_by_the_clock", lambda: True)


@pytest.fixture
def hit() -> Hit:
    """A HIT whose worker has done another one of its type, as all but the first captions."""
    hit_type = make_hit_type()
    make_current_hit(hit_type, max_assignments=9)
    return make_current_hit(hit_type, max_assignments=9)


@pytest.fixture
def worker(hit):
    found = make_worker()
    submitted(found, hit.hit_type)
    return found


def statements(action: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        action()
    return [query["sql"] for query in queries]


def call(hit: Hit, operation: str, **parameters: str) -> list[str]:
    """The statements of a call by the HIT's requester."""
    body = json.dumps(parameters).encode()
    headers = {
        "X-Amz-Target": f"MTurkRequesterServiceV20170117.{operation}",
        "Content-Type": "application/x-amz-json-1.1",
    }
    request = AWSRequest("POST", "http://127.0.0.1/", headers=headers, data=body)
    keys = Credentials(hit.requester.access_key, hit.requester.secret_key)
    SigV4Auth(keys, "mturk-requester", "us-east-1").add_auth(request)
    signed = {name: text for name, text in request.headers.items() if name != "Content-Type"}

    def send() -> None:
        answer = Client().post(
            "/", body, content_type=headers["Content-Type"], headers={**signed, "Host": "127.0.0.1"}
        )
        assert answer.status_code == 200, answer.content

    return statements(send)


def test_a_hit_without_requirements_is_accepted_in_ten_statements(hit, worker):
    client = browser(worker)
    token = client.get(hit.hit_type.get_absolute_url()).cookies["marketplace_csrf"].value

    taken = statements(
        lambda: client.post(
            f"/groups/{hit.hit_type.public_id}/accept", {"csrfmiddlewaretoken": token}
        )
    )

    assert worker.assignments.filter(status=AssignmentStatus.ACCEPTED).count() == 1
    assert len(taken) <= 10, taken


def test_the_page_of_an_assignment_takes_four_statements(hit, worker):
    client, found = browser(worker), accepted(worker, hit.hit_type)

    taken = statements(lambda: client.get(found.get_absolute_url()))

    assert len(taken) <= 4, taken


@pytest.mark.parametrize("events", [0, 1])
def test_answers_are_submitted_in_seven_statements_and_one_for_the_event(hit, worker, events):
    NotificationSetting.objects.create(
        hit_type=hit.hit_type,
        event_types=[EventType.ASSIGNMENT_SUBMITTED, EventType.HIT_REVIEWABLE],
        is_active=bool(events),
    )
    make_current_hit(hit.hit_type)
    client, found = browser(worker), accepted(worker, hit.hit_type)
    fields = {"assignmentId": found.public_id, "caption": "A dog."}

    taken = statements(lambda: client.post("/mturk/externalSubmit", fields))

    found.refresh_from_db()
    assert found.status == AssignmentStatus.SUBMITTED
    assert Event.objects.count() == events
    assert len(taken) <= 7 + events, taken


def test_assignments_are_listed_in_three_statements_however_many(hit, worker):
    for _ in range(5):
        submitted(make_worker(), hit.hit_type)
    done = Hit.objects.exclude(unreviewed=0).first()

    taken = call(done, "ListAssignmentsForHIT", HITId=done.public_id)

    assert len(taken) <= 3, taken


def test_an_assignment_is_approved_in_ten_statements(hit, worker):
    found = Assignment.objects.get(worker=worker)

    taken = call(hit, "ApproveAssignment", AssignmentId=found.public_id)

    found.refresh_from_db()
    assert found.status == AssignmentStatus.APPROVED
    assert len(taken) <= 10, taken


def test_a_hit_is_read_in_two_statements(hit):
    taken = call(hit, "GetHIT", HITId=hit.public_id)

    assert len(taken) <= 2, taken
