"""The operator's pages of requesters, and the overview."""

from django.conf import settings
from django.contrib import messages
from django.db.models import Sum
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from marketplace import clock
from marketplace.models import Hit, HitStatus, Requester, Worker
from marketplace.operator.access import (
    OperatorRequest,
    form_page,
    get_or_post,
    logged_with_message,
    newest_first,
    operator_required,
    search_of,
)
from marketplace.operator.forms import MoneyForm, RequesterForm
from marketplace.services import operators
from marketplace.services.money import balances


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


@get_or_post
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
    search = search_of(request)
    found = Requester.objects.filter(name__icontains=search)
    context = {"form": form, "page": newest_first(request, found), "search": search}
    return form_page(request, "requesters.html", context)


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
