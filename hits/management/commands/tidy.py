from typing import Any

from django.utils import timezone

from accounts.management.base import DomainCommand
from corpora.errors import DomainError
from hits.services.retention import tidy


class Command(DomainCommand):
    help = (
        "Delete rows whose retention period is over and print how many. The clock does the same "
        "each night."
    )

    def handle(self, **_: Any) -> None:
        failed = []
        for outcome in tidy(at=timezone.now()):
            if outcome.error:
                failed.append(f"{outcome.what}: {outcome.error}")
            else:
                self.stdout.write(f"{outcome.what}: {outcome.deleted}")
        if failed:
            raise DomainError("\n".join(failed))
