"""The jobs of this app: create a release."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from annotate.models import Campaign, Release
from background.jobs.work import JobKind, Result, Work, register
from qualcontrol.services.releasing import release_campaign


def make_release(work: Work) -> Result:
    if (release := _made_before(work)) is None:
        work.step("Copying the responses and files into the release")
        release = release_campaign(
            campaign=work.about(Campaign), at=timezone.now(), **work.arguments
        )
    return Result(f"Release {release} created.", url=release.get_absolute_url())


def _made_before(work: Work) -> Release | None:
    """The release that an earlier attempt of this job created before its worker was stopped."""
    if not work.is_repeated:
        return None
    # When the job was asked for, there was no release of this name.
    named = Release.objects.of_campaign(work.about(Campaign)).filter(name=work.arguments["name"])
    return named.filter(seed=work.arguments["seed"]).first()


def _title(arguments: Mapping[str, Any], campaign: Campaign) -> str:
    return f"Release {arguments['name']} of {campaign}"


register(JobKind(name="release", label="Release", work=make_release, title=_title))
