"""The file with all stored data of a worker, which they may ask for."""

import json
from datetime import timedelta

import pytest
from django.apps import apps

from annotate.models import Worker
from hits.models import WorkerAccount, WorkerBarring
from hits.queries.worker_data import data_of
from qualcontrol.models import Pause, Proposal
from tests.factories import (
    NOON,
    HitTypeFactory,
    LinkResponseFactory,
    ResponseFactory,
    SpotCheckFactory,
    WorkerAccountFactory,
    WorkerFactory,
)
from tests.hits.released_work import released

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(days=366)


def test_the_export_has_the_answers_of_every_task_type():
    worker = WorkerFactory()
    ResponseFactory(worker=worker, text="A dog runs.")
    LinkResponseFactory(worker=worker, words={"0": "not-visual"})

    answers = data_of(worker)["answers"]

    assert [answer["content"] for answer in answers] == ["A dog runs.", {"0": "not-visual"}]
    assert len({answer["campaign"] for answer in answers}) == 2


def test_the_file_has_everything_about_the_worker_and_nothing_of_others():
    account = WorkerAccountFactory(marketplace_id="AONE")
    released(account, name="pilot")
    released(WorkerAccountFactory(marketplace_id="ATWO"), name="second")

    data = data_of(account.worker)

    assert data["account"]["worker_id"] == "AONE"
    assert [answer["campaign"] for answer in data["answers"]] == ["pilot"]
    assert data["answers"][0]["behaviour"]["characters"] == {"typed": 12}
    assert data["assignments"][0]["status"] == "approved"
    assert "ATWO" not in json.dumps(data)


def test_the_file_has_what_was_decided_about_the_worker():
    account = WorkerAccountFactory()
    campaign = released(account, name="pilot")
    about = {"campaign": campaign, "worker": account.worker, "reason": "too fast"}
    Pause.objects.create(**about, paused_at=NOON, lifted_at=LATER)
    Proposal.objects.create(**about, proposed_at=NOON)
    WorkerBarring.objects.create(
        hit_type=HitTypeFactory(campaign=campaign, hit_type_id="T1"),
        account=account,
        is_wanted=True,
    )
    SpotCheckFactory(
        response=account.worker.responses.get(), verdict="BAD", reason="no dog", judged_at=NOON
    )

    data = json.loads(json.dumps(data_of(account.worker)))

    stretch = {"campaign": "pilot", "reason": "too fast", "from": NOON.isoformat()}
    assert data["pauses"] == [stretch | {"until": LATER.isoformat()}]
    assert data["proposed_exclusions"] == [stretch | {"until": None}]
    assert data["hidden_hits"] == [
        {"campaign": "pilot", "hit_type_id": "T1", "are_hidden": False, "to_be_hidden": True}
    ]
    verdict = {"is": "BAD", "reason": "no dog", "at": NOON.isoformat()}
    assert data["answers"][0]["verdict"] == verdict


def test_each_table_that_names_a_worker_is_known_to_the_file():
    naming = {
        model.__name__
        for model in apps.get_models()
        for field in model._meta.fields
        if field.related_model in (Worker, WorkerAccount)
    }

    here = {"WorkerAccount", "Response", "Assignment", "MessageRecipient", "WorkerBarring"}
    decided = {"Decision", "Exclusion", "Pause", "Proposal", "HeldPayment", "WorkerRisk"}
    # The flags are with the answers; a change only asks for another count.
    assert naming == here | decided | {"Assessment", "WorkerRiskChange"}
