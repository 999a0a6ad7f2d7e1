"""Payments that a person decides: held payments, rejections and bonuses."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import django_filters
from django.db.models import Exists, OuterRef, QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.crypto import get_random_string
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.api.lists import BooleanFilter, Filters
from accounts.api.strict import APIView, validated
from accounts.models import Right
from annotate.api.lookups import CampaignRows, account_of, campaign_of
from annotate.models import Response as Answer
from annotate.models import Worker
from hits.models import Assignment, Bonus
from hits.queries.pay import answer_held, held_of
from hits.services.bonuses import MOST, Wish, plan_bonuses
from hits.services.payments import accept_held, ask_for_rejection, reject_held
from qualcontrol.models import HeldPayment
from qualcontrol.queries.workers import known_workers


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
    open = BooleanFilter(
        "ended_at", lookup_expr="isnull", label="true: only those that wait for a decision"
    )


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
        reason = validated(self.form, request)["reason"]
        type(self).service(held=held, reason=reason, actor=account_of(request), at=timezone.now())
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
        given = validated(RejectionSerializer, request)
        ask_for_rejection(response=response, actor=account_of(request), at=timezone.now(), **given)
        return Response(given, status=status.HTTP_202_ACCEPTED)


class BonusSerializer(serializers.ModelSerializer[Bonus]):
    """A bonus: planned, and sent by the next sync."""

    worker = serializers.CharField(source="assignment.account.worker.pseudonym", read_only=True)

    class Meta:
        model = Bonus
        fields = ["id", "worker", "amount", "fee", "reason", "planned_at", "sent_at", "refusal"]


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
    worker = django_filters.CharFilter(
        "assignment__account__worker__pseudonym", label="only bonuses of this worker"
    )


@extend_schema_view(get=extend_schema(summary="Bonuses, the latest first"))
class BonusList(CampaignRows[Bonus]):
    """The campaign's bonuses, the latest first."""

    serializer_class = BonusSerializer
    filterset_class = BonusFilter
    queryset = Bonus.objects.all()
    may_read, may_write = Right.SEE_MONEY, Right.PAY

    def rows(self) -> QuerySet[Bonus]:
        rows = Bonus.objects.filter(assignment__hit__campaign=self.campaign)
        return rows.select_related("assignment__account__worker").order_by("-pk")

    @extend_schema(
        summary="Pay a bonus", request=NewBonusSerializer, responses={201: BonusSerializer}
    )
    @idempotent
    def post(self, request: Request, **_: str) -> Response:
        """Plan a bonus for the worker's latest assignment; the next sync sends it.

        The same worker, amount and reason are refused a second time.
        """
        campaign = self.campaign
        given = validated(NewBonusSerializer, request)
        # Whoever only did a paid practice has no answers, but an assignment.
        with_assignment = Assignment.objects.of(campaign).filter(account__worker=OuterRef("pk"))
        workers = known_workers(campaign) | Worker.objects.filter(Exists(with_assignment))
        worker = get_object_or_404(workers, pseudonym=given["worker"])
        wish = Wish(worker.pseudonym, given["amount"], given["reason"])
        (bonus,) = plan_bonuses(
            campaign=campaign, wishes=[wish], key=get_random_string(32), at=timezone.now()
        )
        return Response(BonusSerializer(bonus).data, status=status.HTTP_201_CREATED)
