"""Spot checks: what there is to judge, and verdicts; gold items, which measure reviewers."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.api.lists import BooleanFilter, Filters
from accounts.api.strict import APIView, validated
from accounts.models import Right
from annotate.api.lookups import CampaignRows, account_of, campaign_of
from annotate.images.copies import whole_url
from annotate.kinds import KINDS
from annotate.models import Campaign
from annotate.models import Response as Answer
from annotate.queries.keywords import task_keywords
from qualcontrol.models import Gold, SpotCheck, Verdict
from qualcontrol.models.checks import SpotCheckQuerySet
from qualcontrol.review.gold import gold_known_to, mark_gold, seed_gold
from qualcontrol.review.items import Item, or_404
from qualcontrol.review.judging import ask_second_opinion, judge_item, withdraw_question
from qualcontrol.review.review_queue import next_checks
from qualcontrol.review.undoing import take_back

MOST_AT_ONCE = 20


class SpotCheckSerializer(serializers.ModelSerializer[SpotCheck]):
    """A response that was drawn for review, and its verdict once reviewers agree."""

    image = serializers.CharField(source="response.task.image.key", read_only=True)
    worker = serializers.CharField(source="response.worker.pseudonym", read_only=True)

    class Meta:
        model = SpotCheck
        fields = [
            "response",
            "image",
            "worker",
            "is_random",
            "is_first",
            "drawn_at",
            "verdict",
            "reason",
            "judged_at",
        ]


class SpotCheckFilter(Filters):
    verdict = django_filters.ChoiceFilter(choices=Verdict.choices, label="only checks judged so")
    open = BooleanFilter(
        method="by_state",
        label="true: only checks that wait for a verdict, so not those of discarded responses; "
        "false: only the others",
    )

    def by_state(self, rows: SpotCheckQuerySet, _name: str, is_open: bool) -> SpotCheckQuerySet:
        return rows.open() if is_open else rows.exclude(pk__in=rows.open().values("pk"))


@extend_schema(summary="Spot checks, in the order in which they were drawn")
class SpotCheckList(CampaignRows[SpotCheck]):
    """The campaign's spot checks."""

    serializer_class = SpotCheckSerializer
    filterset_class = SpotCheckFilter
    queryset = SpotCheck.objects.all()

    def rows(self) -> QuerySet[SpotCheck]:
        rows = SpotCheck.objects.of(self.campaign)
        return rows.select_related("response__task__image", "response__worker").order_by("pk")


class WantedSerializer(serializers.Serializer[Any]):
    """How many items to reserve."""

    count = serializers.IntegerField(min_value=1, max_value=MOST_AT_ONCE, default=1)


class ItemSerializer(serializers.Serializer[Any]):
    """An item to judge."""

    key = serializers.UUIDField(help_text="names the item in its verdict")
    image = serializers.CharField(source="response.task.image.key")
    image_url = serializers.SerializerMethodField()
    keywords = serializers.SerializerMethodField(
        help_text="as the task has them, also if the worker did not see them"
    )
    answer = serializers.SerializerMethodField(help_text="as in the list of responses")
    risk = serializers.FloatField(help_text="probability that it is bad")
    flags = serializers.SerializerMethodField(help_text="codes of its flags")
    asked_by = serializers.SerializerMethodField(
        help_text="the reviewer who asks for a second opinion; null if nobody does"
    )
    question = serializers.SerializerMethodField(help_text="what that reviewer asks")

    @extend_schema_field(serializers.CharField())
    def get_image_url(self, item: Item) -> str:
        return whole_url(item.response.task.image)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_keywords(self, item: Item) -> list[str]:
        return task_keywords(item.response.task) if self.context["kind"].takes_text else []

    @extend_schema_field(OpenApiTypes.ANY)
    def get_answer(self, item: Item) -> Any:
        return self.context["kind"].answer(item.response)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_flags(self, item: Item) -> list[str]:
        return [flag["code"] for flag in item.flags]

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_asked_by(self, item: Item) -> str | None:
        return item.asked.asked_by.get_username() if item.asked else None

    @extend_schema_field(serializers.CharField())
    def get_question(self, item: Item) -> str:
        return item.asked.question if item.asked else ""


class NextChecks(APIView):
    """The next items to judge."""

    may_write = Right.REVIEW

    @extend_schema(
        operation_id="campaigns_spot_checks_next",
        summary="Reserve the next items to judge",
        request=WantedSerializer,
        responses=ItemSerializer(many=True),
    )
    def post(self, request: Request, slug: str) -> Response:
        """The items that the review page would show next. They are reserved for 15 minutes, and
        come again until they are judged. An empty list: nothing is left to judge."""
        campaign = campaign_of(request, slug, self)
        given = validated(WantedSerializer, request)
        items = next_checks(
            campaign=campaign,
            reviewer=account_of(request),
            count=given["count"],
            at=timezone.now(),
        )
        context = {"kind": KINDS[campaign.kind]}
        return Response(ItemSerializer(items, many=True, context=context).data)


