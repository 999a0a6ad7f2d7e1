"""The parts of a task form besides the answer: the signed token that identifies its page instead of
a cookie, the behaviour counts, and the device.

`static/hits/behaviour.js` sends the counts, as JSON: `characters`, the characters of the text by
the way in which each came, `seconds_writing` and `times_left`. They come from the worker's browser
and cannot be trusted: impossible values are left out, and values that are too large are reduced to
the maximum.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core import signing
from django.utils.translation import gettext

from annotate.characters import WAYS
from annotate.models import Device
from corpora.errors import DomainError
from hits.services.hit_pages import FrameParameters
from hits.services.task_pages import TaskForm

SALT = "hits.task-form"


class TokenRefused(DomainError):
    """The token is forged or has expired."""


def sign_form(form: TaskForm) -> str:
    data = [
        asdict(form.frame),
        form.opened_at.timestamp(),
        form.practice,
        form.numbers,
        form.primed,
    ]
    return signing.dumps(data, salt=SALT, compress=True)


def read_form(token: str, *, max_age: timedelta) -> TaskForm:
    """The form that the token was signed for; raises TokenRefused."""
    try:
        frame, opened_at, practice, numbers, primed = signing.loads(
            token, salt=SALT, max_age=max_age
        )
        return TaskForm(
            FrameParameters(**frame),
            datetime.fromtimestamp(opened_at, UTC),
            tuple(numbers),
            tuple(primed),
            practice,
        )
    except signing.SignatureExpired as error:
        raise TokenRefused(gettext("This page is too old. Please open the task again.")) from error
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise TokenRefused(
            gettext("This form was not made by this site. Please open the task again.")
        ) from error


LONGEST = 500  # in characters
GREATEST = 1_000_000
COUNTS: dict[str, Callable[[float], float]] = {
    "seconds_writing": float,
    "times_left": int,
}


def behaviour_field(number: int) -> str:
    """The name of the form's field with the behaviour counts for a task."""
    return f"behaviour-{number}"


def read_counts(raw: str) -> dict[str, Any]:
    """The counts in the field, each from 0 to GREATEST, those of characters in their own object;
    empty if the field is invalid."""
    try:
        given = json.loads(raw) if len(raw) <= LONGEST else None
    except (ValueError, RecursionError):
        return {}
    if not isinstance(given, dict):
        return {}
    counts: dict[str, Any] = _counts(given, COUNTS)
    if isinstance(characters := given.get("characters"), dict):
        counts["characters"] = _counts(characters, dict.fromkeys(WAYS, int))
    return counts


def _counts(
    given: Mapping[str, Any], wanted: Mapping[str, Callable[[float], float]]
) -> dict[str, float]:
    return {
        name: whole(min(given[name], GREATEST))  # a whole number may be too large for a float
        for name, whole in wanted.items()
        if _is_count(given.get(name))
    }


def device_of(headers: Mapping[str, str]) -> str:
    """Phone, tablet or computer, from the client hint and the user agent; empty if unknown."""
    agent = headers.get("User-Agent", "")
    if "iPad" in agent or "Tablet" in agent or ("Android" in agent and "Mobi" not in agent):
        return Device.TABLET
    if headers.get("Sec-CH-UA-Mobile") == "?1" or "Mobi" in agent:
        return Device.PHONE
    is_computer = any(name in agent for name in ("Windows", "Macintosh", "Linux", "CrOS"))
    return Device.COMPUTER if is_computer else ""


def _is_count(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value < math.inf
