"""The operator's pages of requesters."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from marketplace import clock
from marketplace.models import Requester
from marketplace.operator.base import (
    OperatorRequest,
    form_page,
    logged_with_message,
    newest_first,
    operator_page,
    search_of,
)
from marketplace.operator.forms import MoneyForm, RequesterForm
from marketplace.services import operators


@operator_page("GET", "POST")
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
    requesters = Requester.objects.filter(name__icontains=search)
    context = {"form": form, "page": newest_first(request, requesters), "search": search}
    return form_page(request, "requesters.html", context)


@operator_page("GET")
def requester(request: OperatorRequest, pk: int) -> HttpResponse:
    """Show a requester's keys, balances and latest transfers."""
    requester = get_object_or_404(Requester, pk=pk)
    return render(
        request,
        "marketplace/operator/requester.html",
        {
            "requester": requester,
            "form": MoneyForm(),
            "endpoint_url": settings.MARKETPLACE_URL,
            "transfers": requester.transfers.select_related("worker", "hit").order_by("-pk")[:20],
        },
    )


@operator_page("POST")
def add_money(request: OperatorRequest, pk: int) -> HttpResponse:
    requester = get_object_or_404(Requester, pk=pk)
    form = MoneyForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Enter an amount above 0 in dollars and cents.")
        return redirect("operator:requester", pk)
    amount = form.cleaned_data["amount"]
    about = f"{requester.name}: ${amount}"
    with logged_with_message(request, "paid in", about, f"${amount} added."):
        operators.add_money(requester=requester, amount=amount, at=clock.now())
    return redirect("operator:requester", pk)


@operator_page("POST")
def replace_keys(request: OperatorRequest, pk: int) -> HttpResponse:
    requester = get_object_or_404(Requester, pk=pk)
    with logged_with_message(
        request, "replaced keys", requester.name, "Keys replaced. The old keys no longer work."
    ):
        operators.replace_keys(requester=requester)
    return redirect("operator:requester", pk)