class VerdictSerializer(serializers.Serializer[Any]):
    """A verdict about an item."""

    verdict = serializers.ChoiceField(choices=Verdict.choices)
    reason = serializers.CharField(
        max_length=300, default="", allow_blank=True, help_text="needed for BAD"
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if given["verdict"] == Verdict.BAD and not given["reason"]:
            raise serializers.ValidationError({"reason": ["A bad verdict needs a reason."]})
        return given


def _given_about(
    view: APIView,
    request: Request,
    slug: str,
    key: UUID,
    form: type[serializers.Serializer[Any]],
    service: Callable[..., None],
) -> Response:
    """Store what the reviewer says about the item with this key, and answer with it."""
    campaign = campaign_of(request, slug, view)
    given = validated(form, request)
    with or_404(key):
        reviewer, at = account_of(request), timezone.now()
        service(campaign=campaign, key=key, **given, reviewer=reviewer, at=at)
    return Response(given, status=status.HTTP_201_CREATED)


class JudgeItem(APIView):
    """The verdict of an item."""

    may_write = Right.REVIEW

    @extend_schema(
        operation_id="campaigns_spot_checks_judge",
        summary="Judge an item",
        request=VerdictSerializer,
        responses={201: VerdictSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str, key: UUID) -> Response:
        """Store your verdict. A bad response is discarded, and its task needs another one."""
        return _given_about(self, request, slug, key, VerdictSerializer, judge_item)

    @extend_schema(
        operation_id="campaigns_spot_checks_take_back",
        summary="Take back your verdict",
        responses={204: None},
    )
    def delete(self, request: Request, slug: str, key: UUID) -> Response:
        """The item waits for you again. A response that your verdict discarded counts again, if
        its task still has a place."""
        campaign = campaign_of(request, slug, self)
        with or_404(key):
            take_back(campaign=campaign, key=key, reviewer=account_of(request), at=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


class QuestionSerializer(serializers.Serializer[Any]):
    """A question to another reviewer."""

    question = serializers.CharField(max_length=300, default="", allow_blank=True)


class AskSecondOpinion(APIView):
    """The request for a second opinion on an item."""

    may_write = Right.REVIEW

    @extend_schema(
        operation_id="campaigns_spot_checks_ask",
        summary="Ask for a second opinion",
        request=QuestionSerializer,
        responses={201: QuestionSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str, key: UUID) -> Response:
        """Show the item to other reviewers, with your name. Two reviewers must then agree; you can
        be one of them after another one has judged it."""
        return _given_about(self, request, slug, key, QuestionSerializer, ask_second_opinion)

    @extend_schema(
        operation_id="campaigns_spot_checks_withdraw",
        summary="Withdraw the request for a second opinion",
        responses={204: None},
    )
    def delete(self, request: Request, slug: str, key: UUID) -> Response:
        """One verdict is enough again. Not possible after another reviewer has judged the item."""
        campaign = campaign_of(request, slug, self)
        with or_404(key):
            withdraw_question(campaign=campaign, key=key, at=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


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
        about = given.keys() & {"response", "image", "text"}
        if about not in ({"response"}, {"image", "text"}):
            message = "Give either a response, or an image and a text."
            raise serializers.ValidationError({"response": [message]})
        if given["verdict"] == Verdict.BAD and not given["reason"]:
            raise serializers.ValidationError({"reason": ["Say what is wrong."]})
        return given


@extend_schema_view(get=extend_schema(summary="Gold items that you know, the latest first"))
class GoldList(CampaignRows[Gold]):
    """The gold items that you made or have judged. You may still get the others to judge."""

    serializer_class = GoldSerializer
    queryset = Gold.objects.all()
    may_read = may_write = Right.REVIEW

    def rows(self) -> QuerySet[Gold]:
        return gold_known_to(account_of(self.request), self.campaign)

    @extend_schema(
        summary="Add a gold item", request=NewGoldSerializer, responses={201: GoldSerializer}
    )
    @idempotent
    def post(self, request: Request, **_: str) -> Response:
        """Add a response or a made-up caption to the items that measure reviewers."""
        campaign = self.campaign
        made = _make(request, campaign, validated(NewGoldSerializer, request))
        known_gold = gold_known_to(account_of(request), campaign).get(pk=made.pk)
        return Response(GoldSerializer(known_gold).data, status=status.HTTP_201_CREATED)


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
