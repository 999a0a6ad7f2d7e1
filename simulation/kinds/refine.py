"""Simulated workers who edit texts in rounds, and a judge of their versions."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from annotate.models import Campaign, Response
from simulation.workers.browser import Item, field_of
from simulation.workers.crowd import HONEST, Crew, Hand, Simulated
from simulation.workers.writers import (
    Honest,
    Limits,
    Mixer,
    Sight,
    Writer,
    mentions,
    sights_by_address,
    sights_of,
)


@dataclass(frozen=True)
class Editor:
    """Adds sentences to a text; a careless one throws away what was there."""

    writer: Writer
    limits: Limits
    sights: Mapping[str, Sight]
    keeps: bool

    def fill(self, item: Item, rng: random.Random, *, refused: bool) -> dict[str, str]:
        area = field_of(item, "textarea[name^=text-]")
        text = area.get_text().strip()
        sentences = [text] if self.keeps and text else []
        sentence = Limits(min(8, self.limits.least_words), 40)
        sight = self.sights.get(item.image) or Sight()
        sentences.append(self.writer.write(sight, sentence, rng, refused=refused))
        while len(" ".join(sentences).split()) < self.limits.least_words:
            sentences.append(self.writer.write(sight, sentence, rng, refused=True))
        return {str(area["name"]): " ".join(sentences)}


def _editors(campaign: Campaign, crew: Crew, _rng: random.Random, careless: set[int]) -> list[Hand]:
    sights, rules = sights_by_address(campaign), campaign.config.captions
    limits = Limits(rules.least_words, rules.most_words)
    elsewhere = [sight for _, sight in sorted(sights.items()) if sight.things]
    return [
        Hand("another image", Editor(Mixer(elsewhere), limits, sights, keeps=False))
        if index in careless
        else Hand(HONEST, Editor(Honest(), limits, sights, keeps=True))
        for index in range(crew.size)
    ]


class _VersionJudge:
    def __init__(self, campaign: Campaign) -> None:
        self.sights = sights_of(campaign)
        self.known = {name for sight in self.sights.values() for name in sight.things}

    def __call__(self, response: Response) -> str:
        answer = response.answer.content
        if mentions(answer["new"], self.known) - set(self.sights[response.task.image_id].things):
            return "describes another image"
        if answer["words"]["removed"] > answer["words"]["kept"]:
            return "removed what was right, or added what is wrong"
        return ""


SIMULATED = Simulated(_editors, _VersionJudge)
