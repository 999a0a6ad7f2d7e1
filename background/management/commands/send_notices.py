from typing import Any

from django.utils import timezone

from accounts.management.base import DomainCommand
from background.models import DeliveryStatus
from background.notices.sending import send_due
from background.notices.sweeping import sweep
from corpora.wording import counted


class Command(DomainCommand):
    help = (
        "Create new notices, and send them by e-mail and webhook. Those that could not be sent "
        "are tried again later. Several of these commands can run at the same time."
    )

    def handle(self, **_: Any) -> None:
        new = sweep(at=timezone.now())
        sent = sum(delivery.status == DeliveryStatus.SENT for delivery in send_due())
        self.stdout.write(f"{counted(new, 'new notice')}, {sent} sent.")
