import time
from typing import Any, NoReturn

from django.core.management.base import CommandParser
from django.utils import timezone

from annotate.management.base import DomainCommand
from annotate.management.retry import Retry
from annotate.models import DeliveryStatus
from annotate.notices.sending import send_due
from annotate.notices.sweeping import sweep
from annotate.wording import counted

# Seconds between two looks for deliveries that are due, such as tests of webhooks.
SENDS_EVERY = 3.0


class Command(DomainCommand):
    help = (
        "Look for what people are to be told, and send it by e-mail and webhook. What could not be "
        "sent is tried again later. Several of these commands can run at the same time."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--watch",
            type=float,
            metavar="SECONDS",
            help="look for news every SECONDS, until a signal ends the command",
        )

    def handle(self, *, watch: float | None, **_: Any) -> None:
        if watch:
            self._watch(watch)
        new = sweep(at=timezone.now())
        self.stdout.write(f"{counted(new, 'new notice')}, {self._send()} sent.")

    def _watch(self, seconds: float) -> NoReturn:
        retry = Retry()
        while True:
            retry.attempt(lambda: sweep(at=timezone.now()))
            until = time.monotonic() + seconds
            while (left := until - time.monotonic()) > 0:
                retry.attempt(self._send)
                time.sleep(min(SENDS_EVERY, left))

    def _send(self) -> int:
        """Send what is due; return how much was sent."""
        return sum(each.status == DeliveryStatus.SENT for each in send_due())
