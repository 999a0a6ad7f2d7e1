"""The admin shows quality control's rows without allowing changes."""

import pytest
from django.urls import reverse

from qualcontrol import services
from qualcontrol.models import Decision
from tests.factories import NOON, ResponseFactory, SpotCheckFactory

pytestmark = pytest.mark.django_db

MODELS = ["spotcheck", "judgement", "workerrisk", "exclusion", "pause", "appeal", "decision"]


@pytest.mark.parametrize("model", MODELS)
def test_the_admin_lists_rows_and_adds_none(admin_client, model):
    response = SpotCheckFactory().response
    services.judge(response=response, verdict="GOOD", reason="", reviewer=None, at=NOON)
    about = {"campaign": response.task.campaign, "worker": response.worker, "actor": None}
    services.pause_worker(**about, reason="asks", at=NOON)
    services.exclude_worker(**about, reason="lists", at=NOON)
    services.record_appeal(**about, text="I wrote them myself.", at=NOON)

    assert admin_client.get(reverse(f"admin:qualcontrol_{model}_changelist")).status_code == 200
    assert admin_client.get(reverse(f"admin:qualcontrol_{model}_add")).status_code == 403


def test_the_admin_cannot_delete_a_decision(admin_client):
    response = ResponseFactory(status="DISCARDED")
    services.reject_response(response=response, reason="Copied.", actor=None, at=NOON)
    decision = Decision.objects.get()

    answer = admin_client.post(reverse("admin:qualcontrol_decision_delete", args=[decision.pk]))

    assert answer.status_code == 403
    assert Decision.objects.exists()
