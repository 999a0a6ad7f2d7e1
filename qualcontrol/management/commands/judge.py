"""`judge CAMPAIGN FILE.jsonl`: take verdicts from a file."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotate.management.base import DomainCommand, campaign_named
from qualcontrol.services import judge_lines

FAULTS_NAMED = 50


class Command(DomainCommand):
    help = (
        "Take verdicts from JSON lines: response (its number), verdict (good or bad) and, for a "
        "bad one, reason. Then the campaign's policy decides about the workers. Lines that cannot "
        "be taken are named, and the others count; a response that was judged before is no error."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="slug of the campaign")
        parser.add_argument("file", metavar="FILE", help="the verdicts; - for standard input")
        parser.add_argument(
            "--reviewer",
            metavar="NAME",
            help="who judged; a user who cannot sign in is made where there is none of that name",
        )

    def handle(self, *, campaign: str, file: str, reviewer: str | None, **options: Any) -> None:
        found = campaign_named(campaign)
        batch = judge_lines(
            campaign=found, lines=_lines(file), reviewer=_user(reviewer), at=timezone.now()
        )
        self.stdout.write(
            f"{batch.good + batch.bad} verdicts taken ({batch.good} good, {batch.bad} bad), "
            f"{len(batch.judged_before)} passed over, {batch.acts} acts of the campaign's policy."
        )
        _tell(self.stdout, batch.judged_before)
        if batch.faults:
            _tell(self.stderr, batch.faults)
            raise CommandError(f"{len(batch.faults)} lines could not be taken.")


def _tell(out: Any, lines: dict[int, str]) -> None:
    for number, what in list(lines.items())[:FAULTS_NAMED]:
        out.write(f"line {number}: {what}")
    if len(lines) > FAULTS_NAMED:
        out.write(f"and {len(lines) - FAULTS_NAMED} more lines")


def _lines(name: str) -> Iterator[str]:
    """The file's lines; raises CommandError where it cannot be read."""
    if name == "-":
        yield from sys.stdin
        return
    try:
        with Path(name).open(encoding="utf-8-sig") as file:
            yield from file
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{name} is not UTF-8: {error}.") from error


def _user(name: str | None) -> User | None:
    if name is None:
        return None
    user, is_new = get_user_model().objects.get_or_create(
        username=name, defaults={"is_active": False}
    )
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user
