"""Streamed files and archives of releases, for pages and the API."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from django.http import Http404, StreamingHttpResponse

from annotate.exports.formats import FORMATS
from annotate.exports.tables import extras_named
from annotate.kinds import KINDS
from annotate.kinds.exporting import content_of, export_archive
from annotate.models import Release

CONTENT_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}


def stream_release_file(release: Release, file: str) -> StreamingHttpResponse:
    """The streamed file; raises Http404 if there is no such file."""
    files = KINDS[release.campaign.kind].downloads(release)
    if file not in files:
        raise Http404(f"This release has no file {file!r}.")
    content_type = CONTENT_TYPES[PurePosixPath(file).suffix]
    response = StreamingHttpResponse(files[file](release), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{release.name}-{file}"'
    return response


def stream_archive(
    release: Release, file_format: str, extras: Iterable[str]
) -> StreamingHttpResponse:
    """The streamed archive; each of `extras` may be a list with commas.

    Raises Http404 if there is no such format, and DomainError if the release cannot be
    exported in this way.
    """
    if file_format not in FORMATS:
        raise Http404(f"There is no format {file_format!r}.")
    content = content_of(release, extras_named(extras))
    archive = export_archive(content, FORMATS[file_format])
    response = StreamingHttpResponse(archive, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{release.name}-{file_format}.zip"'
    return response
