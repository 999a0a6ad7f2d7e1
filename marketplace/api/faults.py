"""Inject faults, so that clients can be tested against a failing marketplace.

Only if MARKETPLACE_TEST_HOOKS is on.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from marketplace.services import rehearsals

from .errors import ServiceFault, Throttled

KINDS = {"throttle", "fault_before", "fault_after", "delay_before", "delay_after"}


@dataclass(frozen=True)
class Fault:
    """A fault of the next calls of an operation; `*` stands for every operation."""

    operation: str
    kind: str
    times: int = 1
    seconds: float = 0.0


def add(fault: Fault) -> None:
    """Add a fault; raises ValueError for an unknown kind."""
    if fault.kind not in KINDS:
        raise ValueError(f"A fault's kind must be one of: {', '.join(sorted(KINDS))}.")
    rehearsals.add_fault(asdict(fault))


def _take(operation: str) -> Fault | None:
    found = rehearsals.take_fault(operation)
    return None if found is None else Fault(**found)


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
