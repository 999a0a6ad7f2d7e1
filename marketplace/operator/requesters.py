"""The operator's pages for signing in and requesters."""

from datetime import timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.core.signing import BadSignature
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from marketplace import clock
from marketplace.errors import DomainError, TooManyAttempts
from marketplace.models import Hit, HitStatus, Requester, Worker
from marketplace.services import operators
from marketplace.services.accounts import count_attempt
from marketplace.services.operators import noted
from marketplace.services.payouts import balances
from shared.client_addresses import client_address
from shared.hand_over import new_state, read

from .access import OperatorRequest, logged_with_message, newest_first, operator_required
from .forms import MoneyForm, RequesterForm, SignInForm

MOST_TRIES = 10
# The session's key of the state, and the page to go to, while the requester site is asked.
ASKED = "hand_over"
# Long enough to sign in there.
ASKED_FOR = timedelta(minutes=30)


@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in as an operator."""
    form = SignInForm(request.POST or None)
    problem, status = "", 200
    if form.is_valid():
        try:
            for who in (f"name:{form.cleaned_data['name']}", f"address:{client_address(request)}"):
                count_attempt(what="operator", who=who, most=MOST_TRIES, at=timezone.now())
        except TooManyAttempts as error:
            problem, status = str(error), 429
        else:
            operator = form.operator()
            if operator is not None:
                request.session.flush()
                login(request, operator)
                return redirect(_next_page(request))
            problem, status = "Wrong name, password or code.", 403
    context = {"form": form, "problem": problem, **_site(request)}
    return render(request, "marketplace/operator/sign_in.html", context, status=status)


@never_cache
@require_GET
def hand_over(request: HttpRequest) -> HttpResponse:
    """Ask the requester site who is signed in there; what is asked stays in the session."""
    if not settings.HAND_OVER_SECRET:
        return redirect("operator:sign_in")
    page, state = _next_page(request), new_state()
    if request.user.is_active and request.user.is_staff:
        return redirect(page)
    if not request.session.session_key:
        request.session.set_expiry(ASKED_FOR)
    request.session[ASKED] = [state, page]
    return redirect(f"{settings.SITE_URL}/hand-over/?{urlencode({'state': state})}")


@never_cache
@require_GET
def end_hand_over(request: HttpRequest) -> HttpResponse:
    """Sign in whom the requester site names, if this session has asked it."""
    state, page = request.session.pop(ASKED, ("", ""))
    try:
        user = read(request.GET.get("text", ""), to=settings.MARKETPLACE_URL, state=state)
        with noted(
            actor=f"user {user.name}",
            action="came from the requester site",
            about="",
            at=clock.now(),
        ):
            operator = operators.operator_of(user)
    except BadSignature:
        problem = "This link has been used, or is too old. Try again from the requester site."
    except DomainError as error:
        problem = str(error)
    else:
        request.session.flush()
        login(request, operator, backend=settings.AUTHENTICATION_BACKENDS[0])
        request.session.set_expiry(settings.HAND_OVER_SESSION_AGE)
        return redirect(page)
    context = {"form": SignInForm(), "problem": problem, **_site(request)}
    return render(request, "marketplace/operator/sign_in.html", context, status=403)


def _site(request: HttpRequest) -> dict[str, str]:
    """The link of the sign-in page to the requester site, if there is one."""
    if not settings.HAND_OVER_SECRET:
        return {}
    return {
        "hand_over": f"{reverse('operator:hand_over')}?{urlencode({'next': _next_page(request)})}"
    }


def _next_page(request: HttpRequest) -> str:
    """The operator's page that was asked for before the sign-in, or the overview."""
    page = request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(
        page, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return page
    return reverse("operator:overview")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("operator:sign_in")


@require_GET
@operator_required
def overview(request: OperatorRequest) -> HttpResponse:
    """Show the numbers of requesters, workers, HITs and other rows."""
    funds = Requester.objects.aggregate(
        available=Sum("available_balance", default=0), held=Sum("held_balance", default=0)
    )
    context = {
        "requesters": Requester.objects.count(),
        "workers": Worker.objects.count(),
        "suspended": Worker.objects.filter(is_suspended=True).count(),
        "open_hits": Hit.objects.filter(status=HitStatus.ASSIGNABLE).count(),
        "unreviewed": Hit.objects.undisposed().aggregate(n=Sum("unreviewed", default=0))["n"],
        "owed": sum(balances().values()),
        **funds,
    }
    return render(request, "marketplace/operator/overview.html", context)


@require_http_methods(["GET", "POST"])
@operator_required
def requesters(request: OperatorRequest) -> HttpResponse:
    """List the requesters; create one on POST."""
    form = RequesterForm(request.POST or None)
    if form.is_valid():
        name = form.cleaned_data["name"]
        with logged_with_message(
            request, "created a requester", name, f"Requester {name} created."
        ):
            operators.make_requester(
                name=name, balance=form.cleaned_data["balance"], at=clock.now()
            )
        return redirect("operator:requesters")
    search = request.GET.get("q", "").strip()[:100]
    found = Requester.objects.filter(name__icontains=search)
    context = {"form": form, "page": newest_first(request, found), "search": search}
    status = 400 if form.errors else 200
    return render(request, "marketplace/operator/requesters.html", context, status=status)


@require_GET
@operator_required
def requester(request: OperatorRequest, pk: int) -> HttpResponse:
    """Show a requester's keys, balances and latest transfers."""
    found = get_object_or_404(Requester, pk=pk)
    return render(
        request,
        "marketplace/operator/requester.html",
        {
            "requester": found,
            "form": MoneyForm(),
            "endpoint_url": settings.MARKETPLACE_URL,
            "transfers": found.transfers.select_related("worker", "hit").order_by("-pk")[:20],
        },
    )


@require_POST
@operator_required
def add_money(request: OperatorRequest, pk: int) -> HttpResponse:
    """Add money to a requester's balance."""
    found = get_object_or_404(Requester, pk=pk)
    form = MoneyForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Enter an amount above 0 in dollars and cents.")
        return redirect("operator:requester", pk)
    amount = form.cleaned_data["amount"]
    about = f"{found.name}: ${amount}"
    with logged_with_message(request, "paid in", about, f"${amount} added."):
        operators.add_money(requester=found, amount=amount, at=clock.now())
    return redirect("operator:requester", pk)


@require_POST
@operator_required
def replace_keys(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Requester, pk=pk)
    with logged_with_message(
        request, "replaced keys", found.name, "Keys replaced. The old keys no longer work."
    ):
        operators.replace_keys(requester=found)
    return redirect("operator:requester", pk)
