"""Imports by jobs: photographs, ZIP files, folders of the server, and files of datasets."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.api.idempotency import idempotent
from annotate.api.jobs import JobDetailSerializer, accepted
from annotate.pages.images.imports import FORMS, begin_import, filled_form
from annotate.pages.signed_in import team_to_change


class ImportSerializer(serializers.Serializer[Any]):
    """What to import. Which fields a kind takes is said with each."""

    kind = serializers.ChoiceField(choices=sorted(FORMS))
    split = serializers.CharField(
        max_length=64, required=False, help_text="the group of images to add them to"
    )
    photographs = serializers.ListField(
        child=serializers.FileField(),
        required=False,
        help_text="own: image files, or ZIP files of them; repeat it for each file",
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
        form = filled_form(chosen, request.data, request.FILES, team)
        if not form.is_valid():
            errors = {"file" if name == "__all__" else name: said for name, said in _said(form)}
            raise serializers.ValidationError(errors)
        return accepted(begin_import(request, chosen, form))


def _said(form: Any) -> Any:
    return [(name, [str(each) for each in errors]) for name, errors in form.errors.items()]
