from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.management.base import DomainCommand
from annotate.services.class_names import import_class_names
from corpora.commands import bytes_shown
from corpora.wording import counted


class Command(DomainCommand):
    help = (
        "Import the names of classes in another language, so that new campaigns in this language "
        "show them as keywords. The file is a table (CSV) with two columns: the class, by its "
        "label or its English name, and its name. Importing a file again changes nothing. "
        "Campaigns that exist keep their keywords."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="table of classes and names (CSV)")
        parser.add_argument(
            "--language", required=True, help="language of the names, as a BCP 47 tag: de, pt-BR"
        )

    def handle(self, *, file: Path, language: str, **_: Any) -> None:
        with bytes_shown(file) as progress:
            counts = import_class_names(path=file, language=language, progress=progress)
        self.stdout.write(
            f"{counted(counts.read, 'name')} read: {counts.new} new, {counts.changed} changed, "
            f"{counts.unchanged} unchanged."
        )
        if counts.skipped:
            self.stderr.write(
                f"{counted(counts.skipped, 'row names', 'rows name')} no class that was imported. "
                "Import the classes and run this command again."
            )
