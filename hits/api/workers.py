"""Workers of a campaign: their risk and pay, decisions about them, and messages to them."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, get_type_hints

from django.db.models import Count, Q, QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.api.strict import APIView, validated
from accounts.models import Right
from accounts.rights import rights_in
from annotate.api.lookups import CampaignRows, account_of, campaign_of
from annotate.models import Campaign, Worker
from hits.models import MessageStatus, WorkerMessage
from hits.queries.costs import slot_cost
from hits.queries.pay import Statement, statements
from hits.services.messages import MOST_SUBJECT, MOST_TEXT, plan_message
from qualcontrol.models import WorkerState
from qualcontrol.queries.workers import (
    WORKER_COLUMNS,
    WorkerSummary,
    known_workers,
    worker_summaries,
)
from qualcontrol.services.exclusions import (
    decline_proposal,
    exclude_worker,
    exclusion_preview,
    pause_worker,
    reinstate_worker,
    resume_worker,
)

AnyField = serializers.Field[Any, Any, Any, Any]
FIELDS: dict[type, type[AnyField]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
}


class EarningsSerializer(serializers.Serializer[Any]):
    """What a worker earned in the campaign, in US dollars, without fees."""

    rewards = serializers.DecimalField(max_digits=12, decimal_places=2)
    bonuses = serializers.DecimalField(max_digits=12, decimal_places=2)
    assignments = serializers.IntegerField(source="approved", help_text="that were approved")


class ReasonOfRiskSerializer(serializers.Serializer[Any]):
    """A reason for a worker's risk."""

    sentence = serializers.CharField()
    effect = serializers.FloatField()


class WorkerSerializer(serializers.Serializer[Any]):
    """A worker under a pseudonym: responses, verdicts, risk and pay in the campaign."""

    state = serializers.ChoiceField(choices=WorkerState.values)
    pay = EarningsSerializer(allow_null=True, help_text="null if your role sees no money")

    def get_fields(self) -> dict[str, AnyField]:
        """The columns of the list, and what is declared here."""
        types = get_type_hints(WorkerSummary)
        columns = {
            column.key: FIELDS[types[column.key]](help_text=column.about or None)
            for column in WORKER_COLUMNS
        }
        return {**columns, **super().get_fields()}


class WorkerDetailSerializer(WorkerSerializer):
    """A worker, with the reasons for the risk."""

    reasons = ReasonOfRiskSerializer(many=True)


def described(
    request: Request, campaign: Campaign, workers: Sequence[Worker]
) -> list[dict[str, Any]]:
    """The API's object for each of the workers."""
    keys = [worker.pk for worker in workers]
    sees_money = Right.SEE_MONEY in rights_in(request, campaign.team)
    theirs = statements(campaign, Worker.objects.filter(pk__in=keys)) if sees_money else ()
    paid = {money.worker: money for money in theirs}
    return [
        {
            **asdict(summary),
            "pay": paid.get(key, Statement(key, summary.pseudonym)) if sees_money else None,
        }
        for key, summary in zip(keys, worker_summaries(campaign, keys), strict=True)
    ]


@extend_schema(summary="Workers")
class WorkerList(CampaignRows[Worker]):
    """The campaign's workers, in the order in which the site met them."""

    serializer_class = WorkerSerializer
    queryset = Worker.objects.all()

    def rows(self) -> QuerySet[Worker]:
        return known_workers(self.campaign).order_by("pk")

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        page = self.paginate_queryset(self.get_queryset()) or []
        rows = WorkerSerializer(described(request, self.campaign, page), many=True)
        return self.get_paginated_response(rows.data)


