from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotate.datasets.collected import Columns
from annotate.management.base import DomainCommand, campaign_named
from annotate.management.reports import bytes_shown
from hits.services.collected import Intake, import_collected

FAULTS_NAMED = 100


class Command(DomainCommand):
    help = (
        "Take in captions that were collected elsewhere, in the order of the file: the batch "
        "results of Mechanical Turk's requester site (CSV), or JSON lines with image, worker, "
        "caption and, if known, seconds, submitted_at and pasted. They are flagged and "
        "spot-checked as if they had been submitted now. Running it again takes in nothing twice."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", help="name of the campaign")
        parser.add_argument("file", type=Path, help="the file; its name may end in .gz")
        columns = {
            "image": "id, file name or address of the image; the Input column that can be meant",
            "caption": "the caption; the Answer column that can be meant",
            "worker": "the worker's id at the marketplace; WorkerId",
            "status": "Approved, Rejected or Submitted; AssignmentStatus",
            "seconds": "how long the worker took; WorkTimeInSeconds",
            "time": "when it was submitted; SubmitTime",
        }
        for name, what in columns.items():
            parser.add_argument(f"--{name}-column", metavar="NAME", help=f"CSV: {what}")
        parser.add_argument(
            "--rejected", action="store_true", help="take in captions of rejected assignments, too"
        )

    def handle(self, *, campaign: str, file: Path, rejected: bool, **options: Any) -> None:
        columns = Columns(
            submitted_at=options["time_column"],
            **{
                name: options[f"{name}_column"]
                for name in ("image", "caption", "worker", "status", "seconds")
            },
        )
        with bytes_shown(file) as progress:
            intake = import_collected(
                campaign=campaign_named(campaign),
                path=file,
                columns=columns,
                with_rejected=rejected,
                at=timezone.now(),
                progress=progress,
            )
        self._report(intake)

    def _report(self, intake: Intake) -> None:
        self.stdout.write(
            f"{intake.read} captions read: {intake.new} new, {intake.known} known, "
            f"{intake.rejected} of rejected assignments skipped, {len(intake.faults)} left out."
        )
        for line, reason in intake.faults[:FAULTS_NAMED]:
            self.stdout.write(f"  line {line}: {reason}")
        if more := intake.faults[FAULTS_NAMED:]:
            self.stdout.write(f"  and {len(more)} more")
        if intake.faults and not intake.new and not intake.known:
            raise CommandError("Nothing of the file could be taken in.")
