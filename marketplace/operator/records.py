"""The operator's overview, and pages of requesters, groups, HITs, the activity log, the ledger and
payouts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Sum
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse

from marketplace import clock
from marketplace.models import (
    Account,
    Activity,
    Assignment,
    Hit,
    HitStatus,
    HitType,
    QualificationType,
    Requester,
    Transfer,
    TransferKind,
    Worker,
)
from marketplace.operator.base import (
    OperatorRequest,
    form_page,
    found_in,
    logged,
    logged_with_message,
    newest_first,
    operator_page,
    search_of,
)
from marketplace.operator.forms import MoneyForm, RequesterForm
from marketplace.services import money as services
from marketplace.services import operators
from shared.tables import csv_download, csv_lines

MOST_PAYOUTS = 50


@operator_page("GET")
def overview(request: OperatorRequest) -> HttpResponse:
    """Show the numbers of requesters, workers, HITs and other rows."""
    funds = Requester.objects.aggregate(
        available=Sum("available_balance", default=0), held=Sum("held_balance", default=0)
    )
    context = {
        "requesters": Requester.objects.count(),
        "workers": Worker.objects.count(),
        "suspended": Worker.objects.filter(is_suspended=True, erased_at=None).count(),
        "open_hits": Hit.objects.filter(status=HitStatus.ASSIGNABLE).count(),
        "unreviewed": Hit.objects.undisposed().aggregate(n=Sum("unreviewed", default=0))["n"],
        "owed": sum(services.balances().values()),
        **funds,
    }
    return render(request, "marketplace/operator/overview.html", context)


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


@operator_page("GET")
def groups(request: OperatorRequest) -> HttpResponse:
    """List the groups of HITs by title, with their requesters and the state of their HITs. Finished
    ones are listed if they are asked for."""
    search = search_of(request)
    hit_types = HitType.objects.select_related("requester")
    is_all = bool(search) or request.GET.get("state") == "all"
    if not is_all:
        hit_types = hit_types.under_way()
    if search:
        ids = ("public_id", "group_id")
        hit_types = hit_types.filter(
            found_in(search, "title", "campaign", "requester__name", ids=ids)
        )
    page = newest_first(request, hit_types)
    counts = (
        Hit.objects.undisposed()
        .filter(hit_type__in=page.rows)
        .order_by()
        .values("hit_type")
        .annotate(
            hits=Count("pk"),
            available=Sum("available"),
            pending=Sum("pending"),
            unreviewed=Sum("unreviewed"),
            completed=Sum("completed"),
        )
    )
    by_group = {row["hit_type"]: row for row in counts}
    rows = [(group, by_group.get(group.pk)) for group in page.rows]
    context = {
        "page": page,
        "rows": rows,
        "search": search,
        "site": settings.MARKETPLACE_URL,
        "is_all": is_all,
    }
    return render(request, "marketplace/operator/groups.html", context)


@operator_page("GET")
def hits(request: OperatorRequest) -> HttpResponse:
    """List HITs, filtered by id, title or requester, and by status."""
    search = search_of(request)
    state = request.GET.get("state", "")
    hits = Hit.objects.select_related("hit_type", "requester")
    if search:
        names = ("hit_type__title", "hit_type__campaign", "requester__name")
        hits = hits.filter(found_in(search, *names, ids=("public_id", "hit_type__public_id")))
    if state in HitStatus.values:
        hits = hits.filter(status=state)
    context = {
        "page": newest_first(request, hits),
        "search": search,
        "state": state,
        "states": HitStatus.values,
    }
    return render(request, "marketplace/operator/hits.html", context)


@operator_page("GET")
def hit(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Show a HIT with its assignments."""
    hit = get_object_or_404(
        Hit.objects.select_related("hit_type", "requester"), public_id=public_id
    )
    page = newest_first(request, hit.assignments.select_related("worker"))
    return render(request, "marketplace/operator/hit.html", {"hit": hit, "page": page})


@operator_page("GET")
def activity(request: OperatorRequest) -> HttpResponse:
    """List the actions of requesters' programs and operators, including refused ones."""
    search = search_of(request)
    activities = Activity.objects.all()
    if search:
        activities = activities.filter(found_in(search, "actor", "action", "about"))
    is_refused = request.GET.get("state") == "refused"
    if is_refused:
        activities = activities.exclude(refusal="")
    page = newest_first(request, activities)
    context = {"page": page, "rows": told(page.rows), "search": search, "is_refused": is_refused}
    return render(request, "marketplace/operator/activity.html", context)


@operator_page("GET")
def money(request: OperatorRequest) -> HttpResponse:
    """Show the ledger's totals by kind, the outstanding amount, and past payouts."""
    kinds = (
        Transfer.objects.order_by().values("kind").annotate(count=Count("pk"), sum=Sum("amount"))
    )
    due = services.balances()
    made = (
        Transfer.objects.filter(kind=TransferKind.PAYOUT)
        .values("made_at")
        .annotate(workers=Count("pk"), sum=Sum("amount"))
        .order_by("-made_at")[:MOST_PAYOUTS]
    )
    context = {
        "kinds": sorted(kinds, key=lambda row: row["kind"]),
        "owed": sum(due.values()),
        "owed_to": len(due),
        "payouts": made,
    }
    return render(request, "marketplace/operator/money.html", context)


