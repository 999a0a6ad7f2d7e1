"""Caption sets that are made of a release."""

import pytest
from django.db import connection

from annotate.kinds.correspondence.caption_sets import set_of_release
from annotate.models import CaptionSet
from qualcontrol.services.releasing import release_campaign
from tests.factories import NOON, CampaignFactory, CaptionSetFactory, ResponseFactory, TaskFactory
from tests.races import while_open
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_a_name_that_an_import_takes_meanwhile_gets_a_number():
    campaign = CampaignFactory(config={"references": 1, "baselines": 0})
    ResponseFactory(task=TaskFactory(campaign=campaign))
    release_campaign(campaign=campaign, name="first", seed=1, at=NOON)

    made = while_open(
        lambda: CaptionSetFactory(name="first"),
        lambda: set_of_release(name="first", team=campaign.team, at=NOON),
    )

    assert made.name == "first-2"


def test_those_who_use_a_release_at_once_share_one_set():
    campaign = CampaignFactory(config={"references": 200, "baselines": 0})
    task = TaskFactory(campaign=campaign)
    for number in range(200):
        ResponseFactory(task=task, text=f"Dog number {number} runs.")
    release_campaign(campaign=campaign, name="first", seed=1, at=NOON)

    sets = at_once(lambda _: set_of_release(name="first", team=campaign.team, at=NOON), range(4))

    assert set(sets) == {CaptionSet.objects.get()}
