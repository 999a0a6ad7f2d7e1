"""Simulated workers and judges for each task type, found by the task type's name."""

import random

from annotate.models import Campaign
from corpora.errors import DomainError
from simulation.kinds import caption, correspondence, preference, refine, region
from simulation.workers.crowd import Crew, Hand, Judge, Simulated

# By the name of the task type, which is the module's.
SIMULATED: dict[str, Simulated] = {
    module.__name__.rpartition(".")[2]: module.SIMULATED
    for module in (caption, correspondence, preference, refine, region)
}


def hands_for(campaign: Campaign, crew: Crew) -> list[Hand]:
    """The hands of a crew for the campaign's task type; raises DomainError if there are none."""
    rng = random.Random(f"{crew.seed}/crew")
    careless = set(rng.sample(range(crew.size), min(crew.careless, crew.size)))
    return _simulated(campaign).hands(campaign, crew, rng, careless)


def judge_of(campaign: Campaign) -> Judge:
    """A judge for the campaign's task type; raises DomainError if there is none."""
    return _simulated(campaign).judge(campaign)


def _simulated(campaign: Campaign) -> Simulated:
    if campaign.kind not in SIMULATED:
        raise DomainError(f"Nothing is simulated for tasks of the kind {campaign.kind}.")
    return SIMULATED[campaign.kind]
