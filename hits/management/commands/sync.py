import time
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.management.base import DomainCommand
from annotate.kinds import KINDS
from annotate.management.base import campaign_named
from annotate.models import Campaign
from background.jobs.runner import run_waiting
from background.tasks import EXPECTED
from corpora.errors import DomainError, one_line
from corpora.language import english
from corpora.wording import counted
from hits.queries.costs import shortfall, spend
from hits.queries.settled import campaigns_to_sync
from hits.reconcile.events import is_listing_due, take_events
from hits.reconcile.reconciler import SyncBusy, reconcile, result_in_words
from hits.reconcile.run import PAYS_FOR, Done
from hits.reconcile.unknown import close_without_campaigns
from hits.services.syncs import sync_jobs
from shared.database.connections import drop_lost_connections
from shared.metrics import serve_metrics
from shared.number_fields import duration
from shared.repeater import Repeater, log_problem

# Seconds between two looks for publications and syncs that people asked for.
LOOKS_EVERY = 1.0


class Command(DomainCommand):
    help = (
        "Sync campaigns with their marketplace, once or repeatedly. If the marketplace sends "
        "events to a queue (MTURK_NOTIFICATION_QUEUE_URL), repeated syncs read the HITs named in "
        "the events, and list all HITs only every MTURK_LIST_SECONDS. With --watch the command "
        "runs until it gets a signal: it logs errors and tries again."
    )

    # Each sync stops paying after this time, so that the other campaigns are synced too.
    pays_for: timedelta | None = None
    is_watching = False
    # When all campaigns are synced again, by the clock of `time.monotonic`.
    next_at = 0.0

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument(
            "campaigns",
            nargs="*",
            metavar="CAMPAIGN",
            help="names of campaigns (default: all except drafts and settled ones)",
        )
        parser.add_argument(
            "--watch",
            type=duration,
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
            work = partial(self._round, campaigns, watch)
            Repeater("sync", work, every=min(LOOKS_EVERY, watch), known=EXPECTED).run()
        if failed := self._sync_all(campaigns, is_first=True):
            raise DomainError("\n".join(failed))

    def _round(self, names: Sequence[str], seconds: float) -> None:
        """Sync what people asked for, and all campaigns if it is time."""
        if time.monotonic() >= self.next_at:
            self._sync_all(names, is_first=self.next_at == 0)
            self.next_at = time.monotonic() + seconds
        for job in run_waiting(among=sync_jobs(names)):
            self.stdout.write(f"{job}: {job.get_status_display().lower()}")

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
        chosen = Campaign.objects.filter(slug__in=names) if names else campaigns_to_sync()
        for campaign in list(chosen):
            failed += self._sync(campaign, lists_all=lists_all)
        if is_first:
            self._close_unclaimed()
        return failed

    def _close_unclaimed(self) -> None:
        """Close HITs that belong to this database, but to none of its campaigns."""
        try:
            closed = close_without_campaigns()
        except DomainError as error:
            self.stderr.write(f"Unknown HITs at the marketplace were not checked: {error}")
        else:
            if closed:
                self.stdout.write(Done.CLOSED.in_words(closed))

    def _sync(self, campaign: Campaign, *, lists_all: bool) -> list[str]:
        """Sync one campaign and print the result; return a line for each error of the sync."""
        try:
            is_whole = lists_all or is_listing_due(campaign, at=timezone.now())
            result = reconcile(
                campaign, is_whole=is_whole, pays_for=self.pays_for, waits=not self.is_watching
            )
        except SyncBusy as error:
            self.stdout.write(str(error))
            return []
        except DomainError as error:
            self.stderr.write(f"{campaign}: {error}")
            return [f"{campaign}: {error}"]
        except Exception as error:
            log_problem(f"{campaign} was not synced", error, EXPECTED)
            drop_lost_connections()
            return [f"{campaign}: {type(error).__name__}: {one_line(error)}"]
        self.stdout.write(f"{campaign}: {result_in_words(result)}")
        for line in result.notes.splitlines():
            self.stdout.write(f"{campaign}: {line}")
        if short := shortfall(campaign, spend(campaign)):
            answers_name = KINDS[campaign.kind].answers_name
            self.stdout.write(f"{campaign}: {short.in_words(answers_name)}")
        failed = [f"{campaign}: {line}" for line in result.error.splitlines()]
        for line in failed:
            self.stderr.write(line)
        return failed
