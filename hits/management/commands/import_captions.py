from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from annotate.management.base import campaign_named
from corpora.commands import bytes_shown
from corpora.datasets.collected import Columns
from corpora.reading.files import MalformedFile, rereadable
from corpora.wording import counted
from hits.services.collected import Intake, import_collected

FAULTS_NAMED = 100


class Command(DomainCommand):
    help = (
        "Import captions that were collected elsewhere, in the order of the file: the batch "
        "results of Mechanical Turk's requester site, or entries with image, worker, caption and, "
        "if known, status, seconds, submitted_at, pasted and primed, as a table, JSON lines or a "
        "JSON array. They are flagged and spot-checked as if they had been submitted now. A file "
        "that cannot be read to its end is refused as a whole; an entry that cannot be used is "
        "left out and named with its line. Running the command again imports nothing twice."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", help="name of the campaign")
        parser.add_argument(
            "file", help="file to import; - for standard input; may be compressed (.gz)"
        )
        columns = {
            "image": "id, file name or address of the image (default: the one Input column)",
            "caption": "the caption (default: the one Answer column)",
            "worker": "the worker's id at the marketplace (default: WorkerId)",
            "status": "Approved, Rejected or Submitted (default: AssignmentStatus)",
            "seconds": "seconds that the worker took (default: WorkTimeInSeconds)",
            "time": "time of submission (default: SubmitTime)",
        }
        for name, content in columns.items():
            parser.add_argument(
                f"--{name}-column", metavar="NAME", help=f"column of a table: {content}"
            )
        parser.add_argument(
            "--rejected", action="store_true", help="also import captions of rejected assignments"
        )

    def handle(self, *, campaign: str, file: str, rejected: bool, **options: Any) -> None:
        columns = Columns(
            submitted_at=options["time_column"],
            **{
                name: options[f"{name}_column"]
                for name in ("image", "caption", "worker", "status", "seconds")
            },
        )
        found, intake = campaign_named(campaign), Intake()
        with rereadable(file) as (path, name), bytes_shown(path) as progress:
            try:
                import_collected(
                    campaign=found,
                    path=path,
                    name=name,
                    columns=columns,
                    with_rejected=rejected,
                    at=timezone.now(),
                    progress=progress,
                    intake=intake,
                )
            except MalformedFile as error:
                if intake.read:
                    raise
                raise CommandError(f"{error}. Nothing was imported.") from error
            finally:
                self._report(intake)
        if intake.faults.count and not intake.new and not intake.known:
            raise CommandError("Nothing of the file could be imported.")

    def _report(self, intake: Intake) -> None:
        """Print what was imported, even if the import was stopped."""
        if not intake.read and not intake.is_complete:
            return
        self.stdout.write(
            f"{counted(intake.read, 'caption')} read: {intake.new} new, {intake.known} known, "
            f"{intake.rejected} of rejected assignments skipped, {intake.faults.count} left out."
        )
        for line in intake.faults.lines(FAULTS_NAMED):
            self.stdout.write(f"  {line}")
        if not intake.is_complete:
            self.stdout.write(
                f"The import stopped after line {intake.line}. Everything up to there is stored; "
                "run the command again for the rest."
            )
