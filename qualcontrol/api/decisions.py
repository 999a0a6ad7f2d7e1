"""The log of decisions, and appeals against them."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.api.lists import BooleanFilter, Filters
from accounts.api.strict import APIView, validated
from accounts.models import Right
from accounts.rights import rights_in
from annotate.api.lookups import CampaignRows, account_of, campaign_of
from annotate.models import Campaign
from qualcontrol.models import Act, Appeal, Decision
from qualcontrol.queries.decision_log import about_worker, visible_with
from qualcontrol.queries.workers import known_workers
from qualcontrol.services.exclusions import answer_appeal, record_appeal


class DecisionSerializer(serializers.ModelSerializer[Decision]):
    """An entry of the log: who did what, when and why."""

    worker = serializers.CharField(
        source="about_worker.pseudonym",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="whom it is about, directly or through a response",
    )
    actor = serializers.CharField(
        source="actor.username",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="null if the campaign's policy or a command decided, or if a worker appealed",
    )

    class Meta:
        model = Decision
        fields = ["id", "act", "response", "worker", "reason", "actor", "at"]


class DecisionFilter(Filters):
    act = django_filters.ChoiceFilter(choices=Act.choices, label="only entries of this sort")
    worker = django_filters.CharFilter(
        method="by_worker",
        label="only entries about the worker with this pseudonym, or about the worker's responses",
    )
    response = django_filters.NumberFilter(
        "response", min_value=1, max_value=2**63 - 1, label="only entries about this response"
    )

    def by_worker(self, rows: QuerySet[Decision], _name: str, pseudonym: str) -> QuerySet[Decision]:
        return about_worker(rows, pseudonym)


@extend_schema(summary="Decisions, the latest first")
class DecisionList(CampaignRows[Decision]):
    """The campaign's decision log."""

    serializer_class = DecisionSerializer
    filterset_class = DecisionFilter
    queryset = Decision.objects.all()

    def rows(self) -> QuerySet[Decision]:
        rights = rights_in(self.request, self.campaign.team)
        log = visible_with(rights, self.campaign.decisions.all())
        return log.select_related("actor", "worker", "response__worker").order_by("-pk")


LONGEST = 5000


class AppealSerializer(serializers.ModelSerializer[Appeal]):
    """An appeal against an exclusion, and its answer."""

    worker = serializers.CharField(source="exclusion.worker.pseudonym", read_only=True)

    class Meta:
        model = Appeal
        fields = ["id", "worker", "text", "received_at", "answer", "is_granted", "answered_at"]


class NewAppealSerializer(serializers.Serializer[Any]):
    """An appeal that was received."""

    worker = serializers.CharField(max_length=10, help_text="the worker's pseudonym")
    text = serializers.CharField(max_length=LONGEST, help_text="what the worker wrote")


class AppealAnswerSerializer(serializers.Serializer[Any]):
    """An answer to an appeal."""

    answer = serializers.CharField(
        max_length=LONGEST, help_text="send it to the worker the way they wrote to you"
    )
    granted = serializers.BooleanField(help_text="true: the worker is reinstated")


class AppealFilter(Filters):
    open = BooleanFilter(
        "answered_at", lookup_expr="isnull", label="true: only those that wait for an answer"
    )


def appeals_in(campaign: Campaign) -> QuerySet[Appeal]:
    rows = Appeal.objects.filter(exclusion__campaign=campaign)
    return rows.select_related("exclusion__worker", "exclusion__campaign").order_by("-pk")


@extend_schema_view(get=extend_schema(summary="Appeals, the latest first"))
class AppealList(CampaignRows[Appeal]):
    """Appeals, the latest first."""

    serializer_class = AppealSerializer
    filterset_class = AppealFilter
    queryset = Appeal.objects.all()
    may_write = Right.REVIEW

    def rows(self) -> QuerySet[Appeal]:
        return appeals_in(self.campaign)

    @extend_schema(
        summary="Record an appeal", request=NewAppealSerializer, responses={201: AppealSerializer}
    )
    @idempotent
    def post(self, request: Request, **_: str) -> Response:
        """Store what an excluded worker wrote."""
        campaign = self.campaign
        given = validated(NewAppealSerializer, request)
        appeal = record_appeal(
            campaign=campaign,
            worker=get_object_or_404(known_workers(campaign), pseudonym=given["worker"]),
            text=given["text"],
            actor=account_of(request),
            at=timezone.now(),
        )
        return Response(AppealSerializer(appeal).data, status=status.HTTP_201_CREATED)


class AnswerAppeal(APIView):
    """The answer to an appeal."""

    may_write = Right.REVIEW

    @extend_schema(
        operation_id="campaigns_appeals_answer",
        summary="Answer an appeal",
        request=AppealAnswerSerializer,
        responses=AppealSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Grant or refuse the appeal. If it is granted, the worker is reinstated."""
        campaign = campaign_of(request, slug, self)
        appeal = get_object_or_404(appeals_in(campaign), pk=pk)
        given = validated(AppealAnswerSerializer, request)
        answer_appeal(
            appeal=appeal,
            is_granted=given["granted"],
            answer=given["answer"],
            actor=account_of(request),
            at=timezone.now(),
        )
        return Response(AppealSerializer(appeals_in(campaign).get(pk=pk)).data)
