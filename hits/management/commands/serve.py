import os
import shlex
import signal
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.core.wsgi import get_wsgi_application
from waitress.server import create_server

from hits.local import (
    HOST,
    MARKETPLACE_PORT,
    SITE_PORT,
    Child,
    Installation,
    ProcessFailed,
    child,
    is_demonstration,
    is_free,
    locked,
    locked_to_serve,
    make_workers,
    manage,
    marketplace_running,
    site_running,
    stopped_by_signals,
)
from shared.number_fields import PORT
from shared.secret_key import check_listening, kept_key

DEMO = settings.BASE_DIR / "build" / "demo"
# The process for all background work.
WORKER = ("work_jobs", "--watch", "1", "--clock")
VISITOR = "visitor"
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


class Command(BaseCommand):
    help = (
        "Run the requester site, the local marketplace and a worker for everything in the "
        "background until Ctrl-C. If `manage.py demo` has run, this serves the demonstration; "
        "otherwise it serves the databases that the environment names."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument(
            "--port", type=PORT, help=f"port of the requester site (default: {SITE_PORT})"
        )
        parser.add_argument(
            "--marketplace-port",
            type=PORT,
            help=f"port of the marketplace (default: {MARKETPLACE_PORT})",
        )
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--demo", type=Path, metavar="DIR", help="serve the demonstration in this folder"
        )
        which.add_argument(
            "--own",
            action="store_true",
            help="serve your own databases even if there is a demonstration",
        )
        parser.add_argument(
            "--site-only",
            action="store_true",
            help="serve the requester site only; the marketplace and the worker run elsewhere",
        )
        parser.add_argument(
            "--host", help=f"address to listen on, with --site-only (default: {HOST})"
        )

    def handle(self, *, site_only: bool, host: str | None, **options: Any) -> None:
        try:
            check_listening(host or HOST)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        if site_only:
            for name in ("demo", "own", "marketplace_port"):
                if options[name]:
                    raise CommandError(
                        f"--site-only goes without --{name.replace('_', '-')}. It serves the site "
                        "whose database the environment names."
                    )
            self._serve_site(host or HOST, options["port"] or SITE_PORT)
            return
        if host is not None:
            raise CommandError(
                f"--host needs --site-only. Without it, both sites listen on {HOST}: serve each "
                "on its own, with `serve --site-only --host` and `marketplace --host`."
            )
        installation = self._installation(options)
        try:
            with stopped_by_signals(), ExitStack() as stack:
                self._run(installation, stack)
        except ProcessFailed as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")

    def _installation(self, options: dict[str, Any]) -> "Chosen":
        folder: Path | None = options["demo"]
        if folder is None and is_demonstration(DEMO) and not options["own"]:
            folder = DEMO
        if folder is not None and not is_demonstration(folder):
            raise CommandError(
                f"{folder} has no demonstration. Create one with `manage.py demo --out {folder}`."
            )
        chosen = Chosen.of(folder, options["port"], options["marketplace_port"])
        ports = {"--port": chosen.places.site_port}
        if chosen.has_marketplace:
            ports["--marketplace-port"] = chosen.places.marketplace_port
        elif options["marketplace_port"]:
            raise CommandError(
                "--marketplace-port is for the local marketplace, and MTURK_ENDPOINT names another."
            )
        for name, port in ports.items():
            if not is_free(port):
                raise CommandError(f"Port {port} is in use. Choose another one with {name}.")
        return chosen

    def _run(self, chosen: "Chosen", stack: ExitStack) -> None:
        """Start all processes, and start those again that end. Raises ProcessFailed if one cannot
        be started, or ends again and again."""
        places, environment = chosen.places, chosen.environment()
        (locked if chosen.is_demo else locked_to_serve)(places.folder)
        manage(["migrate", "--verbosity", "0"], environment)
        children: list[Child] = []
        if chosen.has_marketplace:
            environment |= chosen.one_sign_in()
            children.append(stack.enter_context(marketplace_running(places, environment)))
            environment |= chosen.keys(environment)
        places.keep_environment(environment)
        children.append(stack.enter_context(site_running(places, environment)))
        log = places.logs / "worker.log"
        children.append(
            stack.enter_context(
                child("worker", WORKER, log=log, environment=environment, is_background=True)
            )
        )
        admin = manage(["first_admin"], environment).strip()
        visitor = _visitor(environment) if chosen.is_demo else ""
        self._tell(chosen, admin=admin, visitor=visitor)
        while True:
            for program in children:
                if program.process.poll() is not None:
                    program.restart()
                    self.stdout.write(
                        f"The {program.name} stopped unexpectedly and was started again. See "
                        f"{program.log}."
                    )
                    self.stdout.flush()
            time.sleep(0.5)

    def _tell(self, chosen: "Chosen", *, admin: str, visitor: str) -> None:
        places = chosen.places
        self.stdout.write(f"Dashboard:   {places.site_url}/")
        if admin:
            self.stdout.write(f"             {admin} (shown only once)")
        if chosen.has_marketplace:
            self.stdout.write(f"Marketplace: {places.marketplace_url}/")
            self.stdout.write(f"             its admin pages: {places.marketplace_url}/operator/")
        if visitor:
            self.stdout.write(f"             sign in as worker “{VISITOR}”: {visitor}")
        self.stdout.write(f"Data:        {places.folder} (logs in {places.logs})")
        file = shlex.quote(str(places.environment_file))
        self.stdout.write(f"Commands:    in another terminal, first run this: . {file}")
        self.stdout.write("Stop with Ctrl-C.")
        self.stdout.flush()

    def _serve_site(self, host: str, port: int) -> None:
        """Serve the requester site in this process, with several threads."""
        if "SITE_URL" not in os.environ:
            # Its default is the address with the default port.
            settings.SITE_URL = f"http://{HOST}:{port}"
        application = get_wsgi_application()
        headers = {"x-forwarded-for", "x-forwarded-proto"}
        proxy = {"trusted_proxy": "*", "trusted_proxy_headers": headers}
        trusted = proxy if settings.BEHIND_PROXY else {}
        try:
            server = create_server(
                application,
                host=host,
                port=port,
                threads=8,
                # Browsers keep connections open: 100, the default, are too few for a crowd.
                connection_limit=4000,
                # select() supports at most 1,024 connections.
                asyncore_use_poll=True,
                max_request_body_size=(settings.UPLOAD_MAX_MB + 10) * 1_000_000,
                **trusted,
            )
        except OSError as error:
            raise CommandError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error
        signal.signal(signal.SIGTERM, _exit)
        here = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        behind = "" if here == settings.SITE_URL else f" It listens on {here}."
        self.stdout.write(f"The site is ready at {settings.SITE_URL}.{behind}")
        # The process that started this one waits for the line.
        self.stdout.flush()
        try:
            server.run()
        finally:
            server.close()


