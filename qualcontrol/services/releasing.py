"""Freezing a release once quality control has no open question."""

from datetime import datetime

from annotate import releases
from annotate.models import Campaign, Release, Response
from qualcontrol.models import SpotCheck


def open_questions(campaign: Campaign) -> list[str]:
    """What quality control still has to answer before a release, one sentence for each matter."""
    questions = []
    waiting = SpotCheck.objects.of(campaign).open().count()
    if waiting:
        noun = "spot check waits" if waiting == 1 else "spot checks wait"
        questions.append(f"{waiting} {noun} for a judgement")
    excluded = list(campaign.exclusions.in_force().values_list("worker", flat=True))
    unwelcome = Response.objects.of(campaign).counting().filter(worker__in=excluded).count()
    if unwelcome:
        noun = (
            "response of an excluded worker is"
            if unwelcome == 1
            else ("responses of excluded workers are")
        )
        questions.append(f"{unwelcome} {noun} not discarded yet")
    return questions


def release_campaign(
    *, campaign: Campaign, name: str, seed: int, at: datetime, partial: bool = False
) -> Release:
    """Freeze a release; raises ReleaseRefused with what is missing, unless `partial`."""
    return releases.freeze(
        campaign=campaign,
        name=name,
        seed=seed,
        at=at,
        partial=partial,
        open_questions=open_questions(campaign),
    )
