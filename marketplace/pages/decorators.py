"""Decorators that restrict pages to those who may open them, and what comes after a form."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID, uuid5

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

import shared.once
from marketplace import clock
from marketplace.models import SentForm, Worker
from marketplace.pages.problems import outside_study
from marketplace.pages.sessions import Scope, in_language_of, scope_of

get_or_post = require_http_methods(["GET", "HEAD", "POST"])
Rest = ParamSpec("Rest")
LONGEST_ADDRESS = 2000
# Where a member of a group finds what these pages of workers show. Every other page leads home.
MEMBERS_PAGES = {
    "assignment": "people_task",
    "earnings": "people_done",
    "messages": "people_messages",
    "profile": "people_account",
}


def see_other(target: Any, *args: object) -> HttpResponse:
    """Lead on after a form, always by GET: to an object, a page with this name, or an address."""
    return HttpResponseRedirect(resolve_url(target, *args), status=303)


class WorkerRequest(HttpRequest):
    """A request that one of the decorators below has let in."""

    scope: Scope
    worker: Worker


View = Callable[Concatenate[WorkerRequest, Rest], HttpResponseBase]
Guarded = Callable[Concatenate[HttpRequest, Rest], HttpResponseBase]


def _for(lets_in: Callable[[Scope], bool]) -> Callable[[View[Rest]], Guarded[Rest]]:
    """A decorator of pages for sessions with such a scope, in their language.

    Leads visitors to the sign-in page, and members of groups and workers to their own pages.
    Participants of studies get a 404.
    """

    def decorate(view: View[Rest]) -> Guarded[Rest]:
        @wraps(view)
        def wrapped(
            request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            scope = scope_of(request)
            if scope is None:
                return to_sign_in(request)
            with in_language_of(scope.worker, scope.participation):
                if lets_in(scope):
                    request.scope = scope  # type: ignore[attr-defined]
                    return view(request, *args, **kwargs)  # type: ignore[arg-type]
                if scope.worker.is_member:
                    return to_members_page(request)
                if scope.participation is not None:
                    return outside_study(request, scope.participation.study)
                return redirect("groups")

        return wrapped

    return decorate


worker_required = _for(lambda scope: scope.participation is None and not scope.worker.is_member)
member_required = _for(lambda scope: scope.worker.is_member)
# Workers and members of groups: both have accounts.
account_required = _for(lambda scope: scope.participation is None)
# Workers and participants. The view must limit itself to `request.scope`.
scope_required = _for(lambda scope: not scope.worker.is_member)


def to_members_page(request: HttpRequest) -> HttpResponse:
    """Redirect a member from a page of workers to their own page with the same contents."""
    match = request.resolver_match
    name = MEMBERS_PAGES.get(match.url_name or "", "") if match else ""
    if request.method not in ("GET", "HEAD") or match is None or not name:
        return see_other("people_home")
    page: HttpResponse = redirect(name, **match.kwargs)
    return page


def to_sign_in(request: HttpRequest) -> HttpResponse:
    # Only pages requested with GET can be opened again after signing in.
    wanted = request.get_full_path() if request.method == "GET" else ""
    if len(wanted) > LONGEST_ADDRESS:
        wanted = ""
    query = f"?{urlencode({'next': wanted})}" if wanted not in ("", "/") else ""
    return redirect(reverse("sign_in") + query)


def carried_out_once(
    request: HttpRequest,
    view: Callable[[], HttpResponseBase],
    *,
    otherwise: str,
    again: Callable[[str], None] = lambda _location: None,
    is_over: Callable[[str], bool] = lambda _location: False,
) -> HttpResponseBase:
    """The view's answer to a form; if the form was sent before, a redirect to where that answer
    led, or to the page `otherwise` if it led nowhere or is not known. `again` is called with this
    address before the redirect if the form is known to have been carried out.

    A form without a key, or with a damaged one, is carried out each time; a form that led to what
    `is_over`, once more.
    """
    key = None
    with suppress(ValueError):
        key = shared.once.key_of(request)
    if key is None:
        return view()
    form = KeptForm(key, resolve_url(otherwise), again)
    while not form.is_new and (location := form.location()) and is_over(location):
        key = uuid5(key, location)
        form = KeptForm(key, resolve_url(otherwise), again)
    return shared.once.carried_out_once(form, view)


def once(*, otherwise: str) -> Callable[[View[Rest]], View[Rest]]:
    """A decorator of views whose form is `carried_out_once`."""

    def decorate(view: View[Rest]) -> View[Rest]:
        @wraps(view)
        def wrapped(
            request: WorkerRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            return carried_out_once(
                request, lambda: view(request, *args, **kwargs), otherwise=otherwise
            )

        return wrapped

    return decorate


class KeptForm(shared.once.SentForm):
    """A form whose key is stored in its own row."""

    def __init__(self, key: UUID, otherwise: str, again: Callable[[str], None]) -> None:
        self.again = again
        self.rows, self.otherwise = SentForm.objects.filter(key=key), otherwise
        try:
            with transaction.atomic():
                SentForm.objects.create(key=key, sent_at=clock.now())
            self.is_new = True
        except IntegrityError:
            self.is_new = False

    def keep(self, response: HttpResponseBase) -> None:
        self.rows.update(location=response.get("Location", self.otherwise)[:500])

    def forget(self) -> None:
        self.rows.delete()

    def is_answered(self) -> bool:
        return not self.rows.filter(location="").exists()

    def location(self) -> str:
        """Where the first answer led; empty if it is not known yet."""
        return self.rows.values_list("location", flat=True).first() or ""

    def second_answer(self) -> HttpResponseBase:
        location = self.location()
        if location:
            self.again(location)
        return see_other(location or self.otherwise)
