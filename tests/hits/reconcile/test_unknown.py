"""HITs of this installation that its database does not have."""

import pytest

from hits.mturk.hit_texts import Annotation, campaign_mark, installation_name
from hits.mturk.replies import ListedHit
from hits.reconcile.unknown import Owners
from tests.factories import NOON, CampaignFactory

pytestmark = pytest.mark.django_db


def listed(campaign) -> ListedHit:
    annotation = Annotation(installation_name(), campaign_mark(campaign), "token")
    return ListedHit(
        HITId="H1",
        RequesterAnnotation=str(annotation),
        HITStatus="Assignable",
        Expiration=NOON,
        MaxAssignments=1,
        NumberOfAssignmentsAvailable=1,
        NumberOfAssignmentsPending=0,
        NumberOfAssignmentsCompleted=0,
    )


def test_hits_of_a_campaign_that_is_published_during_a_listing_are_claimed():
    owners, early = Owners(), CampaignFactory(status="RUNNING")
    late = CampaignFactory(status="DRAFT")
    was_early_claimed = not owners.is_unclaimed(listed(early))
    was_draft_claimed = not owners.is_unclaimed(listed(late))

    type(late).objects.filter(pk=late.pk).update(status="RUNNING")

    assert (was_early_claimed, was_draft_claimed) == (True, False)
    assert not owners.is_unclaimed(listed(late))
