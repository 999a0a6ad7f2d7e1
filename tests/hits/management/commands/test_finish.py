"""`finish` without a marketplace."""

import pytest
from django.core.management import CommandError, call_command

from annotate.models import CampaignStatus
from tests.factories import CampaignFactory

pytestmark = pytest.mark.django_db


def test_finishing_without_keys_finishes_and_says_what_is_left_to_do(monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    campaign = CampaignFactory(slug="pilot", status=CampaignStatus.RUNNING)

    with pytest.raises(CommandError) as failure:
        call_command("finish", "pilot")

    campaign.refresh_from_db()
    assert campaign.status == CampaignStatus.FINISHED
    message = str(failure.value)
    assert message.startswith("pilot is finished, but the sync failed.")
    assert "submitted work is not imported or paid" in message
    assert "run `sync pilot`" in message
    assert "Unable to locate credentials" in message
