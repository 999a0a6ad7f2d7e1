"""Held payments and rejections: submitted work that a person pays, or does not."""

from collections.abc import Callable
from typing import Any

import django_filters
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework import status as http
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.api.filters import Filters
from annotate.api.idempotency import idempotent
from annotate.api.lookups import CampaignRows, account_of, campaign_of
from annotate.models import Campaign, Right
from annotate.models import Response as Answer
from hits.queries.held_answers import answer_held
from hits.services.held_payments import accept_held, reject_held
from hits.services.rejections import ask_for_rejection
from qualcontrol.models import HeldPayment


class HeldPaymentSerializer(serializers.ModelSerializer[HeldPayment]):
    """A submitted assignment that is not paid before a person has decided."""

    worker = serializers.CharField(source="worker.pseudonym", read_only=True)
    answer = serializers.SerializerMethodField(help_text="what was submitted and fits no task")
    outcome = serializers.CharField(read_only=True, help_text="empty until it is decided")

    class Meta:
        model = HeldPayment
        fields = ["id", "worker", "cause", "why", "answer", "held_at", "outcome", "ended_at"]

    @extend_schema_field(serializers.CharField())
    def get_answer(self, held: HeldPayment) -> str:
        return answer_held(held)


class HeldPaymentFilter(Filters):
    """Filters of held payments."""

    open = django_filters.BooleanFilter(
        "ended_at", lookup_expr="isnull", label="true: only those that wait for a decision"
    )

    class Meta:
        model = HeldPayment
        fields: list[str] = []


def held_of(campaign: Campaign) -> QuerySet[HeldPayment]:
    rows = HeldPayment.objects.of(campaign)
    return rows.select_related("worker", "assignment__account").order_by("pk")


@extend_schema(summary="Held payments, the oldest first")
class HeldPaymentList(CampaignRows[HeldPayment]):
    """Submissions that fit no task, or break the rules and bypassed the task page."""

    serializer_class = HeldPaymentSerializer
    filterset_class = HeldPaymentFilter
    queryset = HeldPayment.objects.all()
    may_read = Right.PAY

    def rows(self) -> QuerySet[HeldPayment]:
        return held_of(self.campaign)


class AcceptanceSerializer(serializers.Serializer[Any]):
    """Why a held assignment is paid."""

    reason = serializers.CharField(max_length=300, help_text="for the decision log")


class RejectionSerializer(serializers.Serializer[Any]):
    """Why an assignment is rejected."""

    reason = serializers.CharField(max_length=1024, help_text="the worker reads it")


class DecideHeld(APIView):
    """A decision about a held payment."""

    may_write = Right.PAY
    service: Callable[..., None]
    form: type[serializers.Serializer[Any]]

    @idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        campaign = campaign_of(request, slug, self)
        held = get_object_or_404(held_of(campaign), pk=pk)
        form = type(self).form(data=request.data)
        form.is_valid(raise_exception=True)
        type(self).service(
            held=held,
            reason=form.validated_data["reason"],
            actor=account_of(request),
            at=timezone.now(),
        )
        return Response(HeldPaymentSerializer(held_of(campaign).get(pk=pk)).data)


@extend_schema_view(
    post=extend_schema(
        operation_id="campaigns_held_payments_pay",
        summary="Pay a held assignment",
        description="The next sync pays it.",
        request=AcceptanceSerializer,
        responses=HeldPaymentSerializer,
    )
)
class PayHeld(DecideHeld):
    service = staticmethod(accept_held)
    form = AcceptanceSerializer


@extend_schema_view(
    post=extend_schema(
        operation_id="campaigns_held_payments_reject",
        summary="Reject a held assignment",
        description="The next sync rejects it. The worker reads the reason.",
        request=RejectionSerializer,
        responses=HeldPaymentSerializer,
    )
)
class RejectHeld(DecideHeld):
    service = staticmethod(reject_held)
    form = RejectionSerializer


class RejectResponse(APIView):
    """The rejection of a discarded response's assignment."""

    may_write = Right.PAY

    @extend_schema(
        operation_id="campaigns_responses_reject",
        summary="Reject the assignment of a discarded response",
        request=RejectionSerializer,
        responses={202: RejectionSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The next sync rejects the assignment, so it is not paid. Refused while one of its
        responses is in use."""
        campaign = campaign_of(request, slug, self)
        response = get_object_or_404(Answer.objects.of(campaign), pk=pk)
        form = RejectionSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        ask_for_rejection(
            response=response,
            reason=form.validated_data["reason"],
            actor=account_of(request),
            at=timezone.now(),
        )
        return Response(form.validated_data, status=http.HTTP_202_ACCEPTED)
