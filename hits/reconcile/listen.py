"""Listen: have the marketplace tell what happens to the campaign's HITs, where there is a queue.

Events make a campaign quick, not right: where the marketplace will not send them, the reconciler
goes on to list every HIT each time.
"""

import logging

from django.conf import settings

from hits.models import HitType
from hits.mturk.client import MarketplaceError
from hits.reconcile.run import Run

log = logging.getLogger(__name__)

# What changes a HIT's counts, or brings something to read.
EVENT_TYPES = [
    "AssignmentSubmitted",
    "AssignmentReturned",
    "AssignmentAbandoned",
    "AssignmentApproved",
    "AssignmentRejected",
    "HITReviewable",
    "HITExpired",
]
# AWS's documentation and its live messages name this one.
VERSION = "2014-08-15"


def listen(run: Run) -> None:
    """Ask for the events of each HIT type that does not send them to the present queue; where
    there is no queue any more, ask for their end."""
    queue_url = settings.MTURK_NOTIFICATION_QUEUE_URL
    for hit_type in run.campaign.hit_types.exclude(queue_url=queue_url):
        try:
            _tell(run, hit_type, queue_url)
        except MarketplaceError as error:
            log.warning("No events for %s; all HITs are listed instead: %s", run.campaign, error)
            continue
        HitType.objects.filter(pk=hit_type.pk).update(queue_url=queue_url)


def _tell(run: Run, hit_type: HitType, queue_url: str) -> None:
    if not queue_url:
        run.marketplace.stop_events(hit_type.hit_type_id)
        return
    run.marketplace.send_events(
        hit_type_id=hit_type.hit_type_id,
        queue_url=queue_url,
        event_types=EVENT_TYPES,
        version=VERSION,
    )
