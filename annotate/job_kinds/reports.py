"""Create the report of a release."""

from django.urls import reverse

from annotate.jobs.registry import JobKind, register
from annotate.jobs.work import Result, Work
from annotate.report.stored import create_report


def make_report(work: Work) -> Result:
    work.step("Computing statistics and drawing figures")
    create_report(work.release)
    return Result("Report created.", url=reverse("annotate:report", args=[work.release.name]))


register(JobKind(name="report", label="Report", work=make_report, is_repeatable=True))
