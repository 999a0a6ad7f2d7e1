"""Simulated workers who compare captions by a known order with a known bias, and a judge of votes.

The sources of the campaign file are in order, the best one first: each is APART stronger than the
next, and the left text of a pair by BIAS, in logits. So the ranking of a release can be compared
with the truth.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from annotate.kinds.preference.kind import pairs_of
from annotate.kinds.preference.pairs import Preference
from annotate.kinds.rating.sources import captions_of
from annotate.models import Campaign, Response
from simulation.workers.browser import Item
from simulation.workers.crowd import HONEST, Crew, Hand, Simulated

APART, BIAS = 1.0, 0.3
# From these differences on, a text is slightly better, and much better.
SLIGHTLY, MUCH = 0.25, 2.0
# The strength of each text by the task's number and the text.
Strengths = Mapping[tuple[str, str], float]


def strength(sources: Iterable[str], order: Sequence[str]) -> float:
    """The strength of a text, which is that of its best source."""
    return -APART * min(map(order.index, sources))


def step(difference: float) -> int:
    """The step of a vote, from how much stronger text A is, with bias and noise."""
    size = (abs(difference) >= SLIGHTLY) + (abs(difference) >= MUCH)
    return 3 - size if difference > 0 else 3 + size


@dataclass(frozen=True)
class Comparer:
    """Prefers the stronger text, and a little the left one; a careless one always chooses A."""

    strengths: Strengths
    is_careless: bool

    def fill(self, item: Item, rng: random.Random, *, refused: bool) -> dict[str, str]:
        del refused  # every answer is complete
        # The texts are compared two by two, in the order of the page.
        texts = [_plain(quotation.get_text()) for quotation in item.part.select(".pair blockquote")]
        names = [str(choice["name"]) for choice in item.part.select("input[type=radio]")]
        return {
            name: str(1 if self.is_careless else self._step(texts, name, rng))
            for name in dict.fromkeys(names)
        }

    def _step(self, texts: Sequence[str], name: str, rng: random.Random) -> int:
        _, pair, number = name.split("-")
        a, b = (self.strengths[number, text] for text in texts[2 * int(pair) - 2 : 2 * int(pair)])
        share = rng.uniform(1e-9, 1 - 1e-9)
        return step(a - b + BIAS + math.log(share / (1 - share)))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _order(campaign: Campaign) -> list[str]:
    section = Preference.of(campaign.config)
    return [source.name for source in section.sources]


def _comparers(
    campaign: Campaign, crew: Crew, rng: random.Random, careless: set[int]
) -> list[Hand]:
    del rng
    order = _order(campaign)
    strengths = {
        (str(task.number), _plain(caption["text"])): strength(caption["sources"], order)
        for task in campaign.tasks.all()
        for caption in captions_of(task)
    }
    return [
        Hand("always A" if index in careless else HONEST, Comparer(strengths, index in careless))
        for index in range(crew.size)
    ]


class _PreferenceJudge:
    """Finds a comparison bad that prefers the weaker text by far."""

    def __init__(self, campaign: Campaign) -> None:
        self.order = _order(campaign)

    def __call__(self, response: Response) -> str:
        for number, pair in enumerate(pairs_of(response.task), start=1):
            a, b = (strength(sources, self.order) for sources in pair["sources"])
            votes = response.answer.content.get(str(number), {}).values()
            favour = 3 - fmean(votes) if votes else 0.0
            if abs(favour) > 1.5 and favour * (a - b) < 0:
                return "choices that do not fit the image"
        return ""


SIMULATED = Simulated(_comparers, _PreferenceJudge)
