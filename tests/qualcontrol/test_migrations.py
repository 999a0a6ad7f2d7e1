"""Migrations keep the rows of earlier versions."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotate.models import Response
from qualcontrol.models import Gold, Judgement, SpotCheck, WorkerRisk
from qualcontrol.services import seed_gold
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)

BEFORE_JUDGEMENTS = [("qualcontrol", "0003_flags")]
BEFORE_WORKER_RISKS = [("qualcontrol", "0011_held_payments")]
BEFORE_KEYS = [("qualcontrol", "0007_intervals_of_shares"), ("annotate", "0003_correspondences")]


@pytest.fixture
def earlier_database():
    """Migrate to an earlier state; migrated back when the test asks for it or ends."""
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()

    def move(targets):
        executor.loader.build_graph()
        executor.migrate(targets)
        return executor.loader.project_state(targets).apps

    yield move, lambda: move(latest)
    move(latest)


@pytest.mark.django_db(transaction=True)
def test_an_earlier_verdict_becomes_its_reviewers_judgement(earlier_database):
    go_back, go_on = earlier_database
    campaign = CampaignFactory(config={"seed": 3, "review": {"share": 0.5}})
    checks = [
        SpotCheckFactory(
            response__task__campaign=campaign, verdict="BAD", reason="vague", judged_at=NOON
        )
        for _ in range(8)
    ]
    reviewer = UserFactory()
    Judgement.objects.bulk_create(
        Judgement(spot_check=check, reviewer=reviewer, verdict="BAD", reason="vague", at=NOON)
        for check in checks
    )

    old = go_back(BEFORE_JUDGEMENTS).get_model("qualcontrol", "SpotCheck").objects.all()
    assert {check.reviewer_id for check in old} == {reviewer.pk}

    go_on()
    judgements = Judgement.objects.values_list("spot_check", "reviewer", "verdict", "reason", "at")
    assert sorted(judgements) == [(check.pk, reviewer.pk, "BAD", "vague", NOON) for check in checks]
    for check in SpotCheck.objects.all():
        assert check.campaign == campaign
        assert check.is_random == (check.draw < 0.5) != check.is_first


@pytest.mark.django_db(transaction=True)
def test_earlier_responses_and_gold_items_each_get_a_key_of_their_own(earlier_database):
    go_back, go_on = earlier_database
    for _ in range(3):
        ResponseFactory()
        seed_gold(
            task=TaskFactory(campaign__kind="caption"),
            text="A purple cow drives a tram.",
            reason="wrong",
            actor=UserFactory(),
            at=NOON,
        )

    go_back(BEFORE_KEYS)
    go_on()

    for model in (Response, Gold):
        keys = list(model.objects.values_list("key", flat=True))
        assert len(set(keys) - {None}) == 3


@pytest.mark.django_db(transaction=True)
def test_an_earlier_standing_becomes_a_worker_risk(earlier_database):
    go_back, go_on = earlier_database
    why = [{"sentence": "Verdicts: 3 bad, 0 good.", "effect": 4.5}]
    values = {"responses": 5, "bad": 3, "risk": 0.9, "expected_value": 1.5, "forgiven": 3}
    risk = WorkerRisk.objects.create(
        campaign=CampaignFactory(), worker=WorkerFactory(), reasons=why, **values
    )

    old = go_back(BEFORE_WORKER_RISKS).get_model("qualcontrol", "Standing").objects.get()
    assert (old.worth, old.because) == (1.5, why)

    go_on()
    found = WorkerRisk.objects.filter(pk=risk.pk, worker=risk.worker, **values).get()
    assert found.reasons == why
