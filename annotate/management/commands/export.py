from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from accounts.management.base import DomainCommand
from annotate.exports.formats import FORMATS, Format
from annotate.exports.images import IMAGES
from annotate.exports.tables import Content, Extra, extras_named
from annotate.kinds import KINDS
from annotate.kinds.exporting import content_of, write_export
from annotate.management.base import (
    add_domains_option,
    add_export_arguments,
    release_named,
    table_of_domains,
)


class Command(DomainCommand):
    help = "Write a release, of any task type, into a folder in a format that other tools open."

    def add_arguments(self, parser: CommandParser) -> None:
        add_export_arguments(
            parser, "folder to write to: new, empty, or an earlier export to replace"
        )
        parser.add_argument(
            "--format",
            choices=list(FORMATS),
            help="; ".join(f"{form.name}: {form.about}" for form in FORMATS.values())
            + ". Without this option, only the release's own files are written",
        )
        parser.add_argument(
            "--with",
            dest="extras",
            default="",
            metavar="EXTRA,…",
            help=f"also write what is otherwise left out: {', '.join(Extra)}",
        )
        parser.add_argument(
            "--images",
            action="store_true",
            help=f"copy the image files from MEDIA_ROOT into the folder {IMAGES}",
        )
        add_domains_option(parser)

    def handle(
        self,
        *,
        release: str,
        out: Path,
        format: str | None,
        extras: str,
        images: bool,
        domains: str | None,
        **_: Any,
    ) -> None:
        found = release_named(release)
        if format is not None:
            content = content_of(
                found, extras_named([extras]), table_of_domains(domains, self.stderr)
            )
            self._export(content, FORMATS[format], out, with_images=images)
        elif extras or images or domains:
            raise CommandError("--with, --images and --domains need --format.")
        else:
            self.print_lines(map(str, KINDS[found.campaign.kind].write(found, out)))

    def _export(self, content: Content, chosen: Format, out: Path, *, with_images: bool) -> None:
        with tqdm(unit="B", unit_scale=True, disable=None) as bar:
            names = write_export(content, chosen, out, with_images=with_images, progress=bar.update)
        for name in names:
            if not name.startswith(f"{IMAGES}/"):
                self.stdout.write(str(out / name))
        if with_images:
            self.stdout.write(f"{out / IMAGES}")
