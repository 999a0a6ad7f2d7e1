"""Simulated workers who compare captions by the things they name, and a judge of their votes."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotate.kinds import KINDS
from annotate.models import Campaign, Response
from simulation.workers.crowd import HONEST, Crew, Hand, Simulated
from simulation.workers.pages import ComparisonItem, TaskForm
from simulation.workers.words import mentions
from simulation.workers.writers import Sight, sights_by_address, sights_of


def worth(text: str, sight: Sight, known: set[str]) -> int:
    """How many things of the image a text names, minus those that are not there."""
    named = mentions(text, known)
    return len(named & sight.things.keys()) - len(named - sight.things.keys())


@dataclass(frozen=True)
class Comparer:
    """Prefers the text of more worth, with some noise; a careless one always chooses A."""

    sights: Mapping[str, Sight]
    known: set[str]
    is_careless: bool

    def fill(self, task: TaskForm, rng: random.Random, *, refused: bool) -> dict[str, str]:
        del refused  # every answer is complete
        return {
            name: str(self._step(item, int(name.split("-")[1]), rng))
            for item in task.items
            if isinstance(item, ComparisonItem)
            for name in item.names
        }

    def _step(self, item: ComparisonItem, pair: int, rng: random.Random) -> int:
        if self.is_careless:
            return 1
        sight = self.sights.get(item.image, Sight({}))
        a, b = (worth(text, sight, self.known) for text in item.texts[2 * pair - 2 : 2 * pair])
        return min(5, max(1, 3 + round(b - a + rng.gauss(0, 0.7))))


def _known(sights: Iterable[Sight]) -> set[str]:
    return {name for sight in sights for name in sight.things}


def _comparers(
    campaign: Campaign, crew: Crew, rng: random.Random, careless: set[int]
) -> list[Hand]:
    del rng
    sights = sights_by_address(campaign)
    return [
        Hand(
            "always A" if index in careless else HONEST,
            Comparer(sights, _known(sights.values()), index in careless),
        )
        for index in range(crew.size)
    ]


class _PreferenceJudge:
    """Finds a comparison bad that prefers a text of clearly less worth."""

    def __init__(self, campaign: Campaign) -> None:
        self.sights = sights_of(campaign)
        self.known = _known(self.sights.values())

    def __call__(self, response: Response) -> str:
        sight = self.sights[response.task.image_id]
        for pair in KINDS[response.campaign.kind].judge_payload(response)["answer"]:
            a, b = (worth(pair[side]["text"], sight, self.known) for side in "ab")
            if any((step - 3) * (b - a) <= -2 for step in pair["votes"].values()):
                return "choices that do not fit the image"
        return ""


SIMULATED = Simulated(_comparers, _PreferenceJudge)
