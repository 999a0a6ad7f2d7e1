"""The addresses under `/test/` that set the clock and ask for faults; 404 unless switched on."""

import json
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from marketplace import clock
from marketplace.services.sweep import sweep

from . import faults

Hook = Callable[[dict[str, Any]], None]


def _hook(change: Hook) -> Callable[[HttpRequest], JsonResponse]:
    @csrf_exempt
    @require_POST
    @wraps(change)
    def view(request: HttpRequest) -> JsonResponse:
        if not settings.TEST_HOOKS:
            raise Http404
        try:
            change(json.loads(request.body or b"{}"))
        except (TypeError, ValueError, KeyError) as error:
            return JsonResponse({"error": str(error)}, status=400)
        return JsonResponse({"now": clock.now().timestamp()})

    return view


@_hook
def set_clock(body: dict[str, Any]) -> None:
    """`{"advance_seconds": N}` moves the clock on, `{"reset": true}` brings real time back."""
    if body.get("reset"):
        clock.reset()
        return
    clock.advance(timedelta(seconds=float(body["advance_seconds"])))
    while sweep(at=clock.now()):
        pass


@_hook
def set_faults(body: dict[str, Any]) -> None:
    """`{"operation": "CreateHIT", "kind": "fault_after", "times": 2}`, or `{"clear": true}`."""
    if body.get("clear"):
        faults.clear()
        return
    faults.add(faults.Fault(**body))
