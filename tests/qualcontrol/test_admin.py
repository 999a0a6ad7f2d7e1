"""The admin shows quality control's rows without allowing changes."""

import pytest
from django.urls import reverse

from qualcontrol.models import Decision
from qualcontrol.review.judging import judge, reject_response
from qualcontrol.services.exclusions import exclude_worker, pause_worker, record_appeal
from tests.factories import NOON, ResponseFactory, SpotCheckFactory

pytestmark = pytest.mark.django_db

MODELS = ["spotcheck", "judgement", "workerrisk", "exclusion", "pause", "appeal", "decision"]


@pytest.mark.parametrize("model", MODELS)
def test_the_admin_lists_rows_and_adds_none(admin_client, model):
    response = SpotCheckFactory().response
    judge(response=response, verdict="GOOD", reason="", reviewer=None, at=NOON)
    about = {"campaign": response.task.campaign, "worker": response.worker, "actor": None}
    pause_worker(**about, reason="asks", at=NOON)
    exclude_worker(**about, reason="lists", at=NOON)
    record_appeal(**about, text="I wrote them myself.", at=NOON)

    assert admin_client.get(reverse(f"admin:qualcontrol_{model}_changelist")).status_code == 200
    assert admin_client.get(reverse(f"admin:qualcontrol_{model}_add")).status_code == 403


def test_the_admin_cannot_delete_a_decision(admin_client):
    response = ResponseFactory(status="DISCARDED")
    reject_response(response=response, reason="Copied.", actor=None, at=NOON)
    decision = Decision.objects.get()

    answer = admin_client.post(reverse("admin:qualcontrol_decision_delete", args=[decision.pk]))

    assert answer.status_code == 403
    assert Decision.objects.exists()
