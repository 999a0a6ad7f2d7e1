"""Pages of releases, and downloads of their files."""

from pathlib import PurePosixPath
from typing import Any

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.pages.paging import page_of
from accounts.pages.signed_in import current_team
from annotate.exports.formats import FORMATS
from annotate.exports.images import without_licence
from annotate.exports.provenance import imports_of
from annotate.kinds import KINDS
from annotate.kinds.exporting import extras_of
from annotate.models import Release
from annotate.pages.exports import ExportForm, days_kept, exports_of
from annotate.pages.lookups import release_of
from annotate.pages.reports import report_of
from annotate.queries.releases import withdrawn_in


@require_safe
def releases(request: HttpRequest) -> HttpResponse:
    """List the releases of the team's campaigns, latest first."""
    rows = (
        Release.objects.of_team(current_team(request))
        .select_related("campaign")
        .annotate(image_count=Count("images"))
    )
    rows = rows.order_by("-created_at", "-pk")
    return render(request, "annotate/releases.html", {"page": page_of(rows, request)})


@require_safe
def release(request: HttpRequest, name: str) -> HttpResponse:
    """Show a release: its contents, its files and its first images."""
    found = release_of(request, name)
    kind = KINDS[found.campaign.kind]
    images = found.images.select_related("task__image", "task__campaign")
    context = {
        "release": found,
        "campaign": found.campaign,
        "kind": kind,
        "files": list(kind.files_of(found)),
        "formats": FORMATS.values(),
        "extras": extras_of(found),
        "export_form": ExportForm(found),
        "exports": exports_of(found),
        "without_licence": without_licence(found),
        "archive_days": days_kept(),
        "image_count": found.images.count(),
        "report": report_of(found),
        "imports": imports_of(found),
        "withdrawn_count": withdrawn_in(found),
        **(_hidden(found) if found.hidden else {}),
        "page": page_of(images.prefetch_related(*kind.released_relations), request, per_page=10),
    }
    return render(request, "annotate/release.html", context)


def _hidden(release: Release) -> dict[str, Any]:
    """How many images have hidden captions, and who exported them."""
    return {
        "hidden_count": release.images.filter(is_hidden=True).count(),
        "hidden_exports": release.hidden_exports.select_related("actor"),
    }


@require_safe
def release_file(request: HttpRequest, name: str, file: str) -> StreamingHttpResponse:
    """Download a file of a release."""
    return stream_release_file(release_of(request, name), file)


CONTENT_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}


def stream_release_file(found: Release, file: str) -> StreamingHttpResponse:
    """The streamed file; raises Http404 if there is no such file."""
    files = KINDS[found.campaign.kind].files_of(found)
    if file not in files:
        raise Http404(f"This release has no file {file!r}.")
    content_type = CONTENT_TYPES[PurePosixPath(file).suffix]
    response = StreamingHttpResponse(files[file](found), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{found.name}-{file}"'
    return response
