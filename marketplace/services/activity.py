"""The activity log of requesters' programs and operators."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import DatabaseError

from marketplace.models import Activity
from shared.prepared import insert

logger = logging.getLogger(__name__)


@contextmanager
def noted(*, actor: str, action: str, about: str, at: datetime) -> Iterator[None]:
    """Log the action of the block, with the error code if it raises; errors are passed on."""
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
        row = Activity(
            actor=actor[:160], action=action, about=about, refusal=refusal, happened_at=at
        )
        insert(row)
    except DatabaseError:
        # A failure to log must not undo or hide the action itself.
        logger.exception("An entry of the activity log could not be written.")
