"""Forms of signed-in users that are carried out once (`shared.once`)."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from accounts.models import IdempotencyKey
from accounts.pages.signed_in import user_of
from accounts.services.idempotency import keep_answer, take_key
from shared.once import SentForm, carried_out_once, key_of
from shared.requests import refusal

NOT_ACCEPTED = "Form not accepted"
View = Callable[..., HttpResponseBase]


def once(*, unseen: str = "") -> Callable[[View], View]:
    """For a view: carry out a posted form once. Forms without a key are carried out each time.

    `unseen` says what to do if the first answer showed something that a second one cannot show.
    """

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                form = _sent(request, unseen)
            except ValueError:
                message = "The form's key is wrong. Load the page again."
                return refusal(request, 400, NOT_ACCEPTED, message)
            if form is None:
                return view(request, *args, **kwargs)
            return carried_out_once(form, lambda: view(request, *args, **kwargs))

        return guarded

    return guard


def _sent(request: HttpRequest, unseen: str) -> "UsersForm | None":
    """The form, if it has a key; raises ValueError for a damaged key."""
    key = key_of(request)
    if key is None:
        return None
    row, is_new = take_key(user=user_of(request), key=f"form {key}", digest="", at=timezone.now())
    return UsersForm(request, row, is_new=is_new, unseen=unseen)


class UsersForm(SentForm):
    """A form whose key is one of the user's idempotency keys."""

    def __init__(
        self, request: HttpRequest, row: IdempotencyKey, *, is_new: bool, unseen: str
    ) -> None:
        self.request, self.row, self.is_new, self.unseen = request, row, is_new, unseen

    def keep(self, response: HttpResponseBase) -> None:
        # A page may show a secret, so only the address that an answer leads to is stored.
        keep_answer(taken=self.row, status=response.status_code, body=response.get("Location", ""))

    def forget(self) -> None:
        self.row.delete()

    def is_answered(self) -> bool:
        row = IdempotencyKey.objects.filter(pk=self.row.pk).first()
        self.row = row or IdempotencyKey()
        return row is None or row.status is not None

    def second_answer(self) -> HttpResponseBase:
        """Lead to where the first answer led, or say that the form was sent twice."""
        if self.row.body:
            return redirect(self.row.body)
        if self.row.pk is None:
            said = "It was refused. Go back to see why."
        elif self.row.status is None:
            said = "It is still being carried out."
        else:
            said = f"It was carried out once. {self.unseen}"
        return refusal(self.request, 409, NOT_ACCEPTED, f"This form was sent twice. {said}".strip())
