"""Images: upload one's own, list those that there are, and import datasets."""

import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import django_filters
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.api.lists import Filters, Pages
from accounts.api.strict import APIView, ListAPIView, validated
from accounts.models import Team
from accounts.rights import team_to_change
from annotate.api.jobs import JobDetailSerializer, accepted, begin
from annotate.api.lookups import account_of
from annotate.images.copies import whole_url
from annotate.import_forms import FORMS, begin_import, filled_form
from annotate.models import Image, ImageSource
from annotate.services.imports import SPLIT_NAME
from annotate.services.own_images import OwnCounts, OwnFile, import_own_files
from corpora.reading.files import MalformedFile

MOST_FILES = 100
TABLE = "table.csv"


class ImageSerializer(serializers.ModelSerializer[Image]):
    """An image."""

    name = serializers.CharField(
        source="shown_name", read_only=True, help_text="its file name, or the dataset's id"
    )
    url = serializers.SerializerMethodField(help_text="where the image can be seen")
    boxes = serializers.IntegerField(source="box_count", read_only=True)

    class Meta:
        model = Image
        fields = ["id", "key", "name", "source", "split", "width", "height", "url", "boxes"]

    @extend_schema_field(serializers.CharField())
    def get_url(self, image: Image) -> str:
        return whole_url(image)


class ImageUploadSerializer(serializers.Serializer[Any]):
    """Image files for a split, with an optional table of facts."""

    split = serializers.RegexField(
        f"^{SPLIT_NAME.pattern}$", max_length=64, help_text="the group of images to add them to"
    )
    file = serializers.ListField(
        child=serializers.FileField(), max_length=MOST_FILES, help_text="repeat it for each file"
    )
    table = serializers.FileField(
        required=False, help_text="CSV with classes, boxes, licence and author, by file name"
    )


class LeftOutSerializer(serializers.Serializer[Any]):
    """A file that was not imported."""

    name = serializers.CharField()
    reason = serializers.CharField()


class UploadedSerializer(serializers.Serializer[Any]):
    """The result of each file."""

    split = serializers.CharField()
    new = serializers.IntegerField(help_text="files that were imported")
    unchanged = serializers.IntegerField(help_text="files that the split had already")
    described = serializers.IntegerField(help_text="images in the table")
    boxes = serializers.IntegerField(help_text="boxes added from the table")
    left_out = LeftOutSerializer(many=True, help_text="duplicates and files with problems")


class ImageFilter(Filters):
    split = django_filters.CharFilter(label="only images of this split")
    source = django_filters.ChoiceFilter(
        choices=ImageSource.choices, label="only images of this sort of dataset"
    )
    name = django_filters.CharFilter(
        "file_name", lookup_expr="icontains", label="only images whose file name has this text"
    )
    object_class = django_filters.CharFilter(
        "boxes__object_class__name",
        distinct=True,
        label="only images with a box of the class of this name",
    )


@extend_schema_view(get=extend_schema(summary="Images"))
class ImageList(ListAPIView[Image]):
    """Images, in the order in which they were imported."""

    serializer_class = ImageSerializer
    pagination_class = Pages
    filterset_class = ImageFilter
    parser_classes = [MultiPartParser]

    def get_queryset(self) -> QuerySet[Image]:
        return (
            Image.objects.visible_to(self.request.user)
            .annotate(box_count=Count("boxes", distinct=True))
            .order_by("pk")
        )

    @extend_schema(
        summary="Upload image files",
        request={"multipart/form-data": ImageUploadSerializer},
        responses={201: UploadedSerializer},
    )
    def post(self, request: Request) -> Response:
        """Import files under their own names, for your team. Content that the split has is not
        imported again, so an upload can be repeated."""
        team = team_to_change(request)
        given = validated(ImageUploadSerializer, request)
        try:
            counts = _import(team, given["split"], given["file"], given.get("table"))
        except MalformedFile as error:
            raise serializers.ValidationError({"table": [str(error)]}) from error
        left_out = _left_out(counts)
        if not (counts.new or counts.unchanged or counts.duplicates or counts.described):
            reasons = [f"{file['name']}: {file['reason']}" for file in left_out]
            raise serializers.ValidationError({"file": reasons})
        uploaded = {"split": given["split"], **vars(counts), "left_out": left_out}
        return Response(UploadedSerializer(uploaded).data, status=status.HTTP_201_CREATED)


