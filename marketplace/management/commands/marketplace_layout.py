"""The command that creates a HIT layout."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from marketplace import clock
from marketplace.errors import DomainError
from marketplace.management.base import DomainCommand
from marketplace.models import Requester
from marketplace.questions.documents import gaps
from marketplace.services.hit_types import create_layout


class Command(DomainCommand):
    help = (
        "Create a HIT layout from an HTML page with ${name} placeholders and print its "
        "HITLayoutId. CreateHIT fills the placeholders with HITLayoutParameters."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the layout, not used by this requester before")
        parser.add_argument("file", type=Path, help="HTML page (UTF-8)")
        parser.add_argument(
            "--requester", required=True, metavar="NAME", help="requester who owns the layout"
        )
        parser.add_argument(
            "--height",
            type=int,
            default=0,
            metavar="PIXELS",
            help="height of the frame (default: 0, which fits the window)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *, name: str, file: Path, requester: str, height: int, **options: Any) -> None:
        owner = Requester.objects.filter(name=requester).first()
        if owner is None:
            raise CommandError(f"No requester is called {requester!r}.")
        try:
            page = file.read_text(encoding="utf-8")
            layout = create_layout(
                requester=owner, name=name, page=page, frame_height=height, at=clock.now()
            )
        except (OSError, UnicodeDecodeError, DomainError) as error:
            raise CommandError(f"{file}: {error}") from error
        if options["json"]:
            names = sorted(gaps(layout.template))
            self.stdout.write(json.dumps({"layout_id": layout.public_id, "parameters": names}))
        else:
            self.stdout.write(layout.public_id)
