"""The page of a release's report, which a job creates."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import Right
from annotate.models import Release
from annotate.pages.lookups import release_of
from annotate.services.reports import report_folder
from background.pages.jobs import begin_job
from corpora.errors import DomainError
from corpora.report.build import NUMBERS, PAGE

# The page has its styles in itself, and nothing else than its own drawings.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
FILES = {PAGE: "text/html; charset=utf-8", NUMBERS: "application/json"}


@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, name: str) -> HttpResponse | FileResponse:
    """Show the release's report, or have it created."""
    may = Right.MANAGE if request.method == "POST" else Right.VIEW
    release = release_of(request, name, may=may)
    if request.method != "POST":
        return _file(release, PAGE)
    try:
        return redirect(begin_job(request, kind="report", about=release))
    except DomainError as error:
        messages.warning(request, str(error))
        return redirect(release)


@require_safe
def report_file(request: HttpRequest, name: str, file: str) -> FileResponse:
    """Download the report's page or its numbers."""
    release = release_of(request, name)
    if file not in FILES:
        raise Http404(f"A report has no file {file!r}.")
    return _file(release, file, is_download=True)


def _file(release: Release, file: str, *, is_download: bool = False) -> FileResponse:
    path = report_folder(release) / file
    if not path.is_file():
        raise Http404("There is no report on this release yet.")
    response = FileResponse(
        path.open("rb"),
        content_type=FILES[file],
        as_attachment=is_download,
        filename=f"{release.name}-{file}",
    )
    response["Content-Security-Policy"] = POLICY
    return response


def report_of(release: Release) -> dict[str, Any] | None:
    """When the release's report was created; None without one."""
    path: Path = report_folder(release) / PAGE
    try:
        return {"created_at": datetime.fromtimestamp(path.stat().st_mtime, UTC)}
    except FileNotFoundError:
        return None
