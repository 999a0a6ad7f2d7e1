from typing import Any

from django.contrib.staticfiles.management.commands.runserver import Command as RunServer
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError, CommandParser

from shared.secret_key import check_listening


class Command(RunServer):
    """Django's development server, with static files from WhiteNoise as in `serve`."""

    addr: str

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(use_static_handler=False)

    def run(self, **options: Any) -> None:
        try:
            check_listening(self.addr)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        super().run(**options)
