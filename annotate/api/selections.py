"""Selections: chosen images of a split, on which campaigns work."""

from typing import Any

import django_filters
from django.db.models import Count, F, QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.api.lists import Filters, Pages
from accounts.api.strict import ListAPIView, RetrieveAPIView, validated
from accounts.models import Team
from accounts.rights import team_to_change
from annotate.api.images import ImageSerializer
from annotate.api.jobs import JobDetailSerializer, accepted, begin
from annotate.models import Image, Selection
from annotate.models.selections import Procedure
from annotate.services.selections import (
    check_draw,
    find_listed,
    select_all,
    select_listed,
    select_picked,
    select_random,
    unknown_ids,
)
from corpora.selection.choose import DEFAULT_SAMPLE

MOST_PICKED = 10_000


class SelectionSerializer(serializers.ModelSerializer[Selection]):
    """A selection, with how its images were chosen."""

    images = serializers.IntegerField(source="image_count", read_only=True)

    class Meta:
        model = Selection
        fields = ["name", "procedure", "split", "count", "sample", "seed", "created_at", "images"]


class NewSelectionSerializer(serializers.Serializer[Any]):
    """A selection to make."""

    name = serializers.SlugField(max_length=100)
    procedure = serializers.ChoiceField(choices=Procedure.choices, default=Procedure.ALL)
    split = serializers.CharField(
        max_length=64, required=False, help_text="needed unless images are picked"
    )
    count = serializers.IntegerField(
        min_value=1, max_value=10**7, required=False, help_text="needed for nocaps and random"
    )
    sample = serializers.IntegerField(
        min_value=1, max_value=10**6, default=DEFAULT_SAMPLE, help_text="for nocaps"
    )
    seed = serializers.IntegerField(default=0, min_value=-(2**63), max_value=2**63 - 1)
    images = serializers.ListField(
        child=serializers.CharField(max_length=500),
        max_length=MOST_PICKED,
        required=False,
        help_text="in their order, the keys of the images if they are picked, or their keys or own "
        "file names if they are listed",
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        needed = {
            Procedure.ALL: ["split"],
            Procedure.RANDOM: ["split", "count"],
            Procedure.NOCAPS: ["split", "count"],
            Procedure.PICKED: ["images"],
            Procedure.LISTED: ["split", "images"],
        }[Procedure(given["procedure"])]
        missing = {name: ["This field is required."] for name in needed if name not in given}
        if missing:
            raise serializers.ValidationError(missing)
        return given


class SelectionFilter(Filters):
    split = django_filters.CharFilter(label="only selections of this split")


@extend_schema_view(get=extend_schema(summary="Selections, the latest first"))
class SelectionList(ListAPIView[Selection]):
    """Selections, the latest first."""

    serializer_class = SelectionSerializer
    pagination_class = Pages
    filterset_class = SelectionFilter

    def get_queryset(self) -> QuerySet[Selection]:
        return _counted(Selection.objects.visible_to(self.request.user)).order_by(
            "-created_at", "-pk"
        )

    @extend_schema(
        summary="Select images",
        request=NewSelectionSerializer,
        responses={201: SelectionSerializer, 202: JobDetailSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Select all images of a split, some at random, or picked or listed ones. With nocaps'
        procedure, which takes longer, the answer is a job (202)."""
        team = team_to_change(request)
        given = validated(NewSelectionSerializer, request)
        if given["procedure"] == Procedure.NOCAPS:
            numbers = {key: given[key] for key in ("name", "split", "count", "seed", "sample")}
            check_draw(**numbers, team=team)
            return accepted(begin(request, kind="select_images", arguments=numbers, team=team))
        made = _select(team, given)
        selection = _counted(Selection.objects.filter(pk=made.pk)).get()
        return Response(SelectionSerializer(selection).data, status=status.HTTP_201_CREATED)


def _select(team: Team, given: dict[str, Any]) -> Selection:
    name, procedure, at = given["name"], given["procedure"], timezone.now()
    if procedure == Procedure.PICKED:
        images = _picked(team, given["images"], given.get("split"))
        return select_picked(name=name, images=images, team=team, at=at)
    split = given["split"]
    if procedure == Procedure.LISTED:
        _, unknown = find_listed(split=split, ids=given["images"], team=team)
        if unknown:
            raise serializers.ValidationError({"images": [unknown_ids(unknown, split)]})
        return select_listed(name=name, split=split, ids=given["images"], team=team, at=at)[0]
    if procedure == Procedure.ALL:
        return select_all(name=name, split=split, team=team, at=at)
    return select_random(
        name=name, split=split, count=given["count"], seed=given["seed"], team=team, at=at
    )


def _picked(team: Team, keys: list[str], split: str | None) -> list[int]:
    """The primary keys of images; raises ValidationError for unknown ones, and for those of several
    splits unless the split is given."""
    images = Image.objects.of_team(team).filter(key__in=keys)
    if split is not None:
        images = images.filter(split=split)
    pk_of: dict[str, int] = {}
    for key, pk in images.values_list("key", "pk"):
        if pk_of.setdefault(key, pk) != pk:
            raise serializers.ValidationError(
                {"split": [f"Several splits have an image {key}. Name the split."]}
            )
    if unknown := [key for key in keys if key not in pk_of]:
        raise serializers.ValidationError({"images": [f"There is no image {unknown[0]}."]})
    return [pk_of[key] for key in keys]


@extend_schema(summary="One selection")
class SelectionDetail(RetrieveAPIView[Selection]):
    """A selection."""

    serializer_class = SelectionSerializer
    lookup_field = "name"

    def get_queryset(self) -> QuerySet[Selection]:
        return _counted(Selection.objects.visible_to(self.request.user))


@extend_schema(summary="A selection's images")
class SelectedImageList(ListAPIView[Image]):
    """The images of a selection, in the order in which they were chosen."""

    serializer_class = ImageSerializer
    pagination_class = Pages
    queryset = Image.objects.all()
    swagger_fake_view = False

    def get_queryset(self) -> QuerySet[Image]:
        if self.swagger_fake_view:
            return Image.objects.none()
        selection = get_object_or_404(
            Selection.objects.visible_to(self.request.user), name=self.kwargs["name"]
        )
        images = Image.objects.filter(selected__selection=selection)
        return images.annotate(position=F("selected__position"), box_count=Count("boxes")).order_by(
            "position"
        )


def _counted(rows: QuerySet[Selection]) -> QuerySet[Selection]:
    return rows.annotate(image_count=Count("selected"))
