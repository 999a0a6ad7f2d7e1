"""Serve the marketplace site."""

from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from marketplace.server import serve


class Command(BaseCommand):
    help = (
        "Serve the marketplace: the Mechanical Turk Requester API and the pages for workers. "
        "Its database is made or brought up to date first. Stop it with Ctrl-C."
    )

    def add_arguments(self, parser):
        address = urlsplit(settings.MARKETPLACE_URL)
        parser.add_argument(
            "--host",
            default="127.0.0.1",
            help="the address to listen on; 0.0.0.0 for all of them (default: 127.0.0.1)",
        )
        parser.add_argument(
            "--port",
            type=int,
            default=address.port or 8001,
            help="the port to listen on (default: the one in MARKETPLACE_URL, %(default)s)",
        )

    def handle(self, *, host: str, port: int, **options):
        call_command("migrate", verbosity=0, interactive=False)
        try:
            serve(host=host, port=port, ready=self.stdout.write)
        except OSError as error:
            raise CommandError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error
