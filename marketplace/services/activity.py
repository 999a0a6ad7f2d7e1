"""The log of what requesters' programs and operators do."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError

from marketplace.models import Activity

logger = logging.getLogger(__name__)
# So much is deleted in one go, so that nobody waits long for it.
BATCH = 500


@contextmanager
def noted(*, actor: str, action: str, about: str, at: datetime) -> Iterator[None]:
    """Write down what the block does, or why it was refused; the refusal goes on its way."""
    refusal = ""
    try:
        yield
    except Exception as error:
        refusal = str(getattr(error, "code", "") or type(error).__name__)
        raise
    finally:
        _write(actor=actor, action=action, about=about[:200], refusal=refusal[:80], at=at)


def forget_old_activity(*, at: datetime) -> int:
    """Delete some of what is older than is kept; returns how much there was."""
    old = Activity.objects.filter(happened_at__lte=at - settings.ACTIVITY_KEPT)
    some = list(old.order_by("happened_at").values_list("pk", flat=True)[:BATCH])
    return Activity.objects.filter(pk__in=some).delete()[0] if some else 0


def _write(*, actor: str, action: str, about: str, refusal: str, at: datetime) -> None:
    try:
        Activity.objects.create(
            actor=actor[:160], action=action, about=about, refusal=refusal, happened_at=at
        )
    except DatabaseError:
        # What was done counts for more than its line in the log.
        logger.exception("A line of the activity log could not be written.")
