"""Webhooks of a campaign: addresses that get notices as signed requests."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.api.strict import APIView, validated
from accounts.models import Right
from annotate.api.lookups import CampaignRows, account_of, campaign_of
from background.models import Webhook, about_row
from background.notices import choices
from background.notices.registry import notice_kinds


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A webhook."""

    id = serializers.UUIDField(source="key", read_only=True)
    kinds = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="kinds of notices that it gets"
    )
    secret = serializers.CharField(read_only=True, help_text="signs its requests")

    class Meta:
        model = Webhook
        fields = ["id", "url", "kinds", "is_on", "secret", "created_at"]


class NewWebhookSerializer(serializers.Serializer[Any]):
    """A webhook to add."""

    url = serializers.CharField(max_length=500, help_text="gets a POST request for each notice")
    kinds = serializers.ListField(
        child=serializers.CharField(max_length=40),
        required=False,
        min_length=1,
        max_length=100,
        help_text="kinds of notices, such as job-failed; default: all",
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        return {"kinds": list(notice_kinds()), **given}


class ChangedWebhookSerializer(NewWebhookSerializer):
    """A webhook with its new values."""

    is_on = serializers.BooleanField(default=True)


@extend_schema_view(get=extend_schema(summary="Webhooks"))
class WebhookList(CampaignRows[Webhook]):
    """The campaign's webhooks."""

    may_read = Right.MANAGE
    serializer_class = WebhookSerializer
    queryset = Webhook.objects.all()

    def rows(self) -> QuerySet[Webhook]:
        return Webhook.objects.kept().filter(about_row(self.campaign)).order_by("pk")

    @extend_schema(
        summary="Add a webhook", request=NewWebhookSerializer, responses={201: WebhookSerializer}
    )
    @idempotent
    def post(self, request: Request, **_: str) -> Response:
        """Send notices of these kinds to an address."""
        campaign = self.campaign
        given = validated(NewWebhookSerializer, request)
        added = choices.add_webhook(
            about=campaign, user=account_of(request), at=timezone.now(), **given
        )
        return Response(WebhookSerializer(added).data, status=status.HTTP_201_CREATED)


class _OneWebhook(APIView):
    may_read = Right.MANAGE

    def look_up(self, request: Request, slug: str, key: UUID) -> Webhook:
        """The webhook; raises Http404 and PermissionDenied."""
        campaign = campaign_of(request, slug, self)
        return get_object_or_404(Webhook.objects.kept().filter(about_row(campaign)), key=key)


class WebhookDetail(_OneWebhook):
    """One webhook."""

    @extend_schema(
        operation_id="campaigns_webhooks_one", summary="One webhook", responses=WebhookSerializer
    )
    def get(self, request: Request, slug: str, key: UUID) -> Response:
        return Response(WebhookSerializer(self.look_up(request, slug, key)).data)

    @extend_schema(
        operation_id="campaigns_webhooks_change",
        summary="Change a webhook",
        request=ChangedWebhookSerializer,
        responses=WebhookSerializer,
    )
    def put(self, request: Request, slug: str, key: UUID) -> Response:
        """Change its address and kinds, and switch it on or off."""
        webhook = self.look_up(request, slug, key)
        given = validated(ChangedWebhookSerializer, request)
        choices.change_webhook(webhook=webhook, **given)
        return Response(WebhookSerializer(webhook).data)

    @extend_schema(
        operation_id="campaigns_webhooks_remove", summary="Remove a webhook", responses={204: None}
    )
    def delete(self, request: Request, slug: str, key: UUID) -> Response:
        """Send it nothing more."""
        choices.remove_webhook(webhook=self.look_up(request, slug, key), at=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


class TestWebhook(_OneWebhook):
    """A test of a webhook."""

    @extend_schema(
        operation_id="campaigns_webhooks_test",
        summary="Send a test to a webhook",
        request=None,
        responses={202: WebhookSerializer},
    )
    def post(self, request: Request, slug: str, key: UUID) -> Response:
        """Queue a notice that only says that the webhook works."""
        webhook = self.look_up(request, slug, key)
        choices.send_test(webhook=webhook, at=timezone.now())
        return Response(WebhookSerializer(webhook).data, status=status.HTTP_202_ACCEPTED)
