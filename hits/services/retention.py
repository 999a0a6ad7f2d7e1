"""Delete rows whose retention period is over. RULES lists all such rows.

To give rows a retention period, write a function that takes `at`, deletes old rows with
`shared.database.transactions.delete_in_batches` and returns their number. Add it to RULES and to
the table in docs/personal-data.md. `manage.py tidy` and the clock run the rules.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import Error
from django.db.models import Q

from accounts.services.api_tokens import delete_old_tokens
from accounts.services.idempotency import delete_old_keys
from annotate.models import Campaign, CampaignStatus
from annotate.services.uploads import delete_old_uploads
from background.jobs.requests import delete_old_archives, delete_old_failures, delete_old_jobs
from background.models import Notice, about_any
from background.notices.registry import notice_kinds
from corpora.errors import DomainError, one_line
from hits.services.hit_pages import delete_expired_pages
from hits.services.syncs import delete_old_messages, delete_old_syncs
from hits.services.worker_data import delete_old_behaviour, delete_old_worker_ids
from shared.database.connections import drop_lost_connections
from shared.database.transactions import delete_in_batches

log = logging.getLogger(__name__)

NOTICES_ARE_KEPT = timedelta(days=365)


@dataclass(frozen=True)
class Outcome:
    """The number of rows that a rule deleted, or the error that stopped it."""

    what: str
    deleted: int = 0
    error: str = ""


def delete_expired_sessions(*, at: datetime) -> int:
    """Delete the sessions that have expired at `at`; return their number."""
    return delete_in_batches(Session.objects.filter(expire_date__lt=at))


def delete_old_attempts(*, at: datetime) -> int:
    """Delete failed sign-ins that no longer count towards a lock; return their number."""
    old = AccessAttempt.objects.filter(attempt_time__lt=at - settings.AXES_COOLOFF_TIME)
    return delete_in_batches(old)


def delete_old_notices(*, at: datetime) -> int:
    """Delete notices that are over or single events, and older than NOTICES_ARE_KEPT; return their
    number. Those of states that last are kept, so that they are not told again."""
    states = [kind.name for kind in notice_kinds().values() if kind.is_state]
    of_finished = about_any(Campaign.objects.filter(status=CampaignStatus.FINISHED))
    ended = Q(over_at__isnull=False) | ~Q(kind__in=states) | of_finished
    old = Notice.objects.filter(ended, noticed_at__lt=at - NOTICES_ARE_KEPT)
    return delete_in_batches(old)


# The rows to delete, as logs and commands name them, and the function that deletes them.
RULES: dict[str, Callable[..., int]] = {
    "expired sessions": delete_expired_sessions,
    "API tokens": delete_old_tokens,
    "idempotency keys": delete_old_keys,
    "old counts of wrong passwords": delete_old_attempts,
    "archives of exports": delete_old_archives,
    "uploads that were not imported": delete_old_uploads,
    "jobs": delete_old_jobs,
    "failures that are over": delete_old_failures,
    "notices": delete_old_notices,
    "expired task pages": delete_expired_pages,
    "records of syncs": delete_old_syncs,
    "queue messages": delete_old_messages,
    "behaviour counts and unplaced answers of released campaigns": delete_old_behaviour,
    "worker ids of released campaigns": delete_old_worker_ids,
}


def tidy(*, at: datetime) -> Iterator[Outcome]:
    """Apply each rule and yield its outcome. A rule that fails does not stop the others."""
    for rule, delete in RULES.items():
        try:
            deleted = delete(at=at)
        except (DomainError, Error, OSError) as error:
            # The next rule gets a new connection if this one was lost.
            drop_lost_connections()
            log.warning("Could not delete %s: %s", rule, one_line(error))
            yield Outcome(rule, error=one_line(error))
        else:
            if deleted:
                log.info("Deleted %d %s.", deleted, rule)
            yield Outcome(rule, deleted)