class WorkerView(APIView):
    """A view about one worker of a campaign."""

    may_read, may_write = Right.VIEW, Right.REVIEW

    def look_up(self, request: Request, slug: str, pseudonym: str) -> tuple[Campaign, Worker]:
        """The campaign and the worker; raises Http404 and PermissionDenied."""
        campaign = campaign_of(request, slug, self)
        return campaign, get_object_or_404(known_workers(campaign), pseudonym=pseudonym)

    def decide(
        self, request: Request, slug: str, pseudonym: str, service: Callable[..., Any]
    ) -> Any:
        """Call a service that decides about the worker, with the request's reason."""
        campaign, worker = self.look_up(request, slug, pseudonym)
        return service(
            campaign=campaign,
            worker=worker,
            actor=account_of(request),
            at=timezone.now(),
            **validated(ReasonSerializer, request),
        )

    def answer(self, campaign: Campaign, worker: Worker) -> Response:
        (row,) = described(self.request, campaign, [worker])
        return Response(WorkerDetailSerializer(row).data)


class WorkerDetail(WorkerView):
    """One worker."""

    @extend_schema(
        operation_id="campaigns_workers_one",
        summary="One worker",
        responses=WorkerDetailSerializer,
    )
    def get(self, request: Request, slug: str, pseudonym: str) -> Response:
        """A worker, with the reasons for the risk."""
        return self.answer(*self.look_up(request, slug, pseudonym))


class ReasonSerializer(serializers.Serializer[Any]):
    """A reason for the decision log."""

    reason = serializers.CharField(max_length=300)


class PreviewSerializer(serializers.Serializer[Any]):
    """The effects that an exclusion would have."""

    responses = serializers.IntegerField(help_text="that would be discarded")
    tasks_reopened = serializers.IntegerField()
    open_spot_checks = serializers.IntegerField()
    slots = serializers.IntegerField(help_text="assignments to replace the responses")
    cost = serializers.DecimalField(
        max_digits=12,
        decimal_places=2,
        allow_null=True,
        help_text="of these assignments, in US dollars; null if your role sees no money",
    )


class ExcludedSerializer(serializers.Serializer[Any]):
    """The effects of an exclusion."""

    discarded = serializers.IntegerField(help_text="responses")


class RestoredSerializer(serializers.Serializer[Any]):
    """The effects of a reinstatement."""

    restored = serializers.IntegerField(help_text="responses")


class Exclude(WorkerView):
    """Exclude a worker, or see what that would do."""

    may_read = Right.REVIEW

    @extend_schema(
        operation_id="campaigns_workers_exclusion_preview",
        summary="What an exclusion would do",
        responses=PreviewSerializer,
    )
    def get(self, request: Request, slug: str, pseudonym: str) -> Response:
        """Nothing is changed."""
        campaign, worker = self.look_up(request, slug, pseudonym)
        preview = exclusion_preview(
            campaign=campaign, workers=[worker], slot_cost=slot_cost(campaign.config)
        )
        shown = asdict(preview)
        if Right.SEE_MONEY not in rights_in(request, campaign.team):
            shown["cost"] = None
        return Response(PreviewSerializer(shown).data)

    @extend_schema(
        operation_id="campaigns_workers_exclude",
        summary="Exclude a worker",
        request=ReasonSerializer,
        responses=ExcludedSerializer,
    )
    def post(self, request: Request, slug: str, pseudonym: str) -> Response:
        """Discard the worker's responses; their tasks need others. Payments do not change."""
        discarded = self.decide(request, slug, pseudonym, exclude_worker)
        return Response({"discarded": discarded})


class Reinstate(WorkerView):
    """End an exclusion."""

    @extend_schema(
        operation_id="campaigns_workers_reinstate",
        summary="Reinstate a worker",
        request=ReasonSerializer,
        responses=RestoredSerializer,
    )
    def post(self, request: Request, slug: str, pseudonym: str) -> Response:
        """Undo an exclusion, and restore the responses whose tasks still have places."""
        restored = self.decide(request, slug, pseudonym, reinstate_worker)
        return Response({"restored": restored})


