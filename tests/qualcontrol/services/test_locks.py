"""A decision about a worker waits for another one, and counts on its outcome."""

import pytest
from django.db import connection

from qualcontrol.services.errors import AlreadyExcluded, AlreadyPaused
from tests.factories import CampaignFactory, WorkerFactory
from tests.qualcontrol.work import exclude, pause, propose
from tests.races import while_open

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one"),
]


@pytest.mark.parametrize(
    ("first", "second", "refusal"),
    [
        (pause, pause, AlreadyPaused),
        (exclude, pause, AlreadyExcluded),
        (exclude, propose, AlreadyExcluded),
        (exclude, exclude, AlreadyExcluded),
    ],
)
def test_the_second_decision_about_a_worker_is_refused(first, second, refusal):
    about = CampaignFactory(), WorkerFactory()

    with pytest.raises(refusal):
        while_open(lambda: first(*about), lambda: second(*about))
