from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from annotate.management.base import campaign_named
from corpora.reading.files import Faults, MalformedFile, rereadable
from corpora.wording import counted
from qualcontrol.review.judging import Batch, judge_file

FAULTS_NAMED = 50


class Command(DomainCommand):
    help = (
        "Import verdicts from JSON lines, a JSON array or a table with the columns response (its "
        "number), verdict (good or bad) and, for bad ones, reason. Then the campaign's policy "
        "decides about the workers. If the file cannot be read to its end, nothing is imported. "
        "Entries that are not verdicts are listed with their line, and the others are imported. "
        "Responses that need no judgement any more are skipped."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")
        parser.add_argument("file", metavar="FILE", help="file with verdicts; - for standard input")
        parser.add_argument(
            "--reviewer",
            metavar="NAME",
            help="name of the reviewer; a new name creates a user who cannot sign in",
        )

    def handle(self, *, campaign: str, file: str, reviewer: str | None, **_: Any) -> None:
        found, batch = campaign_named(campaign), Batch()
        check_name(reviewer)
        with rereadable(file) as (path, name):
            try:
                judge_file(
                    campaign=found,
                    path=path,
                    name=name,
                    reviewer=reviewer,
                    at=timezone.now(),
                    batch=batch,
                )
            except MalformedFile as error:
                if batch.line:
                    raise
                raise CommandError(f"{error}. No verdict was imported.") from error
            finally:
                self._report(batch)
        if batch.faults.count:
            raise CommandError(f"{counted(batch.faults.count, 'line')} could not be imported.")

    def _report(self, batch: Batch) -> None:
        """Print which verdicts were stored, also if an error stopped the command."""
        if not batch.line and not batch.is_complete:
            return
        self.stdout.write(
            f"{counted(batch.judged, 'verdict')} imported ({batch.good} good, {batch.bad} bad), "
            f"{batch.judged_before.count} skipped. "
            f"{counted(batch.acts, 'decision')} by the campaign's policy."
        )
        self._name(batch.judged_before, self.stdout)
        self._name(batch.faults, self.stderr)
        if not batch.is_complete:
            self.stdout.write(
                f"The command stopped after line {batch.line}. Verdicts up to this line are "
                "imported. Run the command again for the rest."
            )

    def _name(self, lines: Faults, out: Any) -> None:
        for line in lines.lines(FAULTS_NAMED):
            out.write(line)


def check_name(name: str | None) -> None:
    """Raises CommandError if this cannot be a user's name."""
    most = get_user_model()._meta.get_field("username").max_length
    if name is None:
        return
    if not name.strip():
        raise CommandError("--reviewer is empty: give the name of the person who judged.")
    if most is not None and len(name) > most:
        raise CommandError(f"--reviewer has {len(name)} characters: a name has {most} at most.")
    if not name.isprintable():
        raise CommandError(f"--reviewer {ascii(name)} has characters that cannot be printed.")
