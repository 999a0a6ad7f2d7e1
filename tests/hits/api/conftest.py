import pytest

from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    HitFactory,
    ResponseFactory,
    WorkerAccountFactory,
)


@pytest.fixture
def campaign():
    return CampaignFactory(slug="pilot", budget="50.00")


@pytest.fixture
def assignment(campaign):
    """An approved assignment of a worker with one response."""
    account = WorkerAccountFactory()
    ResponseFactory(task__campaign=campaign, worker=account.worker)
    hit = HitFactory(hit_type__campaign=campaign, slots=1, available=0)
    return AssignmentFactory(
        hit=hit, account=account, status="APPROVED", submitted_at=NOON, decided_at=NOON
    )


@pytest.fixture
def submitted(campaign):
    """A submitted assignment whose payment is not decided."""
    account = WorkerAccountFactory()
    hit = HitFactory(hit_type__campaign=campaign, slots=1, available=0)
    return AssignmentFactory(hit=hit, account=account, status="SUBMITTED", submitted_at=NOON)
