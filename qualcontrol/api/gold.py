"""Gold items: responses with known verdicts, and made-up captions, which measure reviewers."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.models import Right
from annotate.api.lookups import CampaignRows, account_of
from annotate.models import Campaign
from annotate.models import Response as Answer
from qualcontrol.models import Gold, Verdict
from qualcontrol.review.gold import gold_known_to, mark_gold, seed_gold


class GoldSerializer(serializers.ModelSerializer[Gold]):
    """A gold item that you made or have judged."""

    image = serializers.CharField(source="task.image.key", read_only=True)
    response = serializers.IntegerField(
        source="response_id", read_only=True, allow_null=True, help_text="null if it is made up"
    )
    judged = serializers.IntegerField(read_only=True, help_text="reviewers who have judged it")
    right = serializers.IntegerField(read_only=True, help_text="of them, those who were right")

    class Meta:
        model = Gold
        fields = ["id", "image", "response", "text", "verdict", "reason", "judged", "right"]


class NewGoldSerializer(serializers.Serializer[Any]):
    """A response with its known verdict, or a made-up bad caption of an image."""

    response = serializers.IntegerField(
        min_value=1, max_value=2**63 - 1, required=False, help_text="the id of a response"
    )
    verdict = serializers.ChoiceField(
        choices=Verdict.choices, default=Verdict.BAD, help_text="a made-up caption is always bad"
    )
    image = serializers.CharField(
        max_length=64, required=False, help_text="the key of an image, for a made-up caption"
    )
    text = serializers.CharField(
        max_length=1000, required=False, help_text="the made-up caption of this image"
    )
    reason = serializers.CharField(
        max_length=300, default="", allow_blank=True, help_text="needed for BAD: what is wrong"
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if ("response" in given) == ("image" in given and "text" in given):
            message = "Give either a response, or an image and a text."
            raise serializers.ValidationError({"response": [message]})
        if given["verdict"] == Verdict.BAD and not given["reason"]:
            raise serializers.ValidationError({"reason": ["Say what is wrong."]})
        return given


class GoldList(CampaignRows[Gold]):
    """The gold items that you made or have judged. You may still get the others to judge."""

    serializer_class = GoldSerializer
    queryset = Gold.objects.all()
    may_read = may_write = Right.REVIEW

    def rows(self) -> QuerySet[Gold]:
        return gold_known_to(account_of(self.request), self.campaign)

    @extend_schema(summary="Gold items that you know, the latest first")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        summary="Add a gold item", request=NewGoldSerializer, responses={201: GoldSerializer}
    )
    @idempotent
    def post(self, request: Request, **_: str) -> Response:
        """Add a response or a made-up caption to the items that measure reviewers."""
        campaign = self.campaign
        form = NewGoldSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        made = _make(request, campaign, form.validated_data)
        found = gold_known_to(account_of(request), campaign).get(pk=made.pk)
        return Response(GoldSerializer(found).data, status=status.HTTP_201_CREATED)


def _make(request: Request, campaign: Campaign, given: dict[str, Any]) -> Gold:
    by: dict[str, Any] = {
        "reason": given["reason"],
        "actor": account_of(request),
        "at": timezone.now(),
    }
    if "response" in given:
        response = get_object_or_404(Answer.objects.of(campaign), pk=given["response"])
        return mark_gold(response=response, verdict=given["verdict"], **by)
    tasks = campaign.tasks.filter(image__key=given["image"]).order_by("pk")
    task = tasks.first()
    if task is None:
        raise serializers.ValidationError({"image": ["The campaign has no such image."]})
    return seed_gold(task=task, text=given["text"], **by)
