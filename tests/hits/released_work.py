"""Work of one worker in a campaign that is released."""

from annotate.exports.records import context_of
from annotate.models import Behaviour, CampaignStatus, Release
from hits.models import AssignmentStatus
from tests.factories import NOON, AssignmentFactory, CampaignFactory, HitFactory, ResponseFactory


def released(account, *, name, at=NOON, status=CampaignStatus.FINISHED, **values):
    """A campaign with one paid answer of the worker, and a release."""
    campaign = CampaignFactory(slug=name, status=status)
    hit = HitFactory(campaign=campaign, status="RETIRED", hit_id=name, **values)
    assignment = AssignmentFactory(
        hit=hit,
        account=account,
        status=AssignmentStatus.APPROVED,
        decided_at=NOON,
        unplaced_answer="my name is Ada",
    )
    response = ResponseFactory(
        task__campaign=campaign, worker=account.worker, assignment=assignment
    )
    Behaviour.objects.create(response=response, characters={"typed": 12})
    Release.objects.create(
        name=name, campaign=campaign, seed=0, created_at=at, context=context_of(campaign)
    )
    return campaign
