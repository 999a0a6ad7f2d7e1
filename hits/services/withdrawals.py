"""Withdraw the responses of assignments that a file, or the marketplace, lists as withdrawn."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.db.models import QuerySet

from annotate.models import Response
from annotate.queries.releases import releases_with
from corpora.reading.entries import open_entries
from corpora.reading.files import MalformedFile
from hits.models import Assignment, TaskPage, WorkerAccount
from hits.services.accounts import ERASED, stored_ids
from qualcontrol.services.withdrawals import withdraw_responses

COLUMNS = ("worker_id", "assignment_id")


@dataclass
class WithdrawalReport:
    """What an import changed: numbers of responses, and of withdrawn responses by release.

    `waiting` counts assignments that were answered here and that no sync has read yet, `unknown`
    others that this site does not have.
    """

    withdrawn: int = 0
    known_before: int = 0
    waiting: int = 0
    unknown: int = 0
    campaigns: set[str] = field(default_factory=set)
    releases: dict[str, int] = field(default_factory=dict)


def import_withdrawals(*, path: Path, name: str, at: datetime) -> WithdrawalReport:
    """Withdraw the responses of the assignments that a file lists by worker and assignment id.

    The file is read to its end first. Importing it again changes nothing. Raises MalformedFile.
    """
    return withdraw_work(listed=_read(path, name), at=at)


def withdraw_work(
    *,
    listed: Mapping[str, Collection[str]],
    at: datetime,
    among: QuerySet[Assignment] | None = None,
) -> WithdrawalReport:
    """Withdraw the responses of the assignments with these ids, listed by worker id; only of those
    `among`, if given. Repeating it changes nothing."""
    report = WithdrawalReport()
    withdrawn_keys: set[int] = set()
    for worker_id, assignment_ids in listed.items():
        rows = Assignment.objects.all() if among is None else among
        assignments = _assignments(worker_id, rows.filter(assignment_id__in=assignment_ids))
        missing = {*assignment_ids} - {*assignments.values_list("assignment_id", flat=True)}
        pages = TaskPage.objects.answered().filter(
            marketplace_id=worker_id, assignment_id__in=missing
        )
        waiting = pages.values("assignment_id").distinct().count()
        report.waiting += waiting
        report.unknown += len(missing) - waiting
        for account in WorkerAccount.objects.filter(
            pk__in=assignments.values("account")
        ).select_related("worker"):
            theirs = Response.objects.filter(
                submission__in=assignments.filter(account=account).values("submission")
            )
            keys = set(theirs.values_list("pk", flat=True))
            # Syncs repeat the list: a worker without anything new is not locked.
            new = theirs.filter(withdrawn_at=None).exists()
            withdrawn = (
                withdraw_responses(worker=account.worker, responses=keys, actor=None, at=at)
                if new
                else []
            )
            withdrawn_keys |= keys
            report.withdrawn += len(withdrawn)
            report.known_before += len(keys) - len(withdrawn)
            report.campaigns |= {response.task.campaign.slug for response in withdrawn}
    report.releases = releases_with(withdrawn_keys)
    return report


def _assignments(worker_id: str, rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """The worker's assignments among these, also if the worker's id was deleted.

    After an erasure on request nothing recognises the worker, so the id of the assignment decides.
    """
    columns = rows.values_list("pk", "account__endpoint", "account__marketplace_id")
    theirs = [
        key
        for key, endpoint, stored in columns
        if stored.startswith(ERASED) or stored in stored_ids(endpoint, worker_id)
    ]
    return Assignment.objects.filter(pk__in=theirs)


def _read(path: Path, name: str) -> dict[str, set[str]]:
    """The assignment ids by worker id."""
    by_worker: dict[str, set[str]] = defaultdict(set)
    with open_entries(path, name=name) as entries:
        entries.require(COLUMNS)
        for entry in entries.rows:
            values = [str(entry.values.get(column) or "").strip() for column in COLUMNS]
            if entry.fault or not all(values):
                reason = entry.fault or f"a value of {' or '.join(COLUMNS)} is missing"
                raise MalformedFile(name, f"{reason}. Nothing was imported", entry.line)
            by_worker[values[0]].add(values[1])
    return by_worker