class ChangeWorker(WorkerView):
    """A decision about a worker that answers with the worker."""

    service: Callable[..., object]

    def post(self, request: Request, slug: str, pseudonym: str) -> Response:
        self.decide(request, slug, pseudonym, type(self).service)
        return self.answer(*self.look_up(request, slug, pseudonym))


def change_by(
    service: Callable[..., object], *, name: str, summary: str, about: str
) -> type[ChangeWorker]:
    """The view that calls this service."""
    view = type(
        f"ChangeWorkerBy{name.title()}", (ChangeWorker,), {"service": staticmethod(service)}
    )
    schema = extend_schema(
        operation_id=f"campaigns_workers_{name}",
        summary=summary,
        description=about,
        request=ReasonSerializer,
        responses=WorkerDetailSerializer,
    )
    return extend_schema_view(post=schema)(view)


PauseWorker = change_by(
    pause_worker, name="pause", summary="Pause a worker", about="Give the worker no new tasks."
)
ResumeWorker = change_by(
    resume_worker,
    name="resume",
    summary="End a worker's pause",
    about="Give the worker tasks again.",
)
DismissProposal = change_by(
    decline_proposal,
    name="dismiss",
    summary="Dismiss the proposal to exclude a worker",
    about="Keep the worker. To accept the proposal, exclude the worker.",
)


MOST_WORKERS = 1000


class MessageSerializer(serializers.ModelSerializer[WorkerMessage]):
    """A message, and how many workers have got it."""

    recipients = serializers.IntegerField(source="all_count", read_only=True)
    sent = serializers.IntegerField(source="sent_count", read_only=True)
    not_reached = serializers.IntegerField(
        source="lost_count", read_only=True, help_text="workers whom the marketplace did not reach"
    )

    class Meta:
        model = WorkerMessage
        fields = ["id", "subject", "text", "planned_at", "recipients", "sent", "not_reached"]


class NewMessageSerializer(serializers.Serializer[Any]):
    """A message to send."""

    workers = serializers.ListField(
        child=serializers.CharField(max_length=10),
        allow_empty=False,
        max_length=MOST_WORKERS,
        help_text="pseudonyms",
    )
    subject = serializers.CharField(max_length=MOST_SUBJECT)
    text = serializers.CharField(max_length=MOST_TEXT)


@extend_schema_view(get=extend_schema(summary="Messages to workers, the latest first"))
class MessageList(CampaignRows[WorkerMessage]):
    """Messages to the campaign's workers, the latest first."""

    serializer_class = MessageSerializer
    queryset = WorkerMessage.objects.all()
    may_read, may_write = Right.REVIEW, Right.MANAGE

    def rows(self) -> QuerySet[WorkerMessage]:
        return _counted(self.campaign.worker_messages.order_by("-pk"))

    @extend_schema(
        summary="Write to workers",
        request=NewMessageSerializer,
        responses={201: MessageSerializer},
    )
    @idempotent
    def post(self, request: Request, **_: str) -> Response:
        """Store a message, which the next sync sends, to each worker at most once."""
        campaign = self.campaign
        given = validated(NewMessageSerializer, request)
        made = plan_message(
            campaign=campaign,
            pseudonyms=given["workers"],
            subject=given["subject"],
            text=given["text"],
            key=uuid.uuid4().hex,
            sender=account_of(request),
            at=timezone.now(),
        )
        message = _counted(WorkerMessage.objects.filter(pk=made.pk)).get()
        return Response(MessageSerializer(message).data, status=status.HTTP_201_CREATED)


def _counted(rows: QuerySet[WorkerMessage]) -> QuerySet[WorkerMessage]:
    def number(status: MessageStatus) -> Count:
        return Count("recipients", filter=Q(recipients__status=status))

    return rows.annotate(
        all_count=Count("recipients"),
        sent_count=number(MessageStatus.SENT),
        lost_count=number(MessageStatus.NOT_REACHED),
    )
