"""Downloads of releases as ZIP archives, in any format, for pages and the API."""

from collections.abc import Iterable

from django.contrib import messages
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from annotate.errors import DomainError
from annotate.exports.formats import FORMATS
from annotate.exports.tables import Extra
from annotate.kinds.exporting import content_of, export_archive
from annotate.models import Release
from annotate.pages.signed_in import release_of


class UnknownExtra(DomainError):
    """The request asks for an extra that does not exist."""


@require_safe
def release_archive(request: HttpRequest, name: str, file_format: str) -> HttpResponseBase:
    """Download a release in a format; `with` in the address asks for extras."""
    try:
        return stream_archive(release_of(request, name), file_format, request.GET.getlist("with"))
    except DomainError as error:
        messages.error(request, str(error))
        return redirect("annotate:release", name)


def stream_archive(release: Release, format: str, extras: Iterable[str]) -> StreamingHttpResponse:
    """The streamed archive; each of `extras` may be a list with commas.

    Raises Http404 if there is no such format, and DomainError if the release cannot be
    exported in this way.
    """
    if format not in FORMATS:
        raise Http404(f"There is no format {format!r}.")
    content = content_of(release, _extras(extras))
    archive = export_archive(content, FORMATS[format])
    response = StreamingHttpResponse(archive, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{release.name}-{format}.zip"'
    return response


def _extras(given: Iterable[str]) -> list[Extra]:
    names = [name for each in given for name in each.split(",") if name]
    if unknown := [name for name in names if name not in list(Extra)]:
        raise UnknownExtra(f"There is no {unknown[0]!r}. Known are {', '.join(Extra)}.")
    return [Extra(name) for name in names]
