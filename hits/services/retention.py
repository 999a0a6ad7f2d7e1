"""Delete rows whose retention period is over. RULES lists all such rows.

To give rows a retention period, write a function that takes `at`, deletes old rows with
`shared.database.deletion.delete_in_batches` and returns their number. Add it to RULES and to the
table in docs/operator.md. `manage.py tidy` and the clock run the rules.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import Error
from django.db.models import Q

from accounts.services.api_tokens import delete_old_tokens
from accounts.services.idempotency import delete_old_keys
from annotate.models import Campaign, CampaignStatus
from background.models import Notice
from background.models.about import about_any
from background.retention import delete_old_archives, delete_old_failures, delete_old_jobs
from corpora.errors import DomainError, one_line
from hits.services.closed_pages import delete_expired_pages
from hits.services.syncs import delete_old_messages, delete_old_syncs
from hits.services.worker_data import delete_old_behaviour, delete_old_worker_ids
from shared.database.connections import drop_lost_connections
from shared.database.deletion import delete_in_batches

log = logging.getLogger(__name__)

NOTICES_ARE_KEPT = timedelta(days=365)


class Delete(Protocol):
    def __call__(self, *, at: datetime) -> int: ...


@dataclass(frozen=True)
class Rule:
    """The rows to delete, as logs and commands name them, and the function that deletes them."""

    what: str
    delete: Delete


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
    ended = Q(over_at__isnull=False) | about_any(
        Campaign.objects.filter(status=CampaignStatus.FINISHED)
    )
    old = Notice.objects.filter(ended, noticed_at__lt=at - NOTICES_ARE_KEPT)
    return delete_in_batches(old)


RULES: tuple[Rule, ...] = (
    Rule("expired sessions", delete_expired_sessions),
    Rule("API tokens", delete_old_tokens),
    Rule("idempotency keys", delete_old_keys),
    Rule("old counts of wrong passwords", delete_old_attempts),
    Rule("archives of exports", delete_old_archives),
    Rule("jobs", delete_old_jobs),
    Rule("failures that are over", delete_old_failures),
    Rule("notices", delete_old_notices),
    Rule("expired task pages", delete_expired_pages),
    Rule("records of syncs", delete_old_syncs),
    Rule("queue messages", delete_old_messages),
    Rule("behaviour counts and unplaced answers of released campaigns", delete_old_behaviour),
    Rule("worker ids of released campaigns", delete_old_worker_ids),
)


def tidy(*, at: datetime, rules: Sequence[Rule] = RULES) -> Iterator[Outcome]:
    """Apply each rule and yield its outcome. A rule that fails does not stop the others."""
    for rule in rules:
        yield _applied(rule, at)


def _applied(rule: Rule, at: datetime) -> Outcome:
    try:
        deleted = rule.delete(at=at)
    except (DomainError, Error) as error:
        # The next rule gets a new connection if this one was lost.
        drop_lost_connections()
        problem = one_line(error)
        log.warning("Could not delete %s: %s", rule.what, problem)
        return Outcome(rule.what, error=problem)
    if deleted:
        log.info("Deleted %d %s.", deleted, rule.what)
    return Outcome(rule.what, deleted)
