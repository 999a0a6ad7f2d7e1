from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from corpora.reading.files import rereadable
from corpora.wording import counted
from hits.services.withdrawals import WithdrawalReport, import_withdrawals


class Command(DomainCommand):
    help = (
        "Discard the responses of people who have withdrawn their work. The file is a table or "
        "JSON lines with worker_id and assignment_id, as the marketplace's page of a group of "
        "people has it. The tasks need as many more responses, payments do not change, and frozen "
        "releases with such responses are named. Importing the same file again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="the list; - for standard input")

    def handle(self, *, file: str, **_: Any) -> None:
        with rereadable(file) as (path, name):
            report = import_withdrawals(path=path, name=name, at=timezone.now())
        for line in told(report):
            self.stdout.write(line)


def told(report: WithdrawalReport) -> list[str]:
    """The report in sentences."""
    lines = [f"{counted(report.withdrawn, 'response')} withdrawn."]
    if report.campaigns:
        lines.append(f"Tasks of these campaigns need more: {', '.join(sorted(report.campaigns))}.")
    if report.known_before:
        lines.append(f"{counted(report.known_before, 'response')} had been withdrawn before.")
    if report.waiting:
        lines.append(
            f"{counted(report.waiting, 'assignment')} answered here, but not read from the "
            "marketplace yet. Run `sync`, then import the file again."
        )
    if report.unknown:
        lines.append(
            f"{counted(report.unknown, 'assignment')} not known here. Run `sync`, then import the "
            "file again; assignments of other requesters stay unknown."
        )
    for name, number in report.releases.items():
        lines.append(
            f"Release {name} has {number} of these responses. A new release leaves them out."
        )
    return lines
