from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from accounts.management.base import DomainCommand
from corpora.wording import counted
from hits.services.accounts import follow_marketplace


class Command(DomainCommand):
    help = "After your marketplace moved: change its address in campaigns and workers."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("old", metavar="OLD", help="the earlier MTURK_ENDPOINT")

    def handle(self, *, old: str, **_: Any) -> None:
        moved = follow_marketplace(old=old, new=settings.MTURK_ENDPOINT)
        self.stdout.write(f"{counted(moved, 'campaign')} moved to {settings.MTURK_ENDPOINT}.")
