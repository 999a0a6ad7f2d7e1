"""Idempotency keys: a program may repeat a request without the risk that it acts twice."""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import QueryDict
from django.utils import timezone
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from accounts.services.idempotency import keep_answer, take_key
from shared.database.transactions import one_transaction

HEADER = "Idempotency-Key"
LONGEST = 255
Method = Callable[..., Response]


def idempotent(method: Method) -> Method:
    """For a view's method that changes only the database: obey the header Idempotency-Key.

    The request runs in the transaction that stores its answer, so a failed one leaves nothing. Work
    that its services put off by `afterwards` follows that transaction.
    """

    @wraps(method)
    def once(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get(HEADER)
        if key is None:
            return method(view, request, *args, **kwargs)
        if not (1 <= len(key) <= LONGEST and key.isascii() and key.isprintable()):
            message = f"Use 1 to {LONGEST} printable ASCII characters."
            raise ValidationError({HEADER: [message]})
        digest = _digest(request)
        with one_transaction():
            taken, is_new = take_key(
                user=request.user,  # type: ignore[arg-type]  # Permissions refuse strangers.
                key=key,
                digest=digest,
                at=timezone.now(),
            )
            if not is_new:
                replayed = {"Idempotent-Replayed": "true"}
                assert taken.status is not None, "stored with the answer"
                return Response(json.loads(taken.body), status=taken.status, headers=replayed)
            answer = method(view, request, *args, **kwargs)
            body = JSONRenderer().render(answer.data).decode() or "null"
            keep_answer(taken=taken, status=answer.status_code, body=body)
        return answer

    once.is_idempotent = True  # type: ignore[attr-defined]  # For the schema.
    return once


def _digest(request: Request) -> str:
    """A digest of the request's method, address and body."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if not isinstance(request.data, QueryDict):
        digest.update(json.dumps(request.data, sort_keys=True).encode())
        return digest.hexdigest()
    # The boundary between the parts differs in each request.
    for name, values in sorted(request.data.lists()):
        for value in values:
            digest.update(json.dumps([name, getattr(value, "name", value)]).encode())
            for chunk in value.chunks() if hasattr(value, "chunks") else ():
                digest.update(chunk)
    return digest.hexdigest()
