"""Behaviour counts and the device of an answer.

The counts come from the worker's browser and cannot be trusted: impossible values are left out, and
values that are too large are reduced to the maximum.
"""

import json
import math
from collections.abc import Callable, Mapping

from annotate.models import Device

LONGEST = 500  # in characters
GREATEST = 1_000_000
COUNTS: dict[str, Callable[[float], float]] = {
    "keystrokes": int,
    "pastes": int,
    "pasted_characters": int,
    "seconds_writing": float,
    "times_left": int,
}


def behaviour_field(number: int) -> str:
    """The name of the form's field with the behaviour counts for a task."""
    return f"behaviour-{number}"


def read_counts(raw: str) -> dict[str, float]:
    """The counts in the field, each from 0 to GREATEST; empty if the field is invalid."""
    try:
        given = json.loads(raw) if len(raw) <= LONGEST else None
    except (ValueError, RecursionError):
        return {}
    if not isinstance(given, dict):
        return {}
    return {
        name: min(whole(given[name]), GREATEST)
        for name, whole in COUNTS.items()
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
