"""Bonuses: the payments of a campaign beyond its rewards."""

from decimal import Decimal
from typing import Any

import django_filters
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.filters import Filters
from annotate.api.idempotency import idempotent
from annotate.api.lookups import CampaignRows
from annotate.models import Right
from hits.models import Assignment, Bonus
from hits.services.bonuses import MOST, BonusNotPossible, plan_bonus
from qualcontrol.queries.quality_report import known_workers


class BonusSerializer(serializers.ModelSerializer[Bonus]):
    """A bonus: planned, and sent by the next sync."""

    worker = serializers.CharField(source="assignment.account.worker.pseudonym", read_only=True)

    class Meta:
        model = Bonus
        fields = ["id", "worker", "amount", "fee", "reason", "planned_at", "sent_at"]


class NewBonusSerializer(serializers.Serializer[Any]):
    """A bonus to pay."""

    worker = serializers.CharField(max_length=10, help_text="the worker's pseudonym")
    amount = serializers.DecimalField(
        max_digits=8,
        decimal_places=2,
        min_value=Decimal("0.01"),
        max_value=MOST,
        help_text="US dollars, without the fee",
    )
    reason = serializers.CharField(max_length=1024, help_text="the worker reads it")


class BonusFilter(Filters):
    """Filters of bonuses."""

    worker = django_filters.CharFilter(
        "assignment__account__worker__pseudonym", label="only bonuses of this worker"
    )

    class Meta:
        model = Bonus
        fields: list[str] = []


class BonusList(CampaignRows[Bonus]):
    """The campaign's bonuses, the latest first."""

    serializer_class = BonusSerializer
    filterset_class = BonusFilter
    queryset = Bonus.objects.all()
    may_read, may_write = Right.SEE_MONEY, Right.PAY

    def rows(self) -> QuerySet[Bonus]:
        rows = Bonus.objects.filter(assignment__hit__campaign=self.campaign)
        return rows.select_related("assignment__account__worker").order_by("-pk")

    @extend_schema(summary="Bonuses, the latest first")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        summary="Pay a bonus", request=NewBonusSerializer, responses={201: BonusSerializer}
    )
    @idempotent
    def post(self, request: Request, **_: str) -> Response:
        """Plan a bonus for the worker's latest assignment; the next sync sends it."""
        campaign = self.campaign
        form = NewBonusSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        worker = get_object_or_404(known_workers(campaign), pseudonym=given["worker"])
        theirs = Assignment.objects.of(campaign).not_lost().filter(account__worker=worker)
        latest = theirs.order_by("-submitted_at", "-pk").first()
        if latest is None:
            raise BonusNotPossible(
                f"{worker} has no assignment at the marketplace, so a bonus cannot be sent."
            )
        bonus = plan_bonus(
            assignment=latest, amount=given["amount"], reason=given["reason"], at=timezone.now()
        )
        return Response(BonusSerializer(bonus).data, status=status.HTTP_201_CREATED)
