"""Simulated workers who describe regions by the class of the box, and a judge of their captions."""

import random

from annotate.kinds.region.kind import region_in
from annotate.models import Campaign, Response, Task
from simulation.kinds.caption import fault_of, writers
from simulation.workers.crowd import Crew, Hand, Simulated
from simulation.workers.writers import Sight


def _sight(task: Task) -> Sight:
    return Sight({region_in(task)["name"]: 1})


def _writers(campaign: Campaign, crew: Crew, rng: random.Random, careless: set[int]) -> list[Hand]:
    # All regions of an image have its address, so workers know a region by its field.
    sights = {f"caption-{task.number}": _sight(task) for task in campaign.tasks.all()}
    return writers(campaign, crew, rng, careless, sights)


class _RegionJudge:
    """Finds a caption bad that names another class than the region's, or none."""

    def __init__(self, campaign: Campaign) -> None:
        self.known = {region_in(task)["name"] for task in campaign.tasks.all()}

    def __call__(self, response: Response) -> str:
        return fault_of(response, _sight(response.task), self.known)


SIMULATED = Simulated(_writers, _RegionJudge)
