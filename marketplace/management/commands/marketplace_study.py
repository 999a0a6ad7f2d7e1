"""The command that creates a study for participants of a panel, or closes one."""

import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from marketplace import clock
from marketplace.management.base import DomainCommand
from marketplace.models import HitType, Study
from marketplace.services import studies

# The options of a new study.
NEEDED = {
    name: f"--{name.replace('_', '-')}"
    for name in ("hit_type", "assignments", "completion_code", "return_url")
}


class Command(DomainCommand):
    help = (
        "Create a study: participants of a panel do a number of HITs of one group and are sent "
        "back with a completion code. Prints the address to give to the panel."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the study, as participants see it")
        parser.add_argument("--hit-type", metavar="ID", help="HIT type of the study's HITs")
        parser.add_argument(
            "--assignments", type=int, metavar="N", help="number of HITs for each participant"
        )
        parser.add_argument(
            "--completion-code", metavar="CODE", help="code for participants who have done all HITs"
        )
        parser.add_argument(
            "--return-url", metavar="URL", help="return address for participants; cc=CODE is added"
        )
        parser.add_argument(
            "--no-work-code",
            metavar="CODE",
            default="",
            help="code for participants who find no HITs (default: no code)",
        )
        parser.add_argument(
            "--id-parameter",
            metavar="NAME",
            default="PROLIFIC_PID",
            help="address parameter with the panel's id (default: PROLIFIC_PID)",
        )
        parser.add_argument(
            "--language",
            choices=list(dict(settings.LANGUAGES)),
            default="en",
            help="language of the study's pages (default: en)",
        )
        parser.add_argument(
            "--close", action="store_true", help="close the study of this name to new participants"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *, name: str, close: bool, **options: Any) -> None:
        if close and (given := [NEEDED[key] for key in NEEDED if options[key] is not None]):
            raise CommandError(f"--close goes without {', '.join(given)}.")
        study = self._close(name) if close else self._create(name, options)
        link = studies.panel_url(study)
        if options["json"]:
            join_url = link.partition("?")[0]
            row = {"study": study.slug, "join_url": join_url, "panel_url": link}
            self.stdout.write(json.dumps(row))
        elif close:
            self.stdout.write(f"{study.slug} is closed to new participants.")
        else:
            self.stdout.write(f"Give the panel this address:\n{link}")

    def _create(self, name: str, options: Mapping[str, Any]) -> Study:
        if missing := [option for key, option in NEEDED.items() if options[key] is None]:
            raise CommandError(f"A new study needs {', '.join(missing)}.")
        hit_type = HitType.objects.filter(public_id=options["hit_type"]).first()
        if hit_type is None:
            raise CommandError(f"There is no HIT type {options['hit_type']!r}.")
        columns = ("assignments", "completion_code", "return_url", "id_parameter", "no_work_code",
                   "language")  # fmt: skip
        given = {column: options[column] for column in columns}
        study = Study(name=name, hit_type=hit_type, **given)
        return studies.create_study(study=study, at=clock.now())

    def _close(self, name: str) -> Study:
        study = Study.objects.filter(name=name).first() or Study.objects.filter(slug=name).first()
        if study is None:
            raise CommandError(f"There is no study {name!r}.")
        studies.set_open(study=study, is_open=False)
        return study
