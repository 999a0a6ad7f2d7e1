import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError

from accounts.management.base import DomainCommand
from hits.local import (
    MANAGE,
    MARKETPLACE_PORT,
    SITE_PORT,
    Installation,
    clean_environment,
    emptied,
    locked,
    stopped_by_signals,
)
from shared.number_fields import PORT
from simulation.demonstration import Demonstration, Result

OUT = settings.BASE_DIR / "build" / "demo"


class Command(DomainCommand):
    # The command restarts itself as another process, which uses its own database.
    uses_database = False
    help = (
        "Run two complete campaigns with simulated workers on this machine, in a separate folder. "
        "The first collects captions of generated scenes: import, select, publish to the local "
        "marketplace, work, review, exclude careless workers, replace their captions, release and "
        "export. In the second, workers link the captions' words to the scenes' boxes."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument(
            "--out",
            type=Path,
            default=OUT,
            metavar="DIR",
            help="folder for the databases and the exported files; an existing demonstration there "
            "is deleted (default: build/demo)",
        )
        parser.add_argument(
            "--images", type=int, default=36, help="number of images, 2 to 2000 (default: 36)"
        )
        parser.add_argument(
            "--seed", type=int, default=1, help="seed for the scenes and the workers (default: 1)"
        )
        for name, site, default in (
            ("--port", "requester site", SITE_PORT),
            ("--marketplace-port", "marketplace", MARKETPLACE_PORT),
        ):
            parser.add_argument(
                name,
                type=PORT,
                default=default,
                help=f"port of the {site} (default: {default}); if it is in use, another is chosen",
            )
        parser.add_argument(
            "--prepared",
            action="store_true",
            help="internal: the command runs itself with this option once the folder is ready",
        )

    def handle(self, *, out: Path, images: int, seed: int, prepared: bool, **options: Any) -> None:
        if not 2 <= images <= 2000:
            raise CommandError("--images must be from 2 to 2,000.")
        out = out.resolve()
        try:
            if prepared:
                with stopped_by_signals():
                    self._run(_this_installation(out), images, seed)
            else:
                wanted = Installation(out, options["port"], options["marketplace_port"])
                self._prepare_and_run(wanted, images, seed)
        except KeyboardInterrupt:
            raise CommandError("Stopped.") from None

    def _prepare_and_run(self, wanted: Installation, images: int, seed: int) -> None:
        """Restart as a new process with the settings of both sites in the folder."""
        out = wanted.folder
        locked(out)
        emptied(out)
        places = wanted.on_free_ports()
        environment = places.environment()
        environment |= places.keys(environment)
        places.keep_environment(environment)
        arguments = ["demo", "--prepared", "--out", str(out)]
        arguments += ["--images", str(images), "--seed", str(seed)]
        self.stdout.flush()
        command = [sys.executable, str(MANAGE), *arguments]
        os.execve(sys.executable, command, clean_environment(environment))

    def _run(self, places: Installation, images: int, seed: int) -> None:
        demonstration = Demonstration(places, images=images, seed=seed, tell=self._tell)
        result = demonstration.run()
        self._show(places, result)
        if not all(check.holds for check in result.checks):
            raise CommandError("A check failed. See the list above.")

    def _tell(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _show(self, places: Installation, result: Result) -> None:
        self._tell(f"{result.seconds:6.1f} s  in total\n")
        for check in result.checks:
            mark = "yes" if check.holds else "NO "
            self._tell(f"  {mark}  {check.claim}: {check.found}")
        folder = _shown(places.folder)
        names = ", ".join(path.name for path in result.files)
        serve = "make serve" if places.folder == OUT else f"manage.py serve --demo {folder}"
        self._tell(
            f"\nThe files {names} are in {folder}. To open the dashboard, run `{serve}` and "
            f"sign in as {result.user} with the password {result.password}"
        )


def _this_installation(out: Path) -> Installation:
    """The installation that the current settings belong to."""
    ports = [urlsplit(url).port or 80 for url in (settings.SITE_URL, settings.MARKETPLACE_URL)]
    return Installation(out, *ports)


def _shown(folder: Path) -> str:
    """The folder relative to the current one, if possible."""
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)
