"""The text on the methods of a release."""

import pytest

from annotate.models import Release
from qualcontrol.queries.methods import methods_text
from tests.factories import NOON, CampaignFactory


@pytest.mark.django_db
def test_the_methods_name_the_shares_as_they_were_set():
    campaign = CampaignFactory(
        config={"review": {"share": 0.0025, "certainty": 0.995, "limit": 0.025}}
    )

    text = methods_text(Release(name="r1", created_at=NOON), [campaign])

    assert "a random 0.25% of the answers" in text
    assert "with a probability of 99.5%, above 2.5% bad answers" in text
