"""How the members of a crowd work, depending on the task type and their care."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from annotate.errors import DomainError
from annotate.models import Campaign, ObjectClass
from simulation.workers.captioning import Captioner
from simulation.workers.linking import Linker
from simulation.workers.pages import TaskForm
from simulation.workers.sights import sights_by_address
from simulation.workers.writers import Honest, KeywordLister, Limits, Mixer, Repeater, Sight, Writer

HONEST, CARELESS_WRITERS = "honest", ("keyword list", "same sentence", "another image")
AT_RANDOM = "at random"


class Work(Protocol):
    """A way to fill in a task's form; `refused` is true if the previous answer was refused."""

    def fill(self, task: TaskForm, rng: random.Random, *, refused: bool) -> dict[str, str]: ...


class Hand(NamedTuple):
    """A way of working, and its name."""

    kind: str
    work: Work


class Crew(NamedTuple):
    """Size of a crowd, number of careless workers, and error rate of the others' links."""

    size: int
    careless: int
    errors: float
    seed: int


def hands_for(campaign: Campaign, crew: Crew) -> list[Hand]:
    """The hands of a crew for the campaign's task type; raises DomainError if there are none."""
    rng = random.Random(f"{crew.seed}/crew")
    careless = set(rng.sample(range(crew.size), min(crew.careless, crew.size)))
    if campaign.kind not in HANDS:
        raise DomainError(f"Nothing is simulated for tasks of the kind {campaign.kind}.")
    return HANDS[campaign.kind](campaign, crew, rng, careless)


def _writers(campaign: Campaign, crew: Crew, rng: random.Random, careless: set[int]) -> list[Hand]:
    sights, rules = sights_by_address(campaign), campaign.config.captions
    limits = Limits(rules.least_words, rules.most_words)
    elsewhere = [sight for _, sight in sorted(sights.items()) if sight.things]
    bad = dict(zip(sorted(careless), CARELESS_WRITERS * crew.size, strict=False))
    kinds = [bad.get(index, HONEST) for index in range(crew.size)]
    return [
        Hand(kind, Captioner(writer_of(kind, rng, elsewhere), limits, sights)) for kind in kinds
    ]


def writer_of(kind: str, rng: random.Random, elsewhere: Sequence[Sight]) -> Writer:
    match kind:
        case "honest":
            return Honest()
        case "keyword list":
            return KeywordLister()
        case "same sentence":
            return Repeater(rng)
        case "another image":
            return Mixer(elsewhere)
    raise ValueError(kind)


def _linkers(campaign: Campaign, crew: Crew, _rng: random.Random, careless: set[int]) -> list[Hand]:
    known = class_names(campaign)
    return [
        Hand(AT_RANDOM, Linker(known, errors=1))
        if index in careless
        else Hand(HONEST, Linker(known, crew.errors))
        for index in range(crew.size)
    ]


def class_names(campaign: Campaign) -> frozenset[str]:
    """Names of the classes in the campaign's images."""
    boxed = ObjectClass.objects.filter(boxes__image__tasks__campaign=campaign)
    return frozenset(boxed.values_list("name", flat=True).distinct())


HANDS: dict[str, Callable[[Campaign, Crew, random.Random, set[int]], list[Hand]]] = {
    "caption": _writers,
    "correspondence": _linkers,
}
