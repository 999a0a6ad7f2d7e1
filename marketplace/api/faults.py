"""Inject faults, so that clients can be tested against a failing marketplace.

Only if MARKETPLACE_TEST_HOOKS is on. Faults are kept in the memory of this process.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .errors import ServiceFault, Throttled

KINDS = {"throttle", "fault_before", "fault_after", "delay_before", "delay_after"}


@dataclass
class Fault:
    """A fault of the next calls of an operation; `*` stands for every operation."""

    operation: str
    kind: str
    times: int = 1
    seconds: float = 0.0


_lock = threading.Lock()
_faults: list[Fault] = []


def add(fault: Fault) -> None:
    """Add a fault; raises ValueError for an unknown kind."""
    if fault.kind not in KINDS:
        raise ValueError(f"A fault's kind must be one of: {', '.join(sorted(KINDS))}.")
    with _lock:
        _faults.append(fault)


def clear() -> None:
    """Remove all faults."""
    with _lock:
        _faults.clear()


def _take(operation: str) -> Fault | None:
    if not _faults:
        return None
    with _lock:
        for fault in _faults:
            if fault.times > 0 and fault.operation in (operation, "*"):
                fault.times -= 1
                return fault
    return None


@contextmanager
def around(operation: str) -> Iterator[None]:
    """Run a call with the fault that is due for it, before or after its effect."""
    fault = _take(operation)
    if fault is not None:
        if fault.kind == "throttle":
            raise Throttled("Rate exceeded")
        if fault.kind == "fault_before":
            raise ServiceFault("A fault was asked for, before the effect.")
        if fault.kind == "delay_before":
            time.sleep(fault.seconds)
    yield
    if fault is not None:
        if fault.kind == "fault_after":
            raise ServiceFault("A fault was asked for, after the effect.")
        if fault.kind == "delay_after":
            time.sleep(fault.seconds)
