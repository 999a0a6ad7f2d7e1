"""The operator's pages of groups, HITs, the activity log, the ledger and payouts."""

import csv
from datetime import UTC, datetime

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q, Sum
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from marketplace import clock
from marketplace.models import (
    Account,
    Activity,
    Hit,
    HitStatus,
    HitType,
    Transfer,
    TransferKind,
    Worker,
)
from marketplace.services import payouts as services
from marketplace.spreadsheets import cell

from .access import OperatorRequest, logged, operator_required
from .pages import newest_first
from .wording import told

MOST_PAYOUTS = 50


@require_GET
@operator_required
def groups(request: OperatorRequest) -> HttpResponse:
    """List the groups of HITs by title, with their requesters and the state of their HITs."""
    search = request.GET.get("q", "").strip()[:100]
    found = HitType.objects.select_related("requester")
    if search:
        found = found.filter(
            Q(public_id=search.upper())
            | Q(group_id=search.upper())
            | Q(title__icontains=search)
            | Q(requester__name__icontains=search)
        )
    page = newest_first(request, found)
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
    context = {"page": page, "rows": rows, "search": search, "site": settings.MARKETPLACE_URL}
    return render(request, "marketplace/operator/groups.html", context)


@require_GET
@operator_required
def hits(request: OperatorRequest) -> HttpResponse:
    """List HITs, filtered by id, title or requester, and by status."""
    search = request.GET.get("q", "").strip()[:100]
    state = request.GET.get("state", "")
    found = Hit.objects.select_related("hit_type", "requester")
    if search:
        found = found.filter(
            Q(public_id=search.upper())
            | Q(hit_type__public_id=search.upper())
            | Q(hit_type__title__icontains=search)
            | Q(requester__name__icontains=search)
        )
    if state in HitStatus.values:
        found = found.filter(status=state)
    context = {
        "page": newest_first(request, found),
        "search": search,
        "state": state,
        "states": HitStatus.values,
    }
    return render(request, "marketplace/operator/hits.html", context)


@require_GET
@operator_required
def hit(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Show a HIT with its assignments."""
    found = get_object_or_404(
        Hit.objects.select_related("hit_type", "requester"), public_id=public_id
    )
    page = newest_first(request, found.assignments.select_related("worker"))
    return render(request, "marketplace/operator/hit.html", {"hit": found, "page": page})


@require_GET
@operator_required
def activity(request: OperatorRequest) -> HttpResponse:
    """List the actions of requesters' programs and operators, including refused ones."""
    search = request.GET.get("q", "").strip()[:100]
    found = Activity.objects.all()
    if search:
        found = found.filter(
            Q(actor__icontains=search) | Q(action__icontains=search) | Q(about__icontains=search)
        )
    is_refused = request.GET.get("state") == "refused"
    if is_refused:
        found = found.exclude(refusal="")
    page = newest_first(request, found)
    context = {"page": page, "rows": told(page.rows), "search": search, "is_refused": is_refused}
    return render(request, "marketplace/operator/activity.html", context)


@require_GET
@operator_required
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


@require_GET
@operator_required
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


@require_POST
@operator_required
def pay_out(request: OperatorRequest) -> HttpResponse:
    """Pay out all outstanding balances."""
    at = clock.now()
    with logged(request, "created a payout", at.isoformat()):
        count = services.pay_out(at=at)
    if count:
        messages.success(request, f"Payout to {count} workers created. Download its CSV.")
    else:
        messages.error(request, "No worker has a balance. No payout was created.")
    return redirect("operator:money")


@require_GET
@operator_required
def payout_csv(_request: OperatorRequest, made_at: str) -> HttpResponse:
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
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    name = f"payout-{moment:%Y-%m-%dT%H%M%S}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    writer = csv.writer(response)
    writer.writerow(["worker_id", "name", "country", "amount", "currency", "made_at"])
    for worker in Worker.objects.filter(pk__in=amounts).order_by("pk").iterator():
        writer.writerow(
            [worker.public_id, cell(worker.name), worker.country, amounts[worker.pk], "USD",
             moment.isoformat()]
        )  # fmt: skip
    return response
