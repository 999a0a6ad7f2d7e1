"""What the operator's pages share: who may open them, the log of actions, forms, searches, rows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import reduce, wraps
from operator import or_
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from marketplace import clock
from marketplace.errors import DomainError
from marketplace.pages.decorators import carried_out_once
from marketplace.services.operators import noted

Rest = ParamSpec("Rest")


class OperatorRequest(HttpRequest):
    """A request of a signed-in operator."""

    user: User


View = Callable[Concatenate[OperatorRequest, Rest], HttpResponseBase]
Guarded = Callable[Concatenate[HttpRequest, Rest], HttpResponseBase]


def operator_page(*methods: str) -> Callable[[View[Rest]], Guarded[Rest]]:
    """A view for operators that takes these methods. Redirects everybody else to the operators'
    sign-in page, which leads back.

    A form that is sent twice is carried out once. The second answer leads to where the first one
    led; if that was no other page, to this page, which lists what was made.
    """

    def decorate(view: View[Rest]) -> Guarded[Rest]:
        @require_http_methods(list(methods))
        @wraps(view)
        def wrapped(
            request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            if not (request.user.is_active and request.user.is_staff):
                if request.method == "GET":
                    return redirect_to_login(request.get_full_path(), reverse("operator:sign_in"))
                return redirect("operator:sign_in")
            response = carried_out_once(
                request,
                lambda: view(request, *args, **kwargs),  # type: ignore[arg-type]
                otherwise=request.path if "GET" in methods else "operator:activity",
                again=lambda location: _say_once(request, location),
            )
            # Keys and balances must not remain in a browser's cache.
            response.headers["Cache-Control"] = "no-store"
            return response

        return wrapped

    return decorate


def _say_once(request: HttpRequest, location: str) -> None:
    """Say that a form was sent twice, if its first answer was a page that is not shown again."""
    if location == request.path:
        messages.info(
            request,
            "This form was sent twice and carried out once. Links, keys and codes in its first "
            "answer are not shown again: if you did not see them, make new ones.",
        )


def logged(request: OperatorRequest, action: str, about: str) -> AbstractContextManager[None]:
    """Log the operator's action in the block, or the error that it raises."""
    actor = f"operator {request.user.get_username()}"
    return noted(actor=actor, action=action, about=about, at=clock.now())


@contextmanager
def logged_with_message(
    request: OperatorRequest, action: str, about: str, success: str
) -> Iterator[None]:
    """Log the action in the block and show the operator its result or refusal."""
    try:
        with logged(request, action, about):
            yield
    except DomainError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, success)


def form_page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """The page of a form; with status 400 if something is wrong in the form."""
    status = 400 if context["form"].errors else 200
    return render(request, f"marketplace/operator/{template}", context, status=status)


def all_at(request: HttpRequest, page: str) -> str:
    """The address of this page with finished groups of HITs in the form; empty if it has them."""
    return "" if request.GET.get("state") == "all" else f"{page}?state=all#id_hit_type"


def search_of(request: HttpRequest) -> str:
    """What the page's list is searched for."""
    return request.GET.get("q", "").strip()[:100]


def found_in(search: str, *names: str, ids: Sequence[str] = ()) -> Q:
    """Whether one of the fields `names` contains the text, or one of `ids` is it."""
    conditions = [Q(**{f"{name}__icontains": search}) for name in names]
    conditions += [Q(**{name: search.upper()}) for name in ids]
    return reduce(or_, conditions)


Row = TypeVar("Row", bound=Model)
SIZE = 25


@dataclass(frozen=True)
class KeyPage(Generic[Row]):
    rows: list[Row]
    # Primary key before which the next page begins; None on the last page.
    older: int | None
    is_first: bool


def newest_first(request: HttpRequest, rows: QuerySet[Row]) -> KeyPage[Row]:
    """The page before the key `before` in the URL, newest rows first.

    Every page takes the same time, and rows are not counted.
    """
    before = request.GET.get("before", "")
    is_first = not (before.isascii() and before.isdigit() and len(before) < 19)
    if not is_first:
        rows = rows.filter(pk__lt=int(before))
    newest = list(rows.order_by("-pk")[: SIZE + 1])
    page = newest[:SIZE]
    return KeyPage(page, page[-1].pk if len(newest) > SIZE else None, is_first)
