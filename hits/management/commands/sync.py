import time

from django.db.models import QuerySet
from django.utils import timezone

from annotate.errors import DomainError
from annotate.management.base import DomainCommand, campaign_named
from annotate.models import Campaign
from hits.events import is_listing_due, take_events
from hits.reconciler import reconcile
from hits.tasks import MOVING

WISHES_EVERY = 1.0


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
            "--watch",
            type=float,
            metavar="SECONDS",
            help="do it again every so many seconds, and at once where a page asks for it",
        )

    def handle(self, *, campaigns: list[str], watch: float | None, **options):
        for name in campaigns:
            campaign_named(name)
        failed = self._sync_all(campaigns, is_first=True)
        while watch:
            self._grant_wishes(campaigns, until=time.monotonic() + watch)
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
        failed = []
        for campaign in _chosen(names):
            is_whole = lists_all or is_listing_due(campaign, at=now)
            failed += self._sync(campaign, is_whole=is_whole)
        return failed

    def _grant_wishes(self, names: list[str], *, until: float) -> None:
        """Wait, and reconcile meanwhile whatever a page asks for."""
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(WISHES_EVERY, left))
            for campaign in _chosen(names).filter(sync_wish__isnull=False, sync_wish__sync=None):
                self._sync(campaign, is_whole=True)

    def _sync(self, campaign: Campaign, *, is_whole: bool) -> list[str]:
        """Reconcile one campaign; what stopped it, if anything."""
        try:
            done = reconcile(campaign, is_whole=is_whole)
        except DomainError as error:
            self.stderr.write(f"{campaign}: {error}")
            return [f"{campaign}: {error}"]
        self.stdout.write(
            f"{campaign}: {done.ingested} submissions read, {done.approved} approved, "
            f"{done.rejected} rejected, {done.hits_created} HITs created, "
            f"{done.hits_retired} retired, in {done.api_calls} calls"
        )
        return []


def _chosen(names: list[str]) -> QuerySet[Campaign]:
    if names:
        return Campaign.objects.filter(slug__in=names)
    return Campaign.objects.filter(status__in=MOVING)
