from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from accounts.management.base import DomainCommand, team_named
from annotate.management.base import BROKEN_NAMED, add_owner_options, listed
from annotate.services import own_images
from background.outgoing.buckets import SCHEME
from corpora.reading.files import printable


class Command(DomainCommand):
    help = (
        "Import your own photographs as a split: a folder, a folder of a bucket in S3, or a list "
        "of URLs. Classes and boxes are not needed. "
        "Files keep their names, and the same content is imported once. Files that cannot be used "
        "are named and left out. If the import is interrupted, run it again to import the rest."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "source",
            help="folder with the image files; or s3://BUCKET/FOLDER; or with --urls a text file "
            "with one URL in each line",
        )
        parser.add_argument(
            "--urls", action="store_true", help="fetch the images from the URLs in the file once"
        )
        parser.add_argument("--split", required=True, help="split to store the images under")
        parser.add_argument(
            "--table",
            type=Path,
            help="table (CSV) of facts about the files: the column file_name, and any of license, "
            "author, author_url, title, context, source_page, classes, class, x_min, x_max, "
            "y_min, y_max",
        )
        add_owner_options(parser)

    def handle(
        self,
        *,
        source: str,
        urls: bool,
        split: str,
        table: Path | None,
        team: str | None,
        change_published: bool,
        **_: Any,
    ) -> None:
        if urls and source.startswith(SCHEME):
            raise CommandError(f"--urls is for a file with URLs, and {source} is a folder.")
        owner = team_named(team)
        own_images.check_own_split(split, owner)
        files: Iterable[own_images.Found]
        if source.startswith(SCHEME) or urls:
            remotes = (
                own_images.files_in_bucket(source)
                if source.startswith(SCHEME)
                else own_images.files_at_urls(Path(source))
            )
            files, total = own_images.fetched(remotes, split=split), len(remotes)
        else:
            files = own_images.own_files_below(Path(source), table)
            total = len(files)
        with tqdm(total=total, unit=" files", disable=None) as bar:
            counts = own_images.import_own_files(
                files=files,
                split=split,
                table=table,
                team=owner,
                change_published=change_published,
                progress=bar.update,
            )
        for line in own_images.report_lines(counts, most=BROKEN_NAMED):
            self.stdout.write(printable(line))
        if counts.ignored_columns:
            self.stderr.write(f"Columns of the table not used: {listed(counts.ignored_columns)}.")
