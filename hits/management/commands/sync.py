import time

from django.utils import timezone

from annotate.errors import DomainError
from annotate.management.base import DomainCommand, campaign_named
from annotate.models import Campaign
from hits.events import is_listing_due, take_events
from hits.reconciler import reconcile
from hits.tasks import MOVING


class Command(DomainCommand):
    help = (
        "Bring campaigns and their marketplace up to date with each other, once or for ever. "
        "Where the marketplace sends events to a queue (MTURK_NOTIFICATION_QUEUE_URL), repetitions "
        "read what the events name, and list every HIT only now and then."
    )

    def add_arguments(self, parser):
        parser.add_argument(
            "campaigns", nargs="*", metavar="CAMPAIGN", help="slugs (default: all but drafts)"
        )
        parser.add_argument(
            "--watch", type=float, metavar="SECONDS", help="do it again every so many seconds"
        )

    def handle(self, *, campaigns: list[str], watch: float | None, **options):
        for name in campaigns:
            campaign_named(name)
        failed = self._sync_all(campaigns, is_first=True)
        while watch:
            time.sleep(watch)
            self._sync_all(campaigns, is_first=False)
        if failed:
            raise DomainError("\n".join(failed))

    def _sync_all(self, names: list[str], *, is_first: bool) -> list[str]:
        """Take in the events, then reconcile each campaign; what stops one does not stop the
        others."""
        now = timezone.now()
        taken = take_events(at=now)
        if taken.messages:
            self.stdout.write(
                f"{taken.messages} messages in the queue: {taken.ingested} submissions read"
            )
        lists_all = is_first or not taken.complete
        chosen = (
            Campaign.objects.filter(slug__in=names)
            if names
            else Campaign.objects.filter(status__in=MOVING)
        )
        failed = []
        for campaign in chosen:
            try:
                is_whole = lists_all or is_listing_due(campaign, at=now)
                done = reconcile(campaign, is_whole=is_whole)
            except DomainError as error:
                failed.append(f"{campaign}: {error}")
                self.stderr.write(failed[-1])
                continue
            self.stdout.write(
                f"{campaign}: {done.ingested} submissions read, {done.approved} approved, "
                f"{done.rejected} rejected, {done.hits_created} HITs created, "
                f"{done.hits_retired} retired, in {done.api_calls} calls"
            )
        return failed
