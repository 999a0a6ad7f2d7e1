"""Campaigns in the API: progress, costs and responses. All views are read-only."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import Exists, OuterRef
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from annotate.kinds import KINDS
from annotate.models import Campaign, ResponseStatus, Task
from annotate.models import Response as Answer
from annotate.services.campaigns import progress
from hits.queries.costs import spends
from hits.queries.statistics import assignments_at_work, measured_pay, overviews


class SpendSerializer(serializers.Serializer[Any]):
    """Amounts in US dollars, including fees."""

    budget = serializers.DecimalField(max_digits=12, decimal_places=2)
    committed = serializers.DecimalField(max_digits=12, decimal_places=2)
    paid = serializers.DecimalField(max_digits=12, decimal_places=2)
    owed = serializers.DecimalField(max_digits=12, decimal_places=2)
    open = serializers.DecimalField(max_digits=12, decimal_places=2)
    bonuses = serializers.DecimalField(max_digits=12, decimal_places=2)
    left = serializers.DecimalField(max_digits=12, decimal_places=2)


class OverviewSerializer(serializers.Serializer[Any]):
    """Progress of a campaign in a list: numbers of tasks and responses."""

    tasks = serializers.IntegerField()
    wanted = serializers.IntegerField()
    answered = serializers.IntegerField(help_text="responses, no more per image than wanted")


class ProgressSerializer(serializers.Serializer[Any]):
    """Progress of a campaign, with all numbers."""

    tasks = serializers.IntegerField()
    complete = serializers.IntegerField()
    wanted = serializers.IntegerField()
    submitted = serializers.IntegerField()
    at_work = serializers.IntegerField(
        help_text="assignments that workers were working on at the last sync"
    )
    discarded = serializers.IntegerField()


class PaySerializer(serializers.Serializer[Any]):
    """Pay per hour at the median time of the latest responses."""

    median_seconds = serializers.FloatField()
    per_hour = serializers.DecimalField(max_digits=10, decimal_places=2)


class CampaignListSerializer(serializers.ListSerializer[Any]):
    """Computes the numbers of all campaigns on a page with a few queries."""

    def to_representation(self, data: Any) -> Any:
        campaigns = list(data)
        self.context["overviews"] = overviews(campaigns)
        self.context["spends"] = spends(campaigns)
        return super().to_representation(campaigns)


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    """A campaign in a list, with its progress and costs."""

    selection = serializers.CharField(source="selection.name", read_only=True, default=None)
    caption_set = serializers.CharField(source="caption_set.name", read_only=True, default=None)
    progress = serializers.SerializerMethodField()
    spend = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        list_serializer_class = CampaignListSerializer
        fields = [
            "slug",
            "kind",
            "status",
            "endpoint",
            "selection",
            "caption_set",
            "created_at",
            "progress",
            "spend",
        ]

    @extend_schema_field(OverviewSerializer)
    def get_progress(self, campaign: Campaign) -> dict[str, Any]:
        return dict(OverviewSerializer(self.context["overviews"][campaign.pk]).data)

    @extend_schema_field(SpendSerializer)
    def get_spend(self, campaign: Campaign) -> dict[str, Any]:
        return dict(SpendSerializer(self.context["spends"][campaign.pk]).data)


class CampaignDetailSerializer(serializers.ModelSerializer[Campaign]):
    """A campaign with all its numbers and the checked campaign file."""

    selection = serializers.CharField(source="selection.name", read_only=True, default=None)
    caption_set = serializers.CharField(source="caption_set.name", read_only=True, default=None)
    config = serializers.JSONField(source="config_json", read_only=True)
    progress = serializers.SerializerMethodField()
    spend = serializers.SerializerMethodField()
    pay = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        fields = [*CampaignSerializer.Meta.fields, "pay", "config"]

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, campaign: Campaign) -> dict[str, Any]:
        numbers = {**asdict(progress(campaign)), "at_work": assignments_at_work(campaign)}
        return dict(ProgressSerializer(numbers).data)

    @extend_schema_field(SpendSerializer)
    def get_spend(self, campaign: Campaign) -> dict[str, Any]:
        return dict(SpendSerializer(spends([campaign])[campaign.pk]).data)

    @extend_schema_field(PaySerializer(allow_null=True))
    def get_pay(self, campaign: Campaign) -> dict[str, Any] | None:
        pay = measured_pay(campaign)
        return dict(PaySerializer(pay).data) if pay else None


class ResponseSerializer(serializers.ModelSerializer[Answer]):
    """A response. The worker is shown under a pseudonym."""

    image = serializers.CharField(source="task.image.key", read_only=True)
    number = serializers.IntegerField(
        source="task.number", read_only=True, help_text="place in the campaign's selection or set"
    )
    worker = serializers.CharField(source="worker.pseudonym", read_only=True)
    answer = serializers.SerializerMethodField(
        help_text="as the campaign's kind of task has it: the text of a caption; for word–box "
        "links, by the word's number from 0, the keys of its boxes or its kind"
    )
    keywords_shown = serializers.BooleanField(
        source="is_primed", read_only=True, allow_null=True, help_text="null if it is not known"
    )
    verdict = serializers.CharField(source="spot_check.verdict", read_only=True, default="")
    reason = serializers.CharField(source="spot_check.reason", read_only=True, default="")

    class Meta:
        model = Answer
        fields = [
            "id",
            "image",
            "number",
            "worker",
            "status",
            "answer",
            "submitted_at",
            "seconds",
            "keywords_shown",
            "verdict",
            "reason",
        ]

    @extend_schema_field(OpenApiTypes.ANY)
    def get_answer(self, response: Answer) -> Any:
        return self.context["kind"].answer(response)


class ByKey(CursorPagination):
    """Cursor pagination: all pages take the same time, and new rows do not shift them."""

    ordering = "pk"
    page_size = 500


class CampaignViewSet(ListModelMixin, RetrieveModelMixin, GenericViewSet[Any]):
    """Campaigns, newest first."""

    lookup_field = "slug"
    lookup_value_regex = "[-\\w]+"
    queryset = Campaign.objects.select_related("selection", "caption_set").order_by(
        "-created_at", "-pk"
    )

    def get_serializer_class(self) -> Any:
        return CampaignSerializer if self.action == "list" else CampaignDetailSerializer

    @extend_schema(
        responses=ResponseSerializer(many=True),
        parameters=[
            OpenApiParameter(
                "status",
                str,
                enum=ResponseStatus.values,
                description="only responses in this state",
            )
        ],
    )
    @action(detail=True, pagination_class=ByKey, serializer_class=ResponseSerializer)
    def responses(self, request: Request, **_: str) -> Response:
        """The campaign's responses in the order in which they were stored."""
        # With EXISTS, the database reads responses by primary key and stops at the end of the page.
        campaign: Campaign = self.get_object()
        kind = KINDS[campaign.kind]
        task = Task.objects.filter(pk=OuterRef("task"), campaign=campaign)
        rows = Answer.objects.filter(Exists(task)).select_related(
            "task__image", "worker", "spot_check", *kind.answer_relations
        )
        wanted = request.query_params.get("status")
        if wanted is not None:
            if wanted not in ResponseStatus.values:
                raise serializers.ValidationError(
                    {"status": f"There is no such state; use {_one_of(ResponseStatus.values)}."}
                )
            rows = rows.filter(status=wanted)
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(
            ResponseSerializer(page, many=True, context={"kind": kind}).data
        )


def _one_of(values: Sequence[str]) -> str:
    return ", ".join(values[:-1]) + f" or {values[-1]}"
