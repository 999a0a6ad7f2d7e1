"""Views under `/test/` that prepare the marketplace for a test, and the faults that they inject.

All answer with 404 unless test hooks are on.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from marketplace import clock
from marketplace.api.errors import ServiceFault, Throttled
from marketplace.errors import DomainError
from marketplace.services import rehearsals
from marketplace.services.links import sign_in_url
from marketplace.services.operators import (
    get_or_create_requester,
    get_or_create_worker,
    profile_columns,
)
from marketplace.services.sweep import sweep

KINDS = {"throttle", "fault_before", "fault_after", "delay_before", "delay_after"}


def _fault(
    *, operation: str, kind: str, times: int = 1, seconds: float = 0.0
) -> dict[str, str | float]:
    """A fault of the next calls of an operation; raises ValueError for an unknown kind."""
    if kind not in KINDS:
        raise ValueError(f"A fault's kind must be one of: {', '.join(sorted(KINDS))}.")
    return {"operation": operation, "kind": kind, "times": times, "seconds": seconds}


@contextmanager
def with_faults(operation: str) -> Iterator[None]:
    """Run a call with the fault that is due for it, before or after its effect."""
    fault = rehearsals.take_fault(operation) or {"kind": ""}
    if fault["kind"] == "throttle":
        raise Throttled("Rate exceeded")
    if fault["kind"] == "fault_before":
        raise ServiceFault("A fault was asked for, before the effect.")
    if fault["kind"] == "delay_before":
        time.sleep(fault["seconds"])
    yield
    if fault["kind"] == "fault_after":
        raise ServiceFault("A fault was asked for, after the effect.")
    if fault["kind"] == "delay_after":
        time.sleep(fault["seconds"])


Hook = Callable[[dict[str, Any]], dict[str, Any] | None]


def _hook(change: Hook) -> Callable[[HttpRequest], JsonResponse]:
    @csrf_exempt
    @require_POST
    @wraps(change)
    def view(request: HttpRequest) -> JsonResponse:
        if not settings.TEST_HOOKS:
            raise Http404
        try:
            body = json.loads(request.body or b"{}")
            if not isinstance(body, dict):
                raise TypeError("The body must be a JSON object.")
            result = change(body)
        except (TypeError, ValueError, KeyError, ArithmeticError, DomainError) as error:
            return JsonResponse({"error": str(error)}, status=400)
        return JsonResponse({"now": clock.now().timestamp(), **(result or {})})

    return view


@_hook
def set_clock(body: dict[str, Any]) -> None:
    """`{"advance_seconds": N}` advances the clock, `{"reset": true}` returns to real time."""
    seconds = None if body.get("reset") else float(body["advance_seconds"])
    with rehearsals.changed() as rehearsal:
        if seconds is None:
            rehearsal.clock_offset = timedelta()
        else:
            rehearsal.clock_offset += timedelta(seconds=seconds)
            timezone.now() + rehearsal.clock_offset  # or OverflowError
    while seconds is not None and sweep(at=clock.now()):
        pass


@_hook
def set_faults(body: dict[str, Any]) -> None:
    """`{"operation": "CreateHIT", "kind": "fault_after", "times": 2}`, or `{"clear": true}`."""
    with rehearsals.changed() as rehearsal:
        rehearsal.faults = [] if body.get("clear") else [*rehearsal.faults, _fault(**body)]


@_hook
def set_settings(body: dict[str, Any]) -> None:
    """`{"MTURK_LISTING_LAG": 5}` changes settings until `{"reset": true}`; times are in seconds."""
    reset = body.pop("reset", False)
    rehearsals.change_settings(body, reset=bool(reset))


@_hook
def make_requester(body: dict[str, Any]) -> dict[str, Any]:
    """`{"name": "lab", "balance": "10.00"}` creates a requester and returns their keys."""
    balance = None if body.get("balance") is None else Decimal(body["balance"])
    made = get_or_create_requester(name=body["name"], balance=balance, at=clock.now())
    return {"access_key": made.access_key, "secret_key": made.secret_key}


@_hook
def make_worker(body: dict[str, Any]) -> dict[str, Any]:
    """Create a worker and return the worker's id and a sign-in link.

    Body: `{"name": "ada", "country": "US", "approved": 5000, "rate": 99}`.
    """
    name = body.pop("name")
    made = get_or_create_worker(name=name, columns=profile_columns(**body), at=clock.now())
    return {"worker_id": made.public_id, "sign_in_url": sign_in_url(made)}
