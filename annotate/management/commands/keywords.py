from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection
from django.db.models.functions import Collate

from accounts.management.base import DomainCommand
from annotate.models import Image
from annotate.queries.keywords import hidden_classes, keywords_of
from shared.database.transactions import BATCH, batches


class Command(DomainCommand):
    help = (
        "Print the keywords that workers see, one line per image: the image's id, a tab, and the "
        "keywords separated by commas."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--split", help="only images of this split")
        parser.add_argument("--image", metavar="ID", help="only the image with this id")
        parser.add_argument(
            "--hidden",
            action="store_true",
            help="print the classes that are never shown instead, one name per line",
        )

    def handle(self, *, split: str | None, image: str | None, hidden: bool, **_: Any) -> None:
        if hidden:
            if split is not None or image is not None:
                raise CommandError("--hidden goes with neither --split nor --image.")
            # Teams can have classes of the same name.
            self.print_lines(dict.fromkeys(each.name for each in hidden_classes()))
            return
        images = Image.objects.all()
        if split is not None:
            images = images.filter(split=split)
        if image is not None:
            images = images.filter(key=image)
        if not images.exists():
            raise CommandError("No such image. Import images with import_openimages.")
        # By code points, independent of the database's collation.
        by_key = Collate("key", "C" if connection.vendor == "postgresql" else "BINARY")
        for batch in batches(images.order_by(by_key, "pk").iterator(BATCH)):
            keywords = keywords_of(batch)
            for picture in batch:
                self.stdout.write(f"{picture.key}\t{', '.join(keywords[picture.pk])}")