def _left_out(counts: OwnCounts) -> list[dict[str, str]]:
    """The files that were not imported, and the reasons."""
    same = [(image.name, f"same content as {image.same_as}") for image in counts.duplicates]
    broken = [(image.name, image.reason) for image in counts.broken]
    lost = [(name, "is in the table, but not in the split") for name in counts.unmatched]
    return [{"name": name, "reason": reason} for name, reason in [*same, *broken, *lost]]


def _import(
    team: Team, split: str, files: list[UploadedFile], table: UploadedFile | None
) -> OwnCounts:
    """Import uploaded files under the names that the program gave them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "files"
        folder.mkdir()
        # Named by number, because a name from outside is not a safe path.
        named = [
            OwnFile(_written(file, folder / f"{number:05}"), str(file.name))
            for number, file in enumerate(files)
        ]
        facts = _written(table, Path(place) / TABLE) if table else None
        return import_own_files(files=named, split=split, table=facts, table_name=TABLE, team=team)


def _written(file: UploadedFile, path: Path) -> Path:
    with path.open("wb") as target:
        shutil.copyfileobj(file, target)
    return path


class ImportSerializer(serializers.Serializer[Any]):
    """What to import. Each field names the kinds that take it."""

    kind = serializers.ChoiceField(choices=sorted(FORMS))
    split = serializers.CharField(
        max_length=64, required=False, help_text="the group of images to add them to"
    )
    photographs = serializers.ListField(
        child=serializers.FileField(),
        required=False,
        help_text="own: image files, or ZIP files of them; repeat it for each file",
    )
    paths = serializers.CharField(
        required=False, help_text="own: a JSON list of the files' paths, in place of their names"
    )
    folder = serializers.CharField(
        max_length=500, required=False, help_text="own: a folder on the server, in place of files"
    )
    table = serializers.FileField(
        required=False, help_text="own: CSV or JSON lines with facts by file name"
    )
    classes = serializers.FileField(required=False, help_text="openimages: classes (CSV)")
    hierarchy = serializers.FileField(required=False, help_text="openimages: hierarchy (JSON)")
    images = serializers.FileField(required=False, help_text="openimages: image metadata (CSV)")
    boxes = serializers.FileField(required=False, help_text="openimages: boxes (CSV)")
    shared = serializers.BooleanField(
        required=False,
        help_text="openimages, coco: share what is imported with all teams (operators only)",
    )
    base_url = serializers.CharField(
        max_length=400, required=False, help_text="openimages: where the images are loaded from"
    )
    coco = serializers.FileField(required=False, help_text="coco: instances (JSON)")
    captions = serializers.FileField(required=False, help_text="coco: captions (JSON)")
    caption_set = serializers.CharField(
        max_length=100, required=False, help_text="coco: the name of the captions' set"
    )


class ImportList(APIView):
    """Imports."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="imports_create",
        summary="Import images or a dataset",
        request={"multipart/form-data": ImportSerializer},
        responses={202: JobDetailSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Store the files, and import them in the background: a job. All files are stored or
        none."""
        team = team_to_change(request)
        chosen = request.data.get("kind")
        if chosen not in FORMS:
            raise serializers.ValidationError({"kind": [f"Use one of: {', '.join(FORMS)}."]})
        form = filled_form(chosen, request.data, request.FILES, team, account_of(request))
        if unused := set(request.data) - {*form.fields, "kind", "paths"}:
            sentence = f"An import of the kind {chosen} does not take this field here."
            raise serializers.ValidationError({name: [sentence] for name in sorted(unused)})
        if not form.is_valid():
            errors = {
                "file" if name == "__all__" else name: [str(error) for error in said]
                for name, said in form.errors.items()
            }
            raise serializers.ValidationError(errors)
        return accepted(begin_import(form, partial(begin, request, team=team)))
