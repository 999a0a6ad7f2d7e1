"""Notify: send the messages that people have written to workers."""

from django.utils import timezone

from hits.models import MessageStatus, WorkerMessage
from hits.mturk.client import MarketplaceError
from hits.reconcile.run import MESSAGE_NAME, Run
from hits.services.messages import put_back, record_sent, take_recipients


def notify(run: Run) -> None:
    """Send each planned message, to a hundred workers with a call."""
    waiting = WorkerMessage.objects.filter(
        campaign=run.campaign, recipients__status=MessageStatus.PLANNED
    ).distinct()
    for message in run.healthy_first(waiting.order_by("pk"), MESSAGE_NAME):
        with run.alone(MESSAGE_NAME(message)):
            _send(run, message)


def _send(run: Run, message: WorkerMessage) -> None:
    while recipients := take_recipients(message=message):
        try:
            not_reached = run.marketplace.notify(
                worker_ids=[one.account.marketplace_id for one in recipients],
                subject=message.subject,
                text=message.text,
            )
        except MarketplaceError as error:
            if error.is_refusal:
                put_back(recipients=recipients)
            raise
        record_sent(recipients=recipients, not_reached=not_reached, at=timezone.now())
