"""What the steps of one reconciliation share."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from annotate.models import Campaign
from hits.client import Marketplace
from hits.models import Sync

NOTED_EVERY = timedelta(seconds=2)


@dataclass
class Run:
    """One reconciliation of one campaign: whom it talks to, since when, and what it did so far.

    `named` are the HITs that events named, and the only ones to read where `sync.is_whole` is
    false."""

    campaign: Campaign
    marketplace: Marketplace
    at: datetime
    sync: Sync
    named: frozenset[str] = frozenset()

    def note_progress(self) -> None:
        """Keep what was done so far, so that pages can show how far this is and that somebody is
        at it; every few seconds, however often it is called."""
        now = timezone.now()
        if now - (self.sync.seen_at or self.at) >= NOTED_EVERY:
            self.sync.seen_at = now
            self.sync.save()
