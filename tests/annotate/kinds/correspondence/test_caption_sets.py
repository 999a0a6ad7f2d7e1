"""Caption sets that are made of a release."""

import pytest

from annotate.kinds.correspondence.caption_sets import set_of_release
from annotate.models import CaptionSet
from qualcontrol.services.releasing import release_campaign
from tests.factories import NOON, CampaignFactory, ResponseFactory, TaskFactory
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_those_who_use_a_release_at_once_share_one_set():
    campaign = CampaignFactory(config={"references": 200, "baselines": 0})
    task = TaskFactory(campaign=campaign)
    for number in range(200):
        ResponseFactory(task=task, text=f"Dog number {number} runs.")
    release_campaign(campaign=campaign, name="first", seed=1, at=NOON)

    sets = at_once(lambda _: set_of_release(name="first", team=campaign.team, at=NOON), range(4))

    assert set(sets) == {CaptionSet.objects.get()}
