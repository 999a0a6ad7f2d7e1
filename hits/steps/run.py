"""What the steps of one reconciliation share."""

from dataclasses import dataclass
from datetime import datetime

from annotate.models import Campaign
from hits.client import Marketplace
from hits.models import Sync


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
