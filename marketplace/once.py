"""Forms that are carried out once, also if a double click sends them twice."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from marketplace import clock
from marketplace.models import SentForm

FIELD = "form_key"
KEPT = timedelta(days=1)


def carried_out_once(
    request: HttpRequest, view: Callable[[], HttpResponse], *, otherwise: str
) -> HttpResponse:
    """The view's answer to a form; if the form was sent before, a redirect to where that answer
    led, or to the page `otherwise` if it led nowhere or is not known yet.

    A form without a key is carried out each time. A form that was refused can be sent again.
    """
    key = _key_of(request)
    if key is None:
        return view()
    try:
        sent = _take(key)
    except IntegrityError:
        first = SentForm.objects.filter(key=key).values_list("location", flat=True).first()
        return HttpResponseRedirect(first or reverse(otherwise), status=303)
    try:
        answer = view()
    except BaseException:
        sent.delete()
        raise
    if answer.status_code >= 400:
        sent.delete()
    else:
        SentForm.objects.filter(pk=sent.pk).update(location=answer.get("Location", "")[:500])
    return answer


def _key_of(request: HttpRequest) -> UUID | None:
    """The form's key; None without one, or if it is damaged."""
    try:
        return UUID(request.POST.get(FIELD, "")) if request.method == "POST" else None
    except ValueError:
        return None


def _take(key: UUID) -> SentForm:
    """Take the key of a new form; raises IntegrityError if it is taken."""
    at = clock.now()
    SentForm.objects.filter(sent_at__lt=at - KEPT).delete()
    with transaction.atomic():
        return SentForm.objects.create(key=key, sent_at=at)
