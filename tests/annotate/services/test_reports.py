"""What the report of a release reads from the database."""

import pytest

from annotate.services.reports import read_release
from corpora.report.sections import mentions, per_image, priming
from corpora.report.sections.base import Inputs, NotMeasured
from qualcontrol.services.releasing import release_campaign
from tests.factories import NOON, CampaignFactory, ResponseFactory, TaskFactory

pytestmark = pytest.mark.django_db


def test_photographs_without_boxes_do_not_show_0_classes():
    campaign = CampaignFactory(config={"references": 2, "baselines": 0})
    task = TaskFactory(campaign=campaign, number=1, shows_keywords=None)
    for primed in (True, False):
        ResponseFactory(task=task, primed=primed)
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)

    inputs = Inputs(read_release(release))

    assert per_image.measure(inputs)["absent"].keys() == {"classes.dataset", "boxes.dataset"}
    assert priming.measure(inputs)["absent"] == {"keywords": "v1 has no boxes."}
    with pytest.raises(NotMeasured, match=r"^v1 has no boxes\.$"):
        mentions.measure(inputs)
