"""Messages to the workers of a campaign."""

import uuid
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.models import Right
from annotate.api.lookups import CampaignRows, account_of
from hits.models import MessageStatus, WorkerMessage
from hits.services.messages import MOST_SUBJECT, MOST_TEXT, plan_message

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


class MessageList(CampaignRows[WorkerMessage]):
    """Messages to the campaign's workers, the latest first."""

    serializer_class = MessageSerializer
    queryset = WorkerMessage.objects.all()
    may_read, may_write = Right.REVIEW, Right.MANAGE

    def rows(self) -> QuerySet[WorkerMessage]:
        return _counted(self.campaign.worker_messages.order_by("-pk"))

    @extend_schema(summary="Messages to workers, the latest first")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        summary="Write to workers",
        request=NewMessageSerializer,
        responses={201: MessageSerializer},
    )
    @idempotent
    def post(self, request: Request, **_: str) -> Response:
        """Store a message, which the next sync sends, to each worker at most once."""
        campaign = self.campaign
        form = NewMessageSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        made = plan_message(
            campaign=campaign,
            pseudonyms=given["workers"],
            subject=given["subject"],
            text=given["text"],
            key=uuid.uuid4().hex,
            sender=account_of(request),
            at=timezone.now(),
        )
        found = _counted(WorkerMessage.objects.filter(pk=made.pk)).get()
        return Response(MessageSerializer(found).data, status=status.HTTP_201_CREATED)


def _counted(rows: QuerySet[WorkerMessage]) -> QuerySet[WorkerMessage]:
    def number(status: MessageStatus) -> Count:
        return Count("recipients", filter=Q(recipients__status=status))

    return rows.annotate(
        all_count=Count("recipients"),
        sent_count=number(MessageStatus.SENT),
        lost_count=number(MessageStatus.NOT_REACHED),
    )
