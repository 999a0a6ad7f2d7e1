"""Campaigns: create, publish, pause, finish and sync them, and add to their budgets."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import django_filters
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.api.lists import Filters
from accounts.api.strict import GenericViewSet, validated
from accounts.models import Right
from accounts.rights import rights_in, team_to_change
from annotate.api.campaign_schema import campaign_file_schema
from annotate.api.jobs import JobDetailSerializer, accepted
from annotate.api.lookups import account_of, campaign_of, campaigns_of
from annotate.kinds.campaign_files import CampaignFileError, Plan, parse_plan
from annotate.models import Campaign, CampaignStatus, ResponseStatus
from annotate.models import Response as Answer
from annotate.queries.progress import progress, progress_by_campaign
from annotate.services.campaigns import create_campaigns
from background.models import Job
from background.tasks import announce_job
from corpora.errors import DomainError
from hits.models import Sync
from hits.queries.costs import estimate, panel_estimate, spends
from hits.queries.statistics import assignments_at_work, measured_pay
from hits.services import lifecycle
from hits.services.syncs import ask_for_sync, sync_jobs


def dollars(**options: Any) -> serializers.DecimalField:
    # More digits than a budget has: an estimate is of all responses, whatever the reward.
    return serializers.DecimalField(max_digits=24, decimal_places=2, **options)


class SpendSerializer(serializers.Serializer[Any]):
    """Amounts in US dollars, including fees."""

    budget = dollars()
    committed = dollars()
    paid = dollars()
    owed = dollars()
    open = dollars()
    bonuses = dollars()
    left = dollars()


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
    per_hour = dollars()


class CampaignListSerializer(serializers.ListSerializer[Any]):
    """Computes the numbers of all campaigns on a page with a few queries."""

    def to_representation(self, data: Any) -> Any:
        campaigns = list(data)
        self.context["progress"] = progress_by_campaign(campaigns)
        self.context["spends"] = spends(campaigns)
        return super().to_representation(campaigns)


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    """A campaign in a list, with its progress and costs."""

    selection = serializers.CharField(
        source="selection.name", read_only=True, allow_null=True, default=None
    )
    caption_set = serializers.CharField(
        source="caption_set.name", read_only=True, allow_null=True, default=None
    )
    progress = serializers.SerializerMethodField()
    spend = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        list_serializer_class = CampaignListSerializer
        fields = [
            "slug",
            "kind",
            "status",
            "family",
            "endpoint",
            "selection",
            "caption_set",
            "created_at",
            "progress",
            "spend",
        ]

    @extend_schema_field(OverviewSerializer)
    def get_progress(self, campaign: Campaign) -> dict[str, Any]:
        return dict(OverviewSerializer(self.context["progress"][campaign.pk]).data)

    @extend_schema_field(SpendSerializer(allow_null=True))
    def get_spend(self, campaign: Campaign) -> dict[str, Any] | None:
        if not self.sees_money(campaign):
            return None
        spend_of = self.context.get("spends") or spends([campaign])
        return dict(SpendSerializer(spend_of[campaign.pk]).data)

    def sees_money(self, campaign: Campaign) -> bool:
        return Right.SEE_MONEY in rights_in(self.context["request"], campaign.team)


class CampaignDetailSerializer(CampaignSerializer):
    """A campaign with all its numbers and the checked campaign file."""

    config = serializers.SerializerMethodField(
        help_text="without the reward and the budget if your role sees no money"
    )
    hit_type = serializers.SerializerMethodField(
        help_text="id of its HITs' group at the marketplace, at the present reward; null before it "
        "is published"
    )
    pay = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        fields = [*CampaignSerializer.Meta.fields, "hit_type", "pay", "config"]

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_hit_type(self, campaign: Campaign) -> str | None:
        in_use = campaign.hit_types.in_use_last(campaign).last()
        return in_use.hit_type_id if in_use else None

    @extend_schema_field(OpenApiTypes.ANY)
    def get_config(self, campaign: Campaign) -> dict[str, Any]:
        config: dict[str, Any] = campaign.config_json
        if self.sees_money(campaign):
            return config
        hit = {key: value for key, value in config["hit"].items() if key != "reward"}
        return {key: value for key, value in config.items() if key != "budget"} | {"hit": hit}

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, campaign: Campaign) -> dict[str, Any]:
        discarded = Answer.objects.of(campaign).filter(status=ResponseStatus.DISCARDED)
        numbers = {
            **asdict(progress(campaign)),
            "at_work": assignments_at_work(campaign),
            "discarded": discarded.count(),
        }
        return dict(ProgressSerializer(numbers).data)

    @extend_schema_field(PaySerializer(allow_null=True))
    def get_pay(self, campaign: Campaign) -> dict[str, Any] | None:
        pay = measured_pay(campaign) if self.sees_money(campaign) else None
        return dict(PaySerializer(pay).data) if pay else None


class PanelEstimateSerializer(serializers.Serializer[Any]):
    """The same rewards by Prolific, with its fee and VAT by the settings."""

    rewards = dollars()
    fees = dollars()
    tax = dollars()
    total = dollars()
    least_per_hour = dollars()
    is_paid_enough = serializers.BooleanField(
        help_text="whether dollars_per_hour reaches Prolific's minimum"
    )


class EstimateSerializer(serializers.Serializer[Any]):
    """What all responses of a campaign cost, in US dollars, if none is discarded."""

    tasks = serializers.IntegerField()
    responses = serializers.IntegerField(help_text="of the whole campaign, without imported ones")
    assignments = serializers.IntegerField()
    hits = serializers.IntegerField()
    reward = dollars()
    fee = dollars()
    rewards = dollars()
    fees = dollars()
    total = dollars()
    hours_of_work = serializers.FloatField()
    dollars_per_hour = dollars()
    prolific = PanelEstimateSerializer(
        allow_null=True, help_text="null for campaigns of your own people"
    )


class PublicationSerializer(serializers.Serializer[Any]):
    """A confirmation, which marketplaces that spend real money need, and what you have seen: with
    another estimate or budget, nothing is published."""

    confirmed = serializers.BooleanField(default=False)
    responses = serializers.IntegerField(required=False, help_text="the estimate's")
    reward = dollars(required=False, help_text="the estimate's")
    cost = dollars(required=False, help_text="the estimate's `total`")
    budget = dollars(required=False)


class AmountSerializer(serializers.Serializer[Any]):
    """An amount to add to a budget."""

    amount = serializers.DecimalField(
        max_digits=10, decimal_places=2, min_value=Decimal("0.01"), help_text="US dollars"
    )


class SyncSerializer(serializers.ModelSerializer[Sync]):
    """A run of the reconciler: its counts, and its first error."""

    class Meta:
        model = Sync
        fields = [
            "started_at",
            "finished_at",
            "ingested",
            "approved",
            "rejected",
            "hits_created",
            "hits_retired",
            "problems",
            "error",
        ]


class SyncStateSerializer(serializers.Serializer[Any]):
    """Whether a sync was requested and has not ended, and the latest sync."""

    is_waiting = serializers.BooleanField()
    last = SyncSerializer(allow_null=True)


EXAMPLE = {
    "name": "pilot",
    "selection": "park",
    "references": 1,
    "budget": "20.00",
    "priming": {"share": 0},
    "workers": {"who": "own", "countries": [], "approved_hits": 0, "approval_rate": 0},
    "review": {"share": 0.2},
}


class CampaignFilter(Filters):
    status = django_filters.ChoiceFilter(
        choices=CampaignStatus.choices, label="only campaigns in this state"
    )
    kind = django_filters.CharFilter(label="only campaigns of this task type")
    family = django_filters.CharFilter(
        label="only campaigns that were made of one file with this name"
    )


@extend_schema_view(
    list=extend_schema(summary="Campaigns, newest first"),
    retrieve=extend_schema(summary="One campaign with all its numbers"),
)
class CampaignViewSet(ListModelMixin, RetrieveModelMixin, GenericViewSet[Any]):
    """Campaigns, newest first."""

    lookup_field = "slug"
    lookup_value_regex = "[-\\w]+"
    filterset_class = CampaignFilter
    queryset = Campaign.objects.none()
    may_read, may_write = Right.VIEW, Right.MANAGE

    def get_queryset(self) -> QuerySet[Campaign]:
        rows = campaigns_of(self.request).select_related("selection", "caption_set")
        return rows.order_by("-created_at", "-pk")

    def get_object(self) -> Campaign:
        """The campaign; raises Http404, and PermissionDenied without the method's right."""
        return campaign_of(self.request, self.kwargs["slug"], self)

    def get_serializer_class(self) -> Any:
        return CampaignSerializer if self.action == "list" else CampaignDetailSerializer

    @extend_schema(
        summary="Create a draft",
        description="The body is the campaign file as JSON, with the same keys. With `languages`, "
        "one campaign is made for each, all or none; the answer is the first of them, and the list "
        "has all of them by `?family=`.",
        request={"application/json": campaign_file_schema()},
        examples=[OpenApiExample("Two captions for each image", EXAMPLE, request_only=True)],
        responses={201: CampaignDetailSerializer},
    )
    @idempotent
    def create(self, request: Request) -> Response:
        """Create a draft campaign from a campaign file; nothing is published."""
        team = team_to_change(request)
        campaign, *_ = create_campaigns(
            plan=plan_of(request.data),
            team=team,
            endpoint=settings.MTURK_ENDPOINT,
            at=timezone.now(),
        )
        return Response(self._shown(campaign), status=status.HTTP_201_CREATED)

    @extend_schema(summary="What the campaign costs", responses=EstimateSerializer)
    @action(detail=True, may_read=Right.SEE_MONEY)
    def estimate(self, _request: Request, **_: str) -> Response:
        """The cost of the whole campaign without imported responses, here and by Prolific.
        Responses that are collected already count too."""
        campaign = self.get_object()
        cost = estimate(campaign)
        is_own = campaign.config.workers.who == "own"
        prolific = None if is_own else panel_estimate(cost)
        shown = {**vars(cost), "total": cost.total, "prolific": prolific}
        return Response(EstimateSerializer(shown).data)

    @extend_schema(
        summary="Publish or resume",
        request=PublicationSerializer,
        responses={202: JobDetailSerializer},
    )
    @action(detail=True, methods=["post"])
    def publish(self, request: Request, **_: str) -> Response:
        """Start a job that starts or resumes the campaign and creates its HITs."""
        campaign = self.get_object()
        given = validated(PublicationSerializer, request)
        job = lifecycle.ask_to_publish(
            campaign=campaign,
            confirmed=given.pop("confirmed"),
            seen=lifecycle.terms_of(campaign)._replace(**given),
            actor=account_of(request),
            at=timezone.now(),
        )
        announce_job()
        return accepted(job)

    @extend_schema(summary="Pause", request=None, responses=CampaignDetailSerializer)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, **_: str) -> Response:
        """Stop taking new workers."""
        return self._move(request, lifecycle.pause)

    @extend_schema(summary="Finish", request=None, responses=CampaignDetailSerializer)
    @action(detail=True, methods=["post"])
    def finish(self, request: Request, **_: str) -> Response:
        """End the campaign for good; submitted work is still paid."""
        return self._move(request, lifecycle.finish)

    @extend_schema(
        summary="Add to the budget", request=AmountSerializer, responses=CampaignDetailSerializer
    )
    @action(
        detail=True, methods=["post"], url_path="budget", url_name="budget", may_write=Right.PAY
    )
    @idempotent
    def add_to_budget(self, request: Request, **_: str) -> Response:
        """Add an amount; the next sync creates HITs for it."""
        campaign = self.get_object()
        given = validated(AmountSerializer, request)
        lifecycle.add_to_budget(
            campaign=campaign,
            amount=given["amount"],
            actor=account_of(request),
            at=timezone.now(),
        )
        return Response(self._shown(campaign))

    @extend_schema(summary="The latest sync", responses=SyncStateSerializer)
    @action(detail=True)
    def sync(self, _request: Request, **_: str) -> Response:
        """Whether a sync waits or runs, and what the latest one did."""
        campaign = self.get_object()
        is_waiting = sync_jobs([campaign.slug]).unfinished().exists()
        shown = {"is_waiting": is_waiting, "last": campaign.syncs.first()}
        return Response(SyncStateSerializer(shown).data)

    @extend_schema(summary="Request a sync", request=None, responses={202: JobDetailSerializer})
    @sync.mapping.post
    def request_sync(self, _request: Request, **_: str) -> Response:
        """Start a job that syncs the campaign."""
        return accepted(self._start_sync(self.get_object()))

    def _shown(self, campaign: Campaign) -> dict[str, Any]:
        context = self.get_serializer_context()
        return dict(CampaignDetailSerializer(campaign, context=context).data)

    def _start_sync(self, campaign: Campaign) -> Job:
        """Request a sync, and let a worker start it."""
        job = ask_for_sync(campaign=campaign, user=account_of(self.request), at=timezone.now())
        announce_job()
        return job

    def _move(self, request: Request, service: Callable[..., None]) -> Response:
        campaign = self.get_object()
        service(campaign=campaign, actor=account_of(request), at=timezone.now())
        # The campaign has moved, also if no sync can be requested now; a later one acts on it.
        with suppress(DomainError):
            self._start_sync(campaign)
        return Response(self._shown(campaign))


def plan_of(values: Any) -> Plan:
    """The campaigns of a request's campaign file; raises ValidationError with its faults by key."""
    if not isinstance(values, dict):
        raise serializers.ValidationError("The body must be an object: the keys of the file.")
    try:
        return parse_plan(values)
    except CampaignFileError as error:
        faults: dict[str, list[str]] = {}
        for line in str(error).splitlines():
            key, _, message = line.partition(": ")
            faults.setdefault(key if message else "file", []).append(message or line)
        raise serializers.ValidationError(faults) from error
