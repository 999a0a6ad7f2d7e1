import time
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any, NoReturn

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotate.errors import DomainError, one_line
from annotate.jobs.runner import run_waiting
from annotate.kinds import KINDS
from annotate.language import english
from annotate.management.base import DomainCommand, campaign_named
from annotate.management.retry import Retry, log_problem
from annotate.models import Campaign
from annotate.services.images import CopyMaker
from annotate.site.connections import drop_lost_connections
from annotate.wording import counted
from hits.mturk.client import Marketplace
from hits.mturk.endpoints import endpoint_of
from hits.queries.costs import shortfall, spend
from hits.queries.settled import campaigns_to_sync, published
from hits.reconcile.events import is_listing_due, take_events
from hits.reconcile.reconciler import SyncBusy, reconcile, result_in_words
from hits.reconcile.run import Done
from hits.services import retention
from hits.services.syncs import sync_jobs
from hits.services.unclaimed import close_unclaimed
from hits.tasks import PAYS_FOR
from shared.monitoring.metrics import serve_metrics

WISHES_EVERY = 1.0
TIDY_EVERY = 24 * 3600.0


class Command(DomainCommand):
    help = (
        "Sync campaigns with their marketplace, once or repeatedly. If the marketplace sends "
        "events to a queue (MTURK_NOTIFICATION_QUEUE_URL), repeated syncs read the HITs named in "
        "the events, and list all HITs only every MTURK_POLL_SECONDS. With --watch the command "
        "runs until it gets a signal: it logs errors and tries again. Once a day it deletes old "
        "rows, as `tidy` does."
    )

    # Each sync stops paying after this time, so that the other campaigns are synced too.
    pays_for: timedelta | None = None
    is_watching = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.copies = CopyMaker()

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument(
            "campaigns",
            nargs="*",
            metavar="CAMPAIGN",
            help="names of campaigns (default: all except drafts and settled ones)",
        )
        parser.add_argument(
            "--watch",
            type=float,
            metavar="SECONDS",
            help="sync every SECONDS, and at once when a page requests it",
        )

    def handle(self, *, campaigns: list[str], watch: float | None, **_: Any) -> None:
        for name in campaigns:
            campaign_named(name)
        if watch:
            self.pays_for, self.is_watching = PAYS_FOR, True
            serve_metrics(settings.METRICS_ADDRESS)
            english.load()
            self._watch(campaigns, seconds=watch)
        if failed := self._sync_all(campaigns, is_first=True):
            raise DomainError("\n".join(failed))

    def _watch(self, names: Sequence[str], *, seconds: float) -> NoReturn:
        retry = Retry()
        is_first, tidy_at = True, time.monotonic()
        while True:
            if retry.attempt(partial(self._sync_all, names, is_first=is_first)):
                is_first = False
                if time.monotonic() >= tidy_at:
                    tidy_at = time.monotonic() + TIDY_EVERY
                    retry.attempt(_tidy)
                self._answer_requests(names, until=time.monotonic() + seconds, retry=retry)

    def _sync_all(self, names: Sequence[str], *, is_first: bool) -> list[str]:
        """Read the events, then sync each campaign; return a line for each error.

        If a campaign fails, the others are still synced.
        """
        now = timezone.now()
        taken = take_events(at=now)
        if taken.messages:
            self.stdout.write(
                f"{counted(taken.messages, 'queue message')} read, "
                f"{counted(taken.ingested, 'submission')} imported"
            )
        lists_all = is_first or not taken.complete
        failed = []
        campaigns = list(_chosen(names))
        for campaign in campaigns:
            failed += self._sync(campaign, lists_all=lists_all)
        if is_first and not published().exists():
            self._close_unclaimed()
        return failed

    def _close_unclaimed(self) -> None:
        """Close HITs that belong to this database, but to none of its campaigns.

        Such HITs exist after an early backup was restored. Usually the sync of any campaign closes
        them, but here there is no campaign to sync.
        """
        try:
            closed = close_unclaimed(Marketplace(endpoint_of(settings.MTURK_ENDPOINT)))
        except DomainError as error:
            self.stderr.write(f"Unknown HITs at the marketplace were not checked: {error}")
        else:
            if closed:
                self.stdout.write(Done.CLOSED.in_words(closed))

    def _answer_requests(self, names: Sequence[str], *, until: float, retry: Retry) -> None:
        """Until the given time, run requested syncs, and make copies of images."""
        while (left := until - time.monotonic()) > 0:
            retry.attempt(partial(self.copies.work, seconds=WISHES_EVERY / 2))
            time.sleep(min(WISHES_EVERY, left))
            retry.attempt(partial(self._sync_requested, names))

    def _sync_requested(self, names: Sequence[str]) -> None:
        for job in run_waiting(among=sync_jobs(names)):
            self.stdout.write(f"{job}: {job.get_status_display().lower()}")

    def _sync(self, campaign: Campaign, *, lists_all: bool) -> list[str]:
        """Sync one campaign and print the result; return a line for each error of the sync."""
        try:
            is_whole = lists_all or is_listing_due(campaign, at=timezone.now())
            done = reconcile(
                campaign, is_whole=is_whole, pays_for=self.pays_for, waits=not self.is_watching
            )
        except SyncBusy as error:
            self.stdout.write(str(error))
            return []
        except DomainError as error:
            self.stderr.write(f"{campaign}: {error}")
            return [f"{campaign}: {error}"]
        except Exception as error:
            log_problem(f"{campaign} was not synced", error)
            drop_lost_connections()
            return [f"{campaign}: {type(error).__name__}: {one_line(error)}"]
        self.stdout.write(f"{campaign}: {result_in_words(done)}")
        for line in done.notes.splitlines():
            self.stdout.write(f"{campaign}: {line}")
        if short := shortfall(campaign, spend(campaign)):
            answers_name = KINDS[campaign.kind].answers_name
            self.stdout.write(f"{campaign}: {short.in_words(answers_name)}")
        failed = [f"{campaign}: {line}" for line in done.error.splitlines()]
        for line in failed:
            self.stderr.write(line)
        return failed


def _tidy() -> None:
    for _ in retention.tidy(at=timezone.now()):
        pass


def _chosen(names: Sequence[str]) -> QuerySet[Campaign]:
    if names:
        return Campaign.objects.filter(slug__in=names)
    return campaigns_to_sync()
