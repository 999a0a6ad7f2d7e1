"""Releases and their files."""

from typing import Any

from django.db.models import Count, QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.reverse import reverse

from accounts.api.strict import APIView, GenericViewSet
from annotate.downloads import stream_archive, stream_release_file
from annotate.exports.formats import FORMATS
from annotate.exports.provenance import imports_of
from annotate.exports.tables import Extra, UnknownExtra
from annotate.kinds import KINDS
from annotate.lookups import release_of
from annotate.models import Release

_files = sorted({file for kind in KINDS.values() for file in kind.files})
JSON_FILES = [file for file in _files if file.endswith(".json")]
TEXT_FILES = [file for file in _files if not file.endswith(".json")]


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    """A release, with the URLs of its files."""

    campaign = serializers.CharField(source="campaign.slug", read_only=True)
    images = serializers.IntegerField(
        source="image_count",
        read_only=True,
        help_text="number of its images, or of its captions or regions if it is about those",
    )
    hidden = serializers.JSONField(
        read_only=True, allow_null=True, help_text="which images' captions are not in the files"
    )
    languages = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="of a release of several campaigns; otherwise empty",
    )
    writing = serializers.JSONField(
        source="context.writing",
        read_only=True,
        default=None,
        help_text="shares of the texts' characters by how they came; null if unknown",
    )
    spot_checks = serializers.ListField(
        source="context.spot_checks",
        read_only=True,
        help_text="estimated shares of bad responses, with their 95% intervals",
    )
    imports = serializers.SerializerMethodField(
        help_text="the files that responses were imported from, with the number of responses"
    )
    files = serializers.SerializerMethodField()
    formats = serializers.SerializerMethodField()

    class Meta:
        model = Release
        fields = [
            "name",
            "campaign",
            "seed",
            "is_partial",
            "hidden",
            "languages",
            "created_at",
            "images",
            "writing",
            "spot_checks",
            "imports",
            "files",
            "formats",
        ]

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_imports(self, release: Release) -> list[dict[str, Any]]:
        return imports_of(release)

    def get_files(self, release: Release) -> dict[str, str]:
        """Name and URL of each file."""
        request = self.context.get("request")
        return {
            file: reverse(_view_of(file), args=[release.name, file], request=request)
            for file in KINDS[release.campaign.kind].files_of(release)
        }

    def get_formats(self, release: Release) -> dict[str, str]:
        """Name and URL of an archive in each format."""
        request = self.context.get("request")
        return {
            name: reverse("api-release-archive", args=[release.name, name], request=request)
            for name in FORMATS
        }


class ReleaseViewSet(ListModelMixin, RetrieveModelMixin, GenericViewSet[Release]):
    """Releases, latest first."""

    serializer_class = ReleaseSerializer
    lookup_field = "name"
    lookup_value_regex = "[-\\w]+"
    queryset = Release.objects.none()

    def get_queryset(self) -> QuerySet[Release]:
        rows = Release.objects.visible_to(self.request.user).select_related("campaign")
        return rows.annotate(image_count=Count("images")).order_by("-created_at", "-pk")


def _view_of(file: str) -> str:
    return "api-release-file" if file.endswith(".json") else "api-release-text"


class ReleaseFileView(APIView):
    """A file of a release, as a download."""

    @extend_schema(
        operation_id="releases_file",
        parameters=[OpenApiParameter("file", str, OpenApiParameter.PATH, enum=JSON_FILES)],
        responses={(200, "application/json"): OpenApiTypes.ANY},
    )
    def get(self, request: Request, name: str, file: str) -> StreamingHttpResponse:
        """The content of the file. It never changes."""
        return stream_release_file(release_of(request, name), file)


class ReleaseTextView(ReleaseFileView):
    """A file of a release that is not JSON: a generated client reads it in another way."""

    @extend_schema(
        operation_id="releases_text",
        parameters=[OpenApiParameter("file", str, OpenApiParameter.PATH, enum=TEXT_FILES)],
        responses={(200, "text/csv"): str, (200, "text/plain"): str},
    )
    def get(self, request: Request, name: str, file: str) -> StreamingHttpResponse:
        """The content of a file that is not JSON. It never changes."""
        return super().get(request, name, file)


class ReleaseArchiveView(APIView):
    """A release in a format that other tools open, as a ZIP archive."""

    @extend_schema(
        operation_id="releases_archive",
        parameters=[
            OpenApiParameter("file_format", str, OpenApiParameter.PATH, enum=list(FORMATS)),
            OpenApiParameter(
                "with", str, many=True, enum=list(Extra), description="what else to include"
            ),
        ],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, name: str, file_format: str) -> StreamingHttpResponse:
        """The archive. The same address always gives the same bytes."""
        try:
            extras = request.query_params.getlist("with")
            return stream_archive(release_of(request, name), file_format, extras)
        except UnknownExtra as error:
            raise serializers.ValidationError({"with": [str(error)]}) from error
