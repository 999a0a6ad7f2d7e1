from typing import Any

from django.core.management.base import CommandParser

from annotate.management.base import DomainCommand
from corpora.commands import splits


class Command(DomainCommand):
    help = splits.HELP
    uses_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        splits.add_arguments(parser)

    def handle(self, **options: Any) -> None:
        self.print_lines(splits.run(**options))
