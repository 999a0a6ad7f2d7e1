from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.management.base import DomainCommand, prepare_database
from annotate.management.base import captions_file, release_named
from annotate.queries.releases import language_in
from annotate.services.reports import read_release
from corpora.commands import report
from corpora.report.captions_file import read_dataset
from corpora.report.dataset import Dataset
from corpora.selection.domains import DomainTable


class Command(DomainCommand):
    help = report.HELP
    # Only releases are in the database; `dataset_named` prepares it.
    uses_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "dataset",
            metavar="RELEASE|CAPTIONS.json",
            help="name of the release, or path of a captions file in COCO form",
        )
        report.add_options(parser)

    def handle(self, *, dataset: str, **options: Any) -> None:
        self.print_lines(report.report(lambda *chosen: dataset_named(dataset, *chosen), **options))


def dataset_named(
    name: str, boxes: Path | None, table: DomainTable | None, language: str | None
) -> Dataset:
    """The dataset in the file of this path, or else of the release of this name."""
    if path := captions_file(name):
        return read_dataset(path, boxes, table, language)
    if boxes:
        raise CommandError("A release has its own boxes. --boxes is for captions files.")
    prepare_database()
    release = release_named(name)
    return read_release(release, table, language_in(release, language))
