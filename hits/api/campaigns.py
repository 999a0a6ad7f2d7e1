"""Campaigns: create, publish, pause, finish and sync them, and add to their budgets."""

from typing import Any

import django_filters
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.filters import Filters
from accounts.api.idempotency import idempotent
from accounts.api.strict import GenericViewSet
from accounts.models import Right
from accounts.pages.signed_in import team_to_change
from annotate.api.campaign_schema import campaign_file_schema
from annotate.api.jobs import JobDetailSerializer, accepted
from annotate.api.lookups import account_of, campaign_of, campaigns_of
from annotate.kinds.families import Plan, parse_plan
from annotate.kinds.reading import CampaignFileError
from annotate.models import Campaign, CampaignStatus
from annotate.services.campaigns import create_campaigns
from background.models import Job
from background.tasks import announce_job
from hits.api.serializers import (
    AmountSerializer,
    CampaignDetailSerializer,
    CampaignSerializer,
    EstimateSerializer,
    PublicationSerializer,
    SyncStateSerializer,
)
from hits.queries.costs import estimate, panel_estimate
from hits.services import lifecycle
from hits.services.syncs import ask_for_sync, sync_jobs

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
    """Filters of campaigns."""

    status = django_filters.ChoiceFilter(
        choices=CampaignStatus.choices, label="only campaigns in this state"
    )
    kind = django_filters.CharFilter(label="only campaigns of this task type")
    family = django_filters.CharFilter(
        label="only campaigns that were made of one file with this name"
    )

    class Meta:
        model = Campaign
        fields: list[str] = []


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
        """The cost of all responses that are missing, here and by Prolific."""
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
        form = PublicationSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
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
        campaign = self.get_object()
        lifecycle.pause(campaign=campaign, actor=account_of(request), at=timezone.now())
        return self._moved(campaign)

    @extend_schema(summary="Finish", request=None, responses=CampaignDetailSerializer)
    @action(detail=True, methods=["post"])
    def finish(self, request: Request, **_: str) -> Response:
        """End the campaign for good; submitted work is still paid."""
        campaign = self.get_object()
        lifecycle.finish(campaign=campaign, actor=account_of(request), at=timezone.now())
        return self._moved(campaign)

    @extend_schema(
        summary="Add to the budget", request=AmountSerializer, responses=CampaignDetailSerializer
    )
    @action(
        detail=True,
        methods=["post"],
        url_path="budget",
        url_name="budget",
        may_write=Right.PAY,
    )
    @idempotent
    def add_to_budget(self, request: Request, **_: str) -> Response:
        """Add an amount; the next sync creates HITs for it."""
        campaign = self.get_object()
        form = AmountSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        lifecycle.add_to_budget(
            campaign=campaign,
            amount=form.validated_data["amount"],
            actor=account_of(request),
            at=timezone.now(),
        )
        return Response(self._shown(campaign))

    @extend_schema(summary="The latest sync", responses=SyncStateSerializer)
    @action(detail=True)
    def sync(self, _request: Request, **_: str) -> Response:
        """Whether a sync waits or runs, and what the latest one did."""
        return Response(SyncStateSerializer(sync_state_of(self.get_object())).data)

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

    def _moved(self, campaign: Campaign) -> Response:
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


def sync_state_of(campaign: Campaign) -> dict[str, Any]:
    """Whether a sync waits or runs, and the latest one."""
    last = campaign.syncs.first()
    return {"is_waiting": sync_jobs([campaign.slug]).unfinished().exists(), "last": last}
