"""The API's view: dispatch a request to its operation and return the result as JSON."""

import json
import logging
import uuid
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from prometheus_client import Counter

from marketplace import clock
from marketplace.api import hooks, shapes
from marketplace.api.calls import Call
from marketplace.api.errors import (
    ApiError,
    SerializationError,
    ServiceFault,
    Throttled,
    UnknownOperation,
    from_domain,
)
from marketplace.api.operations import HANDLERS
from marketplace.api.signing import authenticate, count_call
from marketplace.api.validation import operation as operation_model
from marketplace.api.validation import service, validate
from marketplace.errors import DomainError
from marketplace.services.operators import noted
from marketplace.services.sweep import is_swept_by_the_clock, sweep

logger = logging.getLogger(__name__)
# Operations that must not be possible even a moment after a deadline: an assignment that was due
# for approval cannot be rejected.
DECIDE_BEFORE_A_DEADLINE = {"RejectAssignment"}
CONTENT_TYPE = "application/x-amz-json-1.1"
CALLS = Counter("api_calls", "Calls of the Requester API", ["operation", "outcome"])


def api(request: HttpRequest) -> HttpResponse:
    """Handle one call of the Requester API; every response is JSON."""
    response, outcome = _outcome(request)
    name = request.headers.get("X-Amz-Target", "").rpartition(".")[2]
    CALLS.labels(name if name in HANDLERS else "(none)", outcome).inc()
    return response


def _outcome(request: HttpRequest) -> tuple[HttpResponse, str]:
    """The response, and what became of the call, for the metrics."""
    failure: ApiError
    try:
        return _answer(_handle(request), 200), "answered"
    except ApiError as error:
        failure, outcome = error, "throttled" if isinstance(error, Throttled) else "refused"
    except DomainError as error:
        failure, outcome = from_domain(error), "refused"
    except OperationalError:
        # Waiting for a lock timed out. Nothing was changed, so the client may retry.
        logger.warning("The database was too busy for a call of the API.", exc_info=True)
        failure, outcome = Throttled("Rate exceeded"), "throttled"
    except Exception:
        logger.exception("A call of the API failed.")
        failure, outcome = ServiceFault("The marketplace could not answer. Try again."), "failed"
    return _answer(failure.body(clock.now()), failure.status), outcome


def _handle(request: HttpRequest) -> dict[str, Any]:
    name = _operation_name(request)
    body = _body(request)
    # Signatures and limits use real time, even if the marketplace's clock is set.
    now = timezone.now()
    requester = authenticate(request, at=now)
    count_call(requester, at=now)
    model = operation_model(name)
    params = validate(model.input_shape, body)
    at = clock.now()
    if name in DECIDE_BEFORE_A_DEADLINE or not is_swept_by_the_clock():
        sweep(at=at, requester=requester)
    call = Call(requester=requester, params=params, at=at, operation=name)
    with hooks.with_faults(name), _noted(call):
        answer = HANDLERS[name](call)
    return shapes.shaped(model.output_shape, answer)


def _noted(call: Call) -> AbstractContextManager[None]:
    """Log a call that changes something, with the first id among its parameters."""
    if call.operation.startswith(("Get", "List")):
        return nullcontext()
    about = next((str(value) for name, value in call.params.items() if name.endswith("Id")), "")
    return noted(actor=call.requester.name, action=call.operation, about=about, at=call.at)


def _operation_name(request: HttpRequest) -> str:
    prefix, _dot, name = request.headers.get("X-Amz-Target", "").partition(".")
    if prefix != service().metadata["targetPrefix"] or name not in HANDLERS:
        raise UnknownOperation(
            "The X-Amz-Target header is missing, or names no operation of this service."
        )
    if request.content_type != CONTENT_TYPE:
        raise SerializationError(f"The content type must be {CONTENT_TYPE}.")
    return name


def _body(request: HttpRequest) -> dict[str, Any]:
    try:
        body = json.loads(request.body or b"{}")
    except RequestDataTooBig as error:
        raise SerializationError("The request is too large.") from error
    except (ValueError, RecursionError) as error:
        raise SerializationError("The request is not a JSON document.") from error
    if not isinstance(body, dict):
        raise SerializationError("The request must be a JSON object.")
    return body


def _answer(body: dict[str, Any], status: int) -> HttpResponse:
    return HttpResponse(
        json.dumps(body),
        status=status,
        content_type=CONTENT_TYPE,
        headers={"x-amzn-RequestId": str(uuid.uuid4())},
    )
