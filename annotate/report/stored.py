"""The report of a release that its page shows, in a folder under MEDIA_ROOT."""

from pathlib import Path

from django.conf import settings

from annotate.models import Release
from annotate.queries.hidden_references import language_in
from annotate.report.build import make_report, write_report
from annotate.report.released import read_release
from annotate.report.sections.base import Inputs


def report_folder(release: Release) -> Path:
    return Path(settings.MEDIA_ROOT) / "reports" / release.name


def create_report(release: Release) -> None:
    """Write the release's report, with the release's own seed; raises DomainError."""
    inputs = Inputs(read_release(release, language=language_in(release, None)), seed=release.seed)
    write_report(make_report(inputs), report_folder(release))
