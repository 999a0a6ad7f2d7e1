"""The state of test hooks: the clock, faults of the API, and settings of its behaviour.

The changes are in the database, and each process follows them before each request, so that tests of
clients also work against several processes. Without MARKETPLACE_TEST_HOOKS, nothing is read.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction

from marketplace import clock
from marketplace.models import Rehearsal

_lock = threading.Lock()
# The values that this process had before it followed a change.
_defaults: dict[str, Any] = {}


def follow() -> None:
    """Bring this process's clock and settings to what the hooks have set."""
    if settings.TEST_HOOKS:
        _apply(Rehearsal.objects.first() or Rehearsal())


def change_settings(changes: Mapping[str, Any], *, reset: bool) -> None:
    """Change settings, after a reset if asked for; raises KeyError, TypeError or ValueError."""
    with changed() as rehearsal:
        if reset:
            rehearsal.settings = {}
        for name, value in changes.items():
            _like(_defaults.get(name, getattr(settings, name, None)), name, value)
            rehearsal.settings[name] = value


def take_fault(operation: str) -> dict[str, Any] | None:
    """The fault that is due for a call of the operation, which counts as used; or None."""
    if not settings.TEST_HOOKS or not Rehearsal.objects.exclude(faults=[]).exists():
        return None
    with changed() as rehearsal:
        for fault in rehearsal.faults:
            if fault["times"] > 0 and fault["operation"] in (operation, "*"):
                fault["times"] -= 1
                return dict(fault)
    return None


@contextmanager
def changed() -> Iterator[Rehearsal]:
    """Change what is stored in the block; this process follows at its end."""
    with transaction.atomic():
        Rehearsal.objects.get_or_create(pk=1)
        rehearsal = Rehearsal.objects.select_for_update().get(pk=1)
        yield rehearsal
        rehearsal.save()
    _apply(rehearsal)


def _apply(rehearsal: Rehearsal) -> None:
    with _lock:
        clock.set_offset(rehearsal.clock_offset)
        for name in _defaults.keys() - rehearsal.settings.keys():
            setattr(settings, name, _defaults.pop(name))
        for name, value in rehearsal.settings.items():
            default = _defaults.setdefault(name, getattr(settings, name))
            setattr(settings, name, _like(default, name, value))


def _like(default: Any, name: str, value: Any) -> Any:
    """The value converted to the setting's type; raises KeyError for other settings."""
    if not name.startswith("MTURK_") or default is None:
        raise KeyError(f"{name} is no setting of Mechanical Turk's behaviour.")
    if isinstance(default, timedelta):
        return timedelta(seconds=float(value))
    if isinstance(default, Decimal):
        number = Decimal(str(value))
        int(number)  # or an error: it is NaN or infinite
        return number
    return type(default)(value)