@dataclass(frozen=True)
class Chosen:
    """The installation to serve: a demonstration, or the databases that the environment names."""

    places: Installation
    is_demo: bool

    @classmethod
    def of(cls, folder: Path | None, port: int | None, marketplace_port: int | None) -> "Chosen":
        if folder is not None:
            defaults = SITE_PORT, MARKETPLACE_PORT
        else:
            defaults = (
                _port_here(settings.SITE_URL, SITE_PORT),
                _port_here(settings.MARKETPLACE_URL, MARKETPLACE_PORT),
            )
        places = Installation(
            (folder or settings.DATA_DIR).resolve(),
            port or defaults[0],
            marketplace_port or defaults[1],
        )
        return cls(places, is_demo=folder is not None)

    @property
    def has_marketplace(self) -> bool:
        return self.is_demo or settings.MTURK_ENDPOINT == "local"

    def environment(self) -> dict[str, str]:
        """The variables of the installation.

        The environment overrides them, except for a demonstration, which uses only its folder.
        The worker does everything without a broker.
        """
        own = self.places.environment()
        if not self.is_demo:
            own = {name: os.environ.get(name, value) for name, value in own.items()}
        return {**own, "CELERY_BROKER_URL": ""}

    def one_sign_in(self) -> dict[str, str]:
        """The variables with which operators of the requester site are the marketplace's,
        too. The environment's come first, except for a demonstration."""
        own = {} if self.is_demo else os.environ
        secret = own.get("HAND_OVER_SECRET") or kept_key(
            self.places.folder / "hand-over-key", variable="HAND_OVER_SECRET"
        )
        return {
            "HAND_OVER_SECRET": secret,
            "HAND_OVER_OPERATORS": own.get("HAND_OVER_OPERATORS", "true"),
        }

    def keys(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The requester's keys for the local marketplace: those of the environment, if it
        has keys. A demonstration always uses its own."""
        if self.is_demo or not os.environ.get(KEYS[0]):
            return self.places.keys(environment)
        return {name: os.environ[name] for name in KEYS if name in os.environ}


def _port_here(url: str, default: int) -> int:
    """The port of a URL on this machine, and the default for other URLs.

    The port of a public URL is the proxy's and not the site's.
    """
    parts = urlsplit(url)
    return parts.port or default if parts.hostname in {HOST, "localhost"} else default


def _visitor(environment: Mapping[str, str]) -> str:
    """Create the demonstration's worker for visitors if needed; return the sign-in link."""
    links = make_workers([VISITOR], country="US", approved=6000, rate=99, environment=environment)
    return links[0]


def _exit(*_: object) -> None:
    raise SystemExit(0)
