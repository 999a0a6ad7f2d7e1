"""The API's workers: their numbers, exclusions, pauses and messages."""

import pytest

from hits.models import Bonus, WorkerMessage
from qualcontrol.models import (
    Act,
    Decision,
    Exclusion,
)
from tests.api import send
from tests.factories import (
    NOON,
    ResponseFactory,
)

pytestmark = pytest.mark.django_db


def test_a_worker_has_verdicts_risk_and_pay(api, campaign, assignment):
    worker = assignment.account.worker
    Bonus.objects.create(
        assignment=assignment,
        token="t",
        amount="0.50",
        fee="0.10",
        reason="thanks",
        planned_at=NOON,
        sent_at=NOON,
    )

    (found,) = api.get("/api/campaigns/pilot/workers/").json()["results"]
    one = api.get(f"/api/campaigns/pilot/workers/{worker.pseudonym}/").json()

    assert found["pseudonym"] == worker.pseudonym
    assert found["pay"] == {"rewards": "0.10", "bonuses": "0.50", "assignments": 1}
    assert {**found, "reasons": []} == one


def test_a_worker_is_excluded_and_reinstated(api, campaign, assignment):
    address = f"/api/campaigns/pilot/workers/{assignment.account.worker.pseudonym}/"

    preview = api.get(f"{address}exclusion/").json()
    excluded = send(api, f"{address}exclusion/", reason="copies")
    state = api.get(address).json()["state"]
    reinstated = send(api, f"{address}reinstatement/", reason="a mistake")

    assert (preview["responses"], preview["cost"]) == (1, "0.12")
    assert (excluded.json(), state) == ({"discarded": 1}, "excluded")
    assert reinstated.json() == {"restored": 1}
    assert not Exclusion.objects.in_force().exists()
    assert Decision.objects.filter(act=Act.EXCLUDE, actor__isnull=False).count() == 1


def test_an_exclusion_needs_a_reason_and_happens_once(api, campaign, assignment):
    address = f"/api/campaigns/pilot/workers/{assignment.account.worker.pseudonym}/exclusion/"
    refused = send(api, address, reason="")
    send(api, address, reason="copies")

    assert refused.status_code == 400
    assert send(api, address, reason="copies").json()["code"] == "already_excluded"


def test_a_worker_is_paused_and_resumed(api, campaign, assignment):
    address = f"/api/campaigns/pilot/workers/{assignment.account.worker.pseudonym}/"

    assert send(api, f"{address}pause/", reason="many flags").json()["state"] == "paused"
    assert send(api, f"{address}resume/", reason="explained").json()["state"] == "active"
    assert send(api, f"{address}dismissal/", reason="fine").json()["code"] == "nothing_proposed"


@pytest.mark.parametrize(
    ("act", "code"), [("resume", "not_paused"), ("reinstatement", "not_excluded")]
)
def test_a_state_that_does_not_hold_is_named(api, campaign, assignment, act, code):
    address = f"/api/campaigns/pilot/workers/{assignment.account.worker.pseudonym}/{act}/"

    assert send(api, address, reason="a mistake").json()["code"] == code


def test_a_worker_of_another_campaign_is_not_found(api, campaign):
    stranger = ResponseFactory().worker

    assert api.get(f"/api/campaigns/pilot/workers/{stranger.pseudonym}/").status_code == 404


ONCE = {"Idempotency-Key": "once"}


def test_a_message_is_stored_once(api, campaign, submitted):
    name = submitted.account.worker.pseudonym
    fields = {"workers": [name], "subject": "Thanks", "text": "A new batch is open."}
    address = "/api/campaigns/pilot/messages/"

    first = api.post(address, fields, content_type="application/json", headers=ONCE)
    again = api.post(address, fields, content_type="application/json", headers=ONCE)
    unknown = send(api, address, **{**fields, "workers": ["W-00000000"]})

    assert (first.status_code, first.json()["recipients"]) == (201, 1)
    assert again["Idempotent-Replayed"] == "true"
    assert unknown.status_code == 409
    assert WorkerMessage.objects.count() == 1
