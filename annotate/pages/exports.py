"""Archives of a release: downloads, and those that jobs write, so that nobody waits."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Right
from annotate.exports.formats import FORMATS
from annotate.exports.images import IMAGES
from annotate.exports.tables import Extra
from annotate.kinds.exporting import content_of, export_archive, extras_of
from annotate.models import Release
from annotate.pages.lookups import release_of
from background.models import Job
from background.models.about import about_row
from background.pages.jobs import begin_job
from background.retention import ARCHIVES_ARE_KEPT
from corpora.errors import DomainError

MOST_SHOWN = 10


class ExportForm(forms.Form):
    """The format of an archive, and what it includes beyond the captions."""

    def __init__(self, release: Release, data: Any = None) -> None:
        super().__init__(data, label_suffix="", auto_id="export-%s")
        possible = [each for each in FORMATS.values() if not each.absent_packages]
        formats = [(each.name, each.title) for each in possible]
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
    extras = [each for each in given.get("extras", []) if each != IMAGES]
    arguments = {
        "format": given["format"],
        "extras": extras,
        "images": IMAGES in given.get("extras", []),
    }
    try:
        return redirect(begin_job(request, kind="export", arguments=arguments, about=release))
    except DomainError as error:
        messages.warning(request, str(error))
        return redirect(release)


def exports_of(release: Release) -> QuerySet[Job]:
    """The latest jobs that write or have written an archive of the release; those whose archive
    was deleted are left out."""
    written = Q(status="DONE") & ~Q(result_file="")
    jobs = Job.objects.filter(about_row(release), kind="export")
    return jobs.filter(written | ~Q(status="DONE"))[:MOST_SHOWN]


def days_kept() -> int:
    """Days after which an archive is deleted."""
    return ARCHIVES_ARE_KEPT // timedelta(days=1)


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
