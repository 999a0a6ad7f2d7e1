"""A researcher's draft, and a campaign."""

import pytest

from annotate.services.drafts import begin_draft
from tests.factories import NOON, CampaignFactory


@pytest.fixture
def draft(user):
    return begin_draft(owner=user, file={}, at=NOON)


@pytest.fixture
def campaign():
    return CampaignFactory(slug="pilot")
