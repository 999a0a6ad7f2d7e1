"""Delete rows whose retention period is over. RULES lists all kinds of such rows.

To give rows a retention period, write a function that takes `at`, deletes old rows with
`annotate.services.retention.delete_in_batches` and returns their number. Add it to RULES and to the
table in docs/operator.md. `manage.py tidy`, Celery beat and `sync --watch` run the rules once a
day.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.db import Error

from annotate.errors import DomainError, one_line
from annotate.services.api_tokens import delete_old_tokens
from annotate.services.idempotency import delete_old_keys
from annotate.services.retention import (
    delete_expired_sessions,
    delete_old_archives,
    delete_old_attempts,
    delete_old_failures,
    delete_old_jobs,
    delete_old_notices,
)
from annotate.site.connections import drop_lost_connections
from hits.services.closed_pages import delete_expired_pages
from hits.services.syncs import delete_old_messages, delete_old_syncs
from hits.services.worker_data import delete_old_behaviour, delete_old_worker_ids

log = logging.getLogger(__name__)


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
