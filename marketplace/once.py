"""Forms of the marketplace that are carried out once (`shared.once`)."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

import shared.once
from marketplace import clock
from marketplace.models import SentForm

KEPT = timedelta(days=1)


def carried_out_once(
    request: HttpRequest, view: Callable[[], HttpResponseBase], *, otherwise: str
) -> HttpResponseBase:
    """The view's answer to a form; if the form was sent before, a redirect to where that answer
    led, or to the page `otherwise` if it led nowhere or is not known.

    A form without a key, or with a damaged one, is carried out each time.
    """
    key = None
    with suppress(ValueError):
        key = shared.once.key_of(request)
    if key is None:
        return view()
    return shared.once.carried_out_once(KeptForm(key, reverse(otherwise)), view)


class KeptForm(shared.once.SentForm):
    """A form whose key is stored in a row of its own."""

    def __init__(self, key: UUID, otherwise: str) -> None:
        at = clock.now()
        SentForm.objects.filter(sent_at__lt=at - KEPT).delete()
        self.rows, self.otherwise = SentForm.objects.filter(key=key), otherwise
        try:
            with transaction.atomic():
                SentForm.objects.create(key=key, sent_at=at)
            self.is_new = True
        except IntegrityError:
            self.is_new = False

    def keep(self, response: HttpResponseBase) -> None:
        self.rows.update(location=response.get("Location", self.otherwise)[:500])

    def forget(self) -> None:
        self.rows.delete()

    def is_answered(self) -> bool:
        return not self.rows.filter(location="").exists()

    def second_answer(self) -> HttpResponseBase:
        location = self.rows.values_list("location", flat=True).first()
        return HttpResponseRedirect(location or self.otherwise, status=303)
