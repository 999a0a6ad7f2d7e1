"""Archives of a release that jobs write, so that nobody waits for a large one."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotate.errors import DomainError
from annotate.exports.formats import FORMATS
from annotate.kinds.exporting import extras_of
from annotate.models import Job, Release, Right
from annotate.pages.jobs import begin_job
from annotate.pages.signed_in import release_of
from annotate.services.retention import ARCHIVES_ARE_KEPT

MOST_SHOWN = 10


class ExportForm(forms.Form):
    """The format of an archive, and what it includes beyond the captions."""

    def __init__(self, release: Release, data: Any = None) -> None:
        super().__init__(data, label_suffix="", auto_id="export-%s")
        possible = [each for each in FORMATS.values() if not each.absent_packages]
        formats = [(each.name, each.title) for each in possible]
        self.fields["format"] = forms.ChoiceField(label="Format", choices=formats)
        if extras := [(str(extra), str(extra)) for extra in extras_of(release)]:
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
    arguments = {"format": given["format"], "extras": given.get("extras", [])}
    try:
        return redirect(begin_job(request, kind="export", arguments=arguments, release=release))
    except DomainError as error:
        messages.warning(request, str(error))
        return redirect(release)


def exports_of(release: Release) -> QuerySet[Job]:
    """The latest jobs that write or have written an archive of the release; those whose archive
    was deleted are left out."""
    written = Q(status="DONE") & ~Q(result_file="")
    jobs = Job.objects.filter(release=release, kind="export")
    return jobs.filter(written | ~Q(status="DONE"))[:MOST_SHOWN]


def days_kept() -> int:
    """Days after which an archive is deleted."""
    return ARCHIVES_ARE_KEPT // timedelta(days=1)
