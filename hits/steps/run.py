"""What the steps of one reconciliation share."""

from dataclasses import dataclass
from datetime import datetime

from annotate.models import Campaign
from hits.client import Marketplace
from hits.models import Sync


@dataclass
class Run:
    """One reconciliation of one campaign: whom it talks to, since when, and what it did so far."""

    campaign: Campaign
    marketplace: Marketplace
    at: datetime
    sync: Sync
