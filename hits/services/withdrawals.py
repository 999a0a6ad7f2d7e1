"""Import the list of assignments whose workers withdrew their work."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.contrib.auth.models import User

from annotate.models import Response
from annotate.queries.withdrawn import releases_with
from annotate.reading.entries import open_entries
from annotate.reading.files import MalformedFile
from hits.models import Assignment, WorkerAccount
from qualcontrol.services.withdrawals import withdraw_responses

COLUMNS = ("worker_id", "assignment_id")


@dataclass
class WithdrawalReport:
    """What an import changed: numbers of responses, and of withdrawn responses by release.

    `unknown` counts assignments that this site does not have.
    """

    withdrawn: int = 0
    known_before: int = 0
    unknown: int = 0
    campaigns: set[str] = field(default_factory=set)
    releases: dict[str, int] = field(default_factory=dict)


def import_withdrawals(
    *, path: Path, name: str, actor: User | None, at: datetime
) -> WithdrawalReport:
    """Withdraw the responses of the assignments that a file lists by worker and assignment id.

    The file is read to its end first. Importing it again changes nothing. Raises MalformedFile.
    """
    report = WithdrawalReport()
    listed: set[int] = set()
    for worker_id, assignment_ids in _read(path, name).items():
        found = Assignment.objects.filter(
            account__marketplace_id=worker_id, assignment_id__in=assignment_ids
        )
        report.unknown += len(assignment_ids) - found.values("assignment_id").distinct().count()
        for account in WorkerAccount.objects.filter(pk__in=found.values("account")).select_related(
            "worker"
        ):
            theirs = Response.objects.filter(assignment__in=found.filter(account=account))
            keys = set(theirs.values_list("pk", flat=True))
            done = withdraw_responses(worker=account.worker, responses=keys, actor=actor, at=at)
            listed |= keys
            report.withdrawn += len(done)
            report.known_before += len(keys) - len(done)
            report.campaigns |= {response.task.campaign.slug for response in done}
    report.releases = releases_with(listed)
    return report


def _read(path: Path, name: str) -> dict[str, set[str]]:
    """The assignment ids by worker id."""
    found: dict[str, set[str]] = defaultdict(set)
    with open_entries(path, name=name) as entries:
        entries.require(COLUMNS)
        for entry in entries.rows:
            values = [str(entry.values.get(column, "")).strip() for column in COLUMNS]
            if entry.fault or not all(values):
                reason = entry.fault or f"a value of {' or '.join(COLUMNS)} is missing"
                raise MalformedFile(name, f"{reason}. Nothing was imported", entry.line)
            found[values[0]].add(values[1])
    return found
