"""Pages and CSV files of a worker's earnings, in total and by month."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncMonth
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from marketplace.models import REVEALED, AssignmentStatus, Transfer, TransferKind, Worker
from marketplace.pages.decorators import WorkerRequest, worker_required
from marketplace.pages.hits import sharing_a_title
from marketplace.services.money import balances, with_rewards
from shared.tables import csv_download, csv_lines

PAGE_SIZE = 50
PAID_KINDS = [TransferKind.REWARD, TransferKind.BONUS]
STATEMENT_KINDS = [*PAID_KINDS, TransferKind.PAYOUT]
COLUMNS = ["date", "kind", "requester", "title", "amount"]


@require_GET
@worker_required
def earnings(request: WorkerRequest) -> HttpResponse:
    """Show earnings, outstanding payouts, and rejections with their reasons."""
    worker = request.worker
    due = balances(Worker.objects.filter(pk=worker.pk)).get(worker.pk, Decimal())
    totals = {**_totals(worker.transfers.all()), "due": due}
    work = worker.assignments.filter(status__in=REVEALED).select_related("hit__hit_type__requester")
    counts = work.aggregate(
        approved=Count("pk", filter=Q(status=AssignmentStatus.APPROVED)),
        submitted=Count("pk", filter=Q(status=AssignmentStatus.SUBMITTED)),
        rejected=Count("pk", filter=Q(status=AssignmentStatus.REJECTED)),
        pending=Sum(
            "hit__hit_type__reward", filter=Q(status=AssignmentStatus.SUBMITTED), default=0
        ),
    )
    rows = with_rewards(work).order_by("-submitted_at", "-pk")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "totals": totals,
        "counts": counts,
        "months": _months(worker),
        "page": page,
        "shared": sharing_a_title(assignment.hit.hit_type for assignment in page),
        "bonuses": worker.bonus_payments.select_related("hit__hit_type__requester").order_by("-pk")[
            :PAGE_SIZE
        ],
    }
    return render(request, "marketplace/earnings.html", context)


def _totals(transfers: QuerySet[Transfer]) -> dict[str, Decimal]:
    sums = transfers.filter(kind__in=STATEMENT_KINDS).aggregate(
        rewards=Sum("amount", filter=Q(kind=TransferKind.REWARD), default=0),
        bonuses=Sum("amount", filter=Q(kind=TransferKind.BONUS), default=0),
        payouts=Sum("amount", filter=Q(kind=TransferKind.PAYOUT), default=0),
    )
    return {**sums, "all": sums["rewards"] + sums["bonuses"]}


def _months(worker: Worker) -> QuerySet[Transfer, dict[str, Any]]:
    return (
        worker.transfers.filter(kind__in=PAID_KINDS)
        .annotate(month=TruncMonth("made_at", tzinfo=UTC))
        .values("month")
        .annotate(total=Sum("amount"))
        .order_by("-month")
    )


@dataclass(frozen=True)
class Month:
    """One calendar month in UTC."""

    start: datetime
    end: datetime

    @classmethod
    def of(cls, year: int, month: int) -> "Month":
        """The month; raises Http404 if it is invalid."""
        if not (1 <= month <= 12 and 2000 <= year < 9999):
            raise Http404("Month not found.")
        start = datetime(year, month, 1, tzinfo=UTC)
        return cls(start, datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC))


def _transfers(worker: Worker, month: Month) -> QuerySet[Transfer]:
    return (
        worker.transfers.filter(
            kind__in=STATEMENT_KINDS, made_at__gte=month.start, made_at__lt=month.end
        )
        .select_related("requester", "hit__hit_type", "assignment")
        .order_by("made_at", "pk")
    )


@require_GET
@worker_required
def statement(request: WorkerRequest, year: int, month: int) -> HttpResponse:
    span = Month.of(year, month)
    rows = _transfers(request.worker, span)
    context = {
        "month": span.start,
        "totals": _totals(rows.order_by()),
        "page": Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page")),
    }
    return render(request, "marketplace/statement.html", context)


@require_GET
@worker_required
def statement_csv(request: WorkerRequest, year: int, month: int) -> StreamingHttpResponse:
    rows = _transfers(request.worker, Month.of(year, month))
    lines = csv_lines(COLUMNS, map(_row, rows.iterator()))
    return csv_download(f"earnings-{year:04}-{month:02}", lines)


def _row(transfer: Transfer) -> list[object]:
    """The values of COLUMNS."""
    requester = transfer.requester.name if transfer.requester else ""
    title = transfer.hit.hit_type.title if transfer.hit else ""
    # A payout reduces the balance.
    amount = -transfer.amount if transfer.kind == TransferKind.PAYOUT else transfer.amount
    return [transfer.made_at.isoformat(), transfer.kind, requester, title, amount]