@operator_page("GET")
def ledger(request: OperatorRequest) -> HttpResponse:
    """List all transfers, newest first."""
    rows = Transfer.objects.select_related("requester", "worker", "hit")
    if request.GET.get("kind") in TransferKind.values:
        rows = rows.filter(kind=request.GET["kind"])
    context = {
        "page": newest_first(request, rows),
        "kind": request.GET.get("kind", ""),
        "kinds": TransferKind.values,
        "accounts": Account.values,
    }
    return render(request, "marketplace/operator/ledger.html", context)


@operator_page("POST")
def pay_out(request: OperatorRequest) -> HttpResponse:
    """Pay out all outstanding balances."""
    at = clock.now()
    with logged(request, "created a payout", at.isoformat(timespec="minutes")):
        count = services.pay_out(at=at)
    if count:
        messages.success(
            request, f"Payout to {count} worker{pluralize(count)} created. Download its CSV."
        )
    else:
        messages.error(request, "No worker has a balance. No payout was created.")
    return redirect("operator:money")


@operator_page("GET")
def payout_csv(_request: OperatorRequest, made_at: str) -> StreamingHttpResponse:
    """Download a payout as CSV: worker, name, amount."""
    try:
        # Our times have a zone. A time near year 9999 may overflow in UTC.
        moment = datetime.fromisoformat(made_at)
        is_ours = moment.tzinfo is not None and moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Http404("There is no such payout.") from error
    if not is_ours:
        raise Http404("There is no such payout.")
    rows = Transfer.objects.filter(kind=TransferKind.PAYOUT, made_at=moment)
    amounts = dict(rows.values_list("worker", "amount"))
    if not amounts:
        raise Http404("There is no such payout.")
    head = ["worker_id", "name", "country", "amount", "currency", "made_at"]
    paid = (
        (
            worker.public_id,
            worker.name,
            worker.country,
            amounts[worker.pk],
            "USD",
            moment.isoformat(),
        )
        for worker in Worker.objects.filter(pk__in=amounts).order_by("pk").iterator()
    )
    return csv_download(f"payout-{moment:%Y-%m-%dT%H%M%S}", csv_lines(head, paid))


# What a call of the API does, after the requester's name. The operators' actions are words already.
WORDS = {
    "AcceptQualificationRequest": "granted a requested qualification",
    "ApproveAssignment": "approved an assignment",
    "AssociateQualificationWithWorker": "gave a worker a qualification",
    "CreateAdditionalAssignmentsForHIT": "added assignments to a HIT",
    "CreateHIT": "created a HIT",
    "CreateHITType": "created a group of HITs",
    "CreateHITWithHITType": "created a HIT",
    "CreateQualificationType": "created a qualification type",
    "CreateWorkerBlock": "blocked a worker",
    "DeleteHIT": "deleted a HIT",
    "DeleteQualificationType": "deleted a qualification type",
    "DeleteWorkerBlock": "ended a worker's block",
    "DisassociateQualificationFromWorker": "took a qualification from a worker",
    "NotifyWorkers": "sent a message to workers",
    "RejectAssignment": "rejected an assignment",
    "RejectQualificationRequest": "refused a requested qualification",
    "SendBonus": "paid a bonus",
    "SendTestEventNotification": "sent a test notification",
    "UpdateExpirationForHIT": "changed when a HIT expires",
    "UpdateHITReviewStatus": "changed whether a HIT is being reviewed",
    "UpdateHITTypeOfHIT": "moved a HIT to another group",
    "UpdateNotificationSettings": "changed the notifications of a group",
    "UpdateQualificationType": "changed a qualification type",
}


@dataclass(frozen=True)
class Thing:
    """What an entry is about: its name, and the address of its page if it has one."""

    name: str
    url: str = ""


@dataclass(frozen=True)
class Entry:
    row: Activity
    words: str
    about: Thing


def told(rows: Sequence[Activity]) -> list[Entry]:
    """The rows in words, with as many queries for any number of rows."""
    things = _things({row.about for row in rows})
    return [
        Entry(row, WORDS.get(row.action, row.action), things.get(row.about, Thing(row.about)))
        for row in rows
    ]


def _things(ids: set[str]) -> dict[str, Thing]:
    things: dict[str, Thing] = {}
    for hit in Hit.objects.filter(public_id__in=ids).select_related("hit_type").defer("question"):
        things[hit.public_id] = Thing(hit.hit_type.title, _hit_url(hit))
    for assignment in Assignment.objects.filter(public_id__in=ids).select_related("hit__hit_type"):
        title = assignment.hit.hit_type.title
        things[assignment.public_id] = Thing(title, _hit_url(assignment.hit))
    for group in HitType.objects.filter(public_id__in=ids):
        url = f"{reverse('operator:groups')}?q={group.public_id}"
        things[group.public_id] = Thing(group.title, url)
    for worker in Worker.objects.filter(public_id__in=ids):
        url = reverse("operator:worker", args=[worker.public_id])
        things[worker.public_id] = Thing(worker.name, url)
    for kind in QualificationType.objects.filter(public_id__in=ids):
        things[kind.public_id] = Thing(kind.name)
    return things


def _hit_url(hit: Hit) -> str:
    return reverse("operator:hit", args=[hit.public_id])
