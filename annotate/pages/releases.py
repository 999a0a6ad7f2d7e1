"""Pages of releases, downloads of their files, archives and reports.

Jobs write archives and reports, so that nobody waits.
"""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Right
from accounts.pages.lists import page_of
from accounts.pages.signed_in import refusals_shown
from accounts.rights import current_team
from annotate.downloads import stream_archive, stream_release_file
from annotate.exports.formats import FORMATS
from annotate.exports.images import IMAGES, without_licence
from annotate.exports.provenance import imports_of, quality_of
from annotate.kinds import KINDS
from annotate.kinds.exporting import extras_of
from annotate.lookups import release_of
from annotate.models import Release
from annotate.queries.releases import withdrawn_in
from annotate.services.reports import report_folder
from background.jobs.requests import ARCHIVES_ARE_KEPT
from background.models import Job, about_row
from background.pages.jobs import begin_job
from corpora.errors import DomainError
from corpora.report.build import NUMBERS, PAGE


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
def release_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show a release: its contents, its files and its first images."""
    release = release_of(request, name)
    kind = KINDS[release.campaign.kind]
    images = release.images.select_related("task__image", "task__campaign")
    page = page_of(images.prefetch_related(*kind.released_relations), request, per_page=10)
    context = {
        "release": release,
        "campaign": release.campaign,
        "kind": kind,
        "files": list(kind.downloads(release)),
        "formats": FORMATS.values(),
        "extras": extras_of(release),
        "export_form": ExportForm(release),
        "exports": exports_of(release),
        "without_licence": without_licence(release),
        "archive_days": ARCHIVES_ARE_KEPT.days,
        "image_count": release.images.count(),
        "report": report_of(release),
        "imports": imports_of(release),
        "quality": list(quality_of(release)),
        "withdrawn_count": withdrawn_in(release),
        **(_hidden(release) if release.hidden else {}),
        "page": page,
        # Images without classes, as one's own photographs, have no domains.
        "has_domains": any(image.record.get("domain") for image in page),
    }
    return render(request, "annotate/release.html", context)


def _hidden(release: Release) -> dict[str, Any]:
    """How many images have hidden captions, and who exported them."""
    return {
        # An image may have several regions.
        "hidden_count": release.images.filter(is_hidden=True)
        .values("task__image_id")
        .distinct()
        .count(),
        "hidden_exports": release.hidden_exports.select_related("actor"),
    }


@require_safe
def release_file(request: HttpRequest, name: str, file: str) -> StreamingHttpResponse:
    """Download a file of a release."""
    return stream_release_file(release_of(request, name), file)


MOST_SHOWN = 10


class ExportForm(forms.Form):
    """The format of an archive, and what it includes beyond the captions."""

    def __init__(self, release: Release, data: Any = None) -> None:
        super().__init__(data, label_suffix="", auto_id="export-%s")
        possible = [form for form in FORMATS.values() if not form.absent_packages]
        formats = [(form.name, form.title) for form in possible]
        self.fields["format"] = forms.ChoiceField(label="Format", choices=formats)
        extras = [(str(extra), str(extra)) for extra in extras_of(release)]
        # Workers saw the others at an address of somebody else's, so there is no file to copy.
        if not release.images.filter(task__image__file="").exists():
            extras.append((IMAGES, "image files"))
        if extras:
            self.fields["extras"] = forms.MultipleChoiceField(
                label="With",
                choices=extras,
                required=False,
                widget=forms.CheckboxSelectMultiple,
            )


@require_POST
def export(request: HttpRequest, name: str) -> HttpResponse:
    """Request the job that writes an archive of the release."""
    release = release_of(request, name, may=Right.VIEW)
    form = ExportForm(release, request.POST)
    if not form.is_valid():
        messages.warning(request, "Choose one of the formats.")
        return redirect(release)
    given = form.cleaned_data
    extras = [extra for extra in given.get("extras", []) if extra != IMAGES]
    arguments = {
        "format": given["format"],
        "extras": extras,
        "images": IMAGES in given.get("extras", []),
    }
    with refusals_shown(request):
        return redirect(begin_job(request, kind="export", arguments=arguments, about=release))
    return redirect(release)


def exports_of(release: Release) -> QuerySet[Job]:
    """The latest jobs that write or have written an archive of the release; those whose archive
    was deleted are left out."""
    written = Q(status="DONE") & ~Q(result_file="")
    jobs = Job.objects.filter(about_row(release), kind="export")
    return jobs.filter(written | ~Q(status="DONE"))[:MOST_SHOWN]


@require_safe
def release_archive(request: HttpRequest, name: str, file_format: str) -> HttpResponseBase:
    """Download a release in a format; `with` in the address asks for extras."""
    try:
        return stream_archive(release_of(request, name), file_format, request.GET.getlist("with"))
    except DomainError as error:
        messages.error(request, str(error))
        return redirect("annotate:release", name)


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
    with refusals_shown(request):
        return redirect(begin_job(request, kind="report", about=release))
    return redirect(release)


@require_safe
def report_file(request: HttpRequest, name: str, file: str) -> FileResponse:
    """Download the report's page or its numbers."""
    release = release_of(request, name)
    if file not in FILES:
        raise Http404(f"A report has no file {file!r}.")
    return _file(release, file, is_download=True)


def _file(release: Release, file: str, *, is_download: bool = False) -> FileResponse:
    try:
        written = (report_folder(release) / file).open("rb")
    except FileNotFoundError as error:
        raise Http404("There is no report on this release yet.") from error
    response = FileResponse(
        written,
        content_type=FILES[file],
        as_attachment=is_download,
        filename=f"{release.name}-{file}",
    )
    response["Content-Security-Policy"] = POLICY
    return response


def report_of(release: Release) -> dict[str, Any] | None:
    """When the release's report was created; None without one."""
    page = report_folder(release) / PAGE
    try:
        return {"created_at": datetime.fromtimestamp(page.stat().st_mtime, UTC)}
    except FileNotFoundError:
        return None
