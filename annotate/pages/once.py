"""Forms that are carried out once, also if the browser posts them twice.

A double click, or a page that is loaded again, posts a form a second time. A view with `@once`
takes the key in the form's hidden field (`{% form_key %}`), and its answer to the second post leads
where the first one led.
"""

import hashlib
from collections.abc import Callable
from functools import wraps
from time import sleep
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from annotate.models import IdempotencyKey
from annotate.pages.signed_in import user_of
from annotate.services.idempotency import KeyReused, keep_answer, take_key

FIELD = "form_key"
TWICE = "This form was sent twice."
View = Callable[..., HttpResponseBase]
# How long the second post waits for the answer to the first one, in seconds.
PATIENCE, PAUSE = 5.0, 0.1


def once(*, unseen: str = "") -> Callable[[View], View]:
    """For a view: carry out a posted form once. Forms without a key are carried out each time.

    `unseen` says what to do if the first answer showed something that a second one cannot show.
    """

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            key = request.POST.get(FIELD) if request.method == "POST" else None
            if key is None:
                return view(request, *args, **kwargs)
            try:
                taken, is_new = _take(request, key)
            except (ValueError, KeyReused):
                return _refused(request, "The form's key is wrong. Load the page again.", 400)
            if not is_new:
                return _answered_before(request, taken, unseen)
            return _carried_out(taken, lambda: view(request, *args, **kwargs))

        return guarded

    return guard


def _take(request: HttpRequest, key: str) -> tuple[IdempotencyKey, bool]:
    """Take the key; raises ValueError if it is none, and KeyReused if another form has it."""
    digest = hashlib.sha256(request.path.encode()).hexdigest()
    key = f"form {UUID(key)}"
    return take_key(user=user_of(request), key=key, digest=digest, at=timezone.now())


def _carried_out(taken: IdempotencyKey, view: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """The view's answer. The key is free again if the form was refused."""
    try:
        answer = view()
    except BaseException:
        taken.delete()
        raise
    if answer.status_code >= 400:
        taken.delete()
    else:
        # A page may show a secret, so only the address that an answer leads to is stored.
        keep_answer(taken=taken, status=answer.status_code, body=answer.get("Location", ""))
    return answer


def _answered_before(request: HttpRequest, taken: IdempotencyKey, unseen: str) -> HttpResponse:
    """Lead to where the first answer led, or say that the form was sent twice."""
    for _ in range(round(PATIENCE / PAUSE)):
        if taken.status is not None:
            break
        sleep(PAUSE)
        found = IdempotencyKey.objects.filter(pk=taken.pk).first()
        if found is None:
            return _refused(request, f"{TWICE} It was refused. Go back to see why.")
        taken = found
    if taken.body:
        return redirect(taken.body)
    if taken.status is None:
        return _refused(request, f"{TWICE} It is still being carried out.")
    return _refused(request, f"{TWICE} It was carried out once. {unseen}".strip())


def _refused(request: HttpRequest, message: str, status: int = 409) -> HttpResponse:
    problem = {"title": "Form not accepted", "message": message}
    return render(request, "annotate/error.html", problem, status=status)
