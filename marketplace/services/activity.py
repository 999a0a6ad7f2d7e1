"""The log of what requesters' programs and operators do."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import DatabaseError

from marketplace.models import Activity

logger = logging.getLogger(__name__)


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


def _write(*, actor: str, action: str, about: str, refusal: str, at: datetime) -> None:
    try:
        Activity.objects.create(
            actor=actor[:160], action=action, about=about, refusal=refusal, happened_at=at
        )
    except DatabaseError:
        # What was done counts for more than its line in the log.
        logger.exception("An entry of the activity log could not be written.")
