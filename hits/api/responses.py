"""Tasks of a campaign, and the responses to them."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers

from accounts.api.lists import BooleanFilter, Filters, Pages
from annotate.api.lookups import CampaignRows
from annotate.kinds import KINDS
from annotate.models import Campaign, Response, ResponseStatus, Task
from annotate.models.responses import ResponseQuerySet
from qualcontrol.models import Verdict
from qualcontrol.queries.finding import ANY_FLAG, codes_of, with_flag


class ResponseSerializer(serializers.ModelSerializer[Response]):
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
    flags = serializers.SerializerMethodField(help_text="codes of the response's flags")
    verdict = serializers.CharField(
        source="spot_check.verdict",
        read_only=True,
        allow_null=True,
        help_text="GOOD or BAD; empty before it is judged, and null if it is no spot check",
    )
    reason = serializers.CharField(
        source="spot_check.reason",
        read_only=True,
        allow_null=True,
        help_text="the verdict's reason; null if the response is no spot check",
    )

    class Meta:
        model = Response
        fields = [
            "id",
            "image",
            "number",
            "worker",
            "status",
            "answer",
            "cannot_describe",
            "submitted_at",
            "seconds",
            "keywords_shown",
            "flags",
            "verdict",
            "reason",
        ]

    @extend_schema_field(OpenApiTypes.ANY)
    def get_answer(self, response: Response) -> Any:
        return self.context["kind"].answer(response)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_flags(self, response: Response) -> list[str]:
        assessment = getattr(response, "assessment", None)
        return assessment.codes.split() if assessment else []


class ResponseFilter(Filters):
    status = django_filters.ChoiceFilter(
        choices=ResponseStatus.choices,
        label="only responses in this state",
        error_messages={
            "invalid_choice": "There is no such state; use SUBMITTED or DISCARDED.",
        },
    )
    worker = django_filters.CharFilter(
        "worker__pseudonym", label="only responses of the worker with this pseudonym"
    )
    image = django_filters.CharFilter("task__image__key", label="only responses to this image")
    verdict = django_filters.ChoiceFilter(
        "spot_check__verdict", choices=Verdict.choices, label="only responses judged so"
    )
    flag = django_filters.CharFilter(
        method="with_flag",
        label="only responses with this flag, such as `hasty`; `any`: with any flag",
    )

    def with_flag(self, rows: ResponseQuerySet, _name: str, code: str) -> ResponseQuerySet:
        campaign: Campaign = self.request.parser_context["view"].campaign
        if code not in {ANY_FLAG, *codes_of(KINDS[campaign.kind])}:
            raise serializers.ValidationError(
                {"flag": f"There is no flag {code!r:.60}; docs/flags.md lists them."}
            )
        return with_flag(rows, campaign, code)


class ResponsePages(Pages):
    """Pages of responses in the order in which they were stored."""

    page_size = 500


@extend_schema(summary="Responses, in the order in which they were stored")
class ResponseList(CampaignRows[Response]):
    """The campaign's responses; workers have pseudonyms."""

    serializer_class = ResponseSerializer
    pagination_class = ResponsePages
    filterset_class = ResponseFilter
    queryset = Response.objects.all()

    def rows(self) -> QuerySet[Response]:
        related = KINDS[self.campaign.kind].answer_relations
        rows = Response.objects.of(self.campaign).order_by("pk")
        return rows.select_related("task__image", "worker", "spot_check", "assessment", *related)

    def get_serializer_context(self) -> dict[str, Any]:
        context = super().get_serializer_context()
        if self.swagger_fake_view:
            return context
        return {**context, "kind": KINDS[self.campaign.kind]}


class TaskSerializer(serializers.ModelSerializer[Task]):
    """A task: one image of the campaign, or one caption of an image."""

    image = serializers.CharField(source="image.key", read_only=True)
    caption = serializers.CharField(
        source="subject.text",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="the caption that the task is about; null if it is about the image",
    )
    region = serializers.JSONField(
        source="payload.region",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="the box that the task is about: its class, and its edges as fractions of the "
        "image's width and height; null if it is about the whole image",
    )

    class Meta:
        model = Task
        fields = [
            "number",
            "image",
            "caption",
            "region",
            "wanted",
            "answers_missing",
            "shows_keywords",
        ]


class TaskFilter(Filters):
    image = django_filters.CharFilter("image__key", label="only tasks about this image")
    unfinished = BooleanFilter(
        method="by_state", label="true: only tasks that need responses; false: only the others"
    )

    def by_state(self, rows: QuerySet[Task], _name: str, unfinished: bool) -> QuerySet[Task]:
        needing = {"answers_missing__gt": 0}
        return rows.filter(**needing) if unfinished else rows.exclude(**needing)


@extend_schema(summary="Tasks, by number")
class TaskList(CampaignRows[Task]):
    """The campaign's tasks, and how many responses each still needs."""

    serializer_class = TaskSerializer
    filterset_class = TaskFilter
    queryset = Task.objects.all()

    def rows(self) -> QuerySet[Task]:
        return self.campaign.tasks.select_related("image", "subject").order_by("number")
