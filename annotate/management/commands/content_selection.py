from typing import Any

from django.core.management.base import CommandParser

from annotate.management.base import DomainCommand
from corpora.commands import content_selection


class Command(DomainCommand):
    help = content_selection.HELP
    uses_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        content_selection.add_arguments(parser)

    def handle(self, **options: Any) -> None:
        self.print_lines(content_selection.run(**options))
