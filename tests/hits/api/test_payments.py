"""The API's bonuses, held payments and rejections."""

from decimal import Decimal

import pytest

from hits.models import Bonus
from hits.services.bonuses import Wish, plan_bonuses
from qualcontrol.models import HeldCause, HeldPayment
from tests.api import send
from tests.factories import NOON, AssignmentFactory, ResponseFactory

pytestmark = pytest.mark.django_db


def test_a_bonus_is_planned_once_for_each_key(api, campaign, assignment):
    fields = {
        "worker": assignment.account.worker.pseudonym,
        "amount": "0.50",
        "reason": "Thank you for your careful captions.",
    }

    answers = [
        api.post(
            "/api/campaigns/pilot/bonuses/",
            fields,
            content_type="application/json",
            headers={"Idempotency-Key": "one"},
        )
        for _ in range(2)
    ]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert Bonus.objects.get().pk == answers[1].json()["id"]
    (found,) = api.get("/api/campaigns/pilot/bonuses/").json()["results"]
    assert (found["amount"], found["worker"], found["sent_at"]) == (
        "0.50",
        fields["worker"],
        None,
    )


def test_a_bonus_equal_to_one_of_a_file_is_refused(api, campaign, assignment):
    worker = assignment.account.worker.pseudonym
    wish = Wish(worker, Decimal("0.50"), "Thanks.")
    plan_bonuses(campaign=campaign, wishes=[wish], key="file", at=NOON)

    answer = send(
        api, "/api/campaigns/pilot/bonuses/", worker=worker, amount="0.50", reason="Thanks."
    )

    assert answer.status_code == 409
    assert "give another reason" in answer.json()["detail"]
    assert Bonus.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"amount": "0"}, 400),
        ({"amount": "0.001"}, 400),
        ({"amount": "-1"}, 400),
        ({"reason": " "}, 400),
        ({"amount": "49.99"}, 409),
        ({"worker": "W-00000000"}, 404),
    ],
)
def test_a_bonus_that_is_not_possible_is_refused(api, campaign, assignment, fields, status):
    worker = assignment.account.worker.pseudonym
    whole = {"worker": worker, "amount": "0.50", "reason": "Thanks.", **fields}

    assert send(api, "/api/campaigns/pilot/bonuses/", **whole).status_code == status
    assert not Bonus.objects.exists()


def test_a_worker_without_an_assignment_gets_no_bonus(api, campaign):
    worker = ResponseFactory(task__campaign=campaign).worker.pseudonym

    answer = send(
        api, "/api/campaigns/pilot/bonuses/", worker=worker, amount="0.50", reason="Thanks."
    )

    assert answer.json()["code"] == "bonus_not_possible"


def test_a_worker_who_only_did_a_paid_practice_gets_a_bonus(api, campaign, assignment):
    practised = AssignmentFactory(hit=assignment.hit, practice="11")
    worker = practised.account.worker.pseudonym

    answer = send(
        api, "/api/campaigns/pilot/bonuses/", worker=worker, amount="0.50", reason="Thanks."
    )

    assert answer.status_code == 201
    assert Bonus.objects.get().assignment == practised


@pytest.fixture
def held(campaign, submitted):
    return HeldPayment.objects.create(
        campaign=campaign,
        worker=submitted.account.worker,
        submission=submitted.submission,
        cause=HeldCause.NO_TASK,
        why="It fits no task.",
        held_at=NOON,
    )


@pytest.mark.parametrize(("act", "outcome"), [("payment", "PAY"), ("rejection", "REJECT")])
def test_a_held_payment_is_decided_once(api, held, act, outcome):
    address = f"/api/campaigns/pilot/held-payments/{held.pk}/{act}/"
    waiting = api.get("/api/campaigns/pilot/held-payments/?open=true").json()["results"]

    decided = send(api, address, reason="Looked at by hand.")
    again = send(api, address, reason="Looked at by hand.")

    assert [row["id"] for row in waiting] == [held.pk]
    assert waiting[0]["worker"] == held.worker.pseudonym
    assert held.submission.assignment.account.marketplace_id not in str(waiting)
    assert (decided.status_code, decided.json()["outcome"]) == (200, outcome)
    assert again.status_code == 409
    assert api.get("/api/campaigns/pilot/held-payments/?open=true").json()["results"] == []


def test_the_assignment_of_a_discarded_response_is_rejected(api, campaign, submitted):
    response = ResponseFactory(
        task__campaign=campaign, worker=submitted.account.worker, assignment=submitted
    )
    address = f"/api/campaigns/pilot/responses/{response.pk}/rejection/"

    refused = send(api, address, reason="A list of keywords.")
    response.status, response.discarded_at = "DISCARDED", NOON
    response.save()
    done = send(api, address, reason="A list of keywords.")

    assert (refused.status_code, done.status_code) == (409, 202)
    assert campaign.decisions.get(act="REJECT").reason == "A list of keywords."
