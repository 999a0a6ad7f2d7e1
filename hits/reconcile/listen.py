"""Listen: ask the marketplace to send the events of the campaign's HITs to the queue, if any.

Events only make syncs faster. If the marketplace does not send them, each sync lists all HITs.
"""

import logging

from django.conf import settings

from hits.models import HitType
from hits.mturk.client import MarketplaceError
from hits.reconcile.run import Run

log = logging.getLogger(__name__)

# Events that change a HIT's counts or add something to read.
EVENT_TYPES = [
    "AssignmentSubmitted",
    "AssignmentReturned",
    "AssignmentAbandoned",
    "AssignmentApproved",
    "AssignmentRejected",
    "HITReviewable",
    "HITExpired",
]
# The version in AWS's documentation and in its messages.
VERSION = "2014-08-15"


def listen(run: Run) -> None:
    """Ask for the events of each HIT type that does not send them to the configured queue.

    Without a queue, stop the events instead. A failure is logged, and the next sync tries again.
    """
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
