"""The admin shows quality control's rows and changes none."""

import pytest
from django.urls import reverse

from qualcontrol import services
from qualcontrol.models import Decision
from tests.factories import NOON, ResponseFactory, SpotCheckFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("model", ["spotcheck", "exclusion", "decision"])
def test_the_admin_lists_rows_and_adds_none(admin_client, model):
    response = ResponseFactory()
    SpotCheckFactory(response=response)
    services.exclude_worker(
        campaign=response.task.campaign,
        worker=response.worker,
        reason="lists",
        actor=None,
        at=NOON,
    )

    assert admin_client.get(reverse(f"admin:qualcontrol_{model}_changelist")).status_code == 200
    assert admin_client.get(reverse(f"admin:qualcontrol_{model}_add")).status_code == 403


def test_the_admin_cannot_delete_a_decision(admin_client):
    response = ResponseFactory(status="DISCARDED")
    services.reject_response(response=response, reason="Copied.", actor=None, at=NOON)
    decision = Decision.objects.get()

    answer = admin_client.post(reverse("admin:qualcontrol_decision_delete", args=[decision.pk]))

    assert answer.status_code == 403
    assert Decision.objects.exists()
