"""The command that serves the marketplace."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.wsgi import get_wsgi_application
from django.utils import timezone

from marketplace import tls
from marketplace.server import serve
from shared.number_fields import PORT
from shared.secret_key import check_listening, is_loopback

CERTIFICATES = settings.VAR_DIR / "certificates"


class Command(BaseCommand):
    help = (
        "Serve the marketplace: the Mechanical Turk Requester API and the pages for workers. "
        "The command first creates or migrates the database. Stop it with Ctrl-C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        address = urlsplit(settings.MARKETPLACE_URL)
        parser.add_argument(
            "--host",
            default="127.0.0.1",
            help="address to listen on; 0.0.0.0 for all. Addresses that others can reach need "
            "MARKETPLACE_SECRET_KEY (default: 127.0.0.1, this machine only)",
        )
        parser.add_argument(
            "--port",
            type=PORT,
            default=address.port or 8001,
            help="port to listen on (default: the port in MARKETPLACE_URL, %(default)s)",
        )
        parser.add_argument(
            "--tls",
            action="store_true",
            help="also answer over HTTPS under Amazon's two MTurk host names, with a "
            "certificate by your own authority, and print what a client must set",
        )
        parser.add_argument(
            "--tls-port",
            type=PORT,
            help="port for HTTPS, with --tls (default: 443, the port of Amazon's addresses)",
        )
        parser.add_argument(
            "--certificates",
            type=Path,
            metavar="DIR",
            help="folder of the authority and its certificates, with --tls; created if it does "
            f"not exist (default: {CERTIFICATES})",
        )

    def handle(self, *, host: str, port: int, **options: Any) -> None:
        for name in ("tls_port", "certificates"):
            if options[name] and not options["tls"]:
                raise CommandError(f"--{name.replace('_', '-')} goes with --tls.")
        self._check(host)
        call_command("migrate", verbosity=0, interactive=False)
        beside = [self._tls_server(host, **options)] if options["tls"] else []
        try:
            serve(host=host, port=port, ready=self._say, beside=beside)
        except PermissionError as error:
            raise CommandError(
                f"Not allowed to listen on {host}: {error.strerror}. Only administrators can use "
                "ports below 1024. Choose another port with --tls-port, and forward 443 to it."
            ) from error
        except OSError as error:
            raise CommandError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error

    def _check(self, host: str) -> None:
        if settings.TEST_HOOKS and not is_loopback(host):
            raise CommandError(
                f"Other machines can reach {host or 'all addresses'}, and MARKETPLACE_TEST_HOOKS "
                "lets anybody who reaches the marketplace sign in as any worker."
            )
        try:
            check_listening(host)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error

    def _tls_server(
        self, host: str, *, tls_port: int | None, certificates: Path | None, **_: Any
    ) -> tls.TlsServer:
        port, folder = tls_port or 443, (certificates or CERTIFICATES).resolve()
        try:
            authority = tls.make_certificates(folder, at=timezone.now())
        except (OSError, ValueError) as error:
            raise CommandError(f"--certificates: {error}") from error
        self._say(tls.advice(authority=authority, host=host, port=port))
        return tls.TlsServer(get_wsgi_application(), host=host, port=port, folder=folder)

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        # The reader of this line may be waiting at the end of a pipe.
        self.stdout.flush()
