"""Freezing a release once quality control has no open question."""

from datetime import datetime

from annotate import releases
from annotate.models import Campaign, Release
from qualcontrol.models import Proposal, SpotCheck
from qualcontrol.services.exclusions import count_unwelcome


def open_questions(campaign: Campaign) -> list[str]:
    """What quality control still has to answer before a release, one sentence for each matter."""
    waiting = SpotCheck.objects.of(campaign).open()
    disputed = waiting.half_judged().count()
    matters = [
        (
            waiting.count() - disputed,
            "spot check waits for a judgement",
            "spot checks wait for a judgement",
        ),
        (
            disputed,
            "response waits for another reviewer's judgement",
            "responses wait for another reviewer's judgement",
        ),
        (
            Proposal.objects.open().filter(campaign=campaign).count(),
            "worker is proposed for exclusion, which nobody decided",
            "workers are proposed for exclusion, which nobody decided",
        ),
        (
            count_unwelcome(campaign),
            "response of an excluded worker is not discarded yet",
            "responses of excluded workers are not discarded yet",
        ),
    ]
    return [f"{number} {one if number == 1 else more}" for number, one, more in matters if number]


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
