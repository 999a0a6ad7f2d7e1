"""The simulated judge of captions of regions."""

import pytest

from simulation.kinds import judge_of
from simulation.kinds.caption import is_poor
from tests.factories import CampaignFactory, ResponseFactory, TaskFactory

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_a_reason_is_judged_by_the_image_and_not_as_an_empty_caption():
    campaign = CampaignFactory(kind="region")
    tasks = [
        TaskFactory(campaign=campaign, number=n, payload={"region": {"name": "Dog"}})
        for n in range(1, 41)
    ]
    reasons = [ResponseFactory(task=task, text="", cannot_describe="too dark") for task in tasks]

    judge = judge_of(campaign)

    assert all((judge(each) == "") == is_poor(each.task.image.url) for each in reasons)
