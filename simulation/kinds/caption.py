"""Simulated workers who write captions, and a judge of captions."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from annotate.models import Campaign, Response
from simulation.kinds.base import HONEST, Crew, Simulated
from simulation.workers.crowd import Hand
from simulation.workers.pages import CaptionItem, TaskForm
from simulation.workers.words import called, mentions, plural
from simulation.workers.writers import (
    Honest,
    KeywordLister,
    Limits,
    Mixer,
    Repeater,
    Sight,
    Writer,
    sights_by_address,
    sights_of,
)

CARELESS_WRITERS = ("keyword list", "same sentence", "another image")
# Words that precede a noun in a sentence. Lists of keywords do not contain them.
DETERMINERS = {"a", "an", "the", "some", "two", "three", "four", "five", "several", "many", "of"}


@dataclass(frozen=True)
class Captioner:
    """Writes a caption for each image; `sights` are the images' contents by URL."""

    writer: Writer
    limits: Limits
    sights: Mapping[str, Sight]

    def fill(self, task: TaskForm, rng: random.Random, *, refused: bool) -> dict[str, str]:
        return {
            item.name: self.writer.write(self._sight(item), self.limits, rng, refused=refused)
            for item in task.items
            if isinstance(item, CaptionItem)
        }

    def _sight(self, item: CaptionItem) -> Sight:
        """The contents of the image, or the keywords if the dataset has no boxes for it."""
        seen = self.sights.get(item.image)
        if seen is not None and seen.things:
            return seen
        return Sight(dict.fromkeys(item.keywords, 1))


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


class _CaptionJudge:
    def __init__(self, campaign: Campaign) -> None:
        self.sights = sights_of(campaign)
        self.known = {name for sight in self.sights.values() for name in sight.things}

    def __call__(self, response: Response) -> str:
        return fault(
            response.caption.text,
            sight=self.sights[response.task.image_id],
            known=self.known,
            others=_other_captions(response),
        )


def _other_captions(response: Response) -> list[str]:
    return list(
        Response.objects.filter(worker=response.worker_id, caption__isnull=False)
        .exclude(pk=response.pk)
        .values_list("caption__text", flat=True)
    )


def fault(text: str, *, sight: Sight, known: Collection[str], others: Sequence[str]) -> str:
    """The reason why a caption is bad, in a reviewer's words; empty if it is good.

    `known` are all class names of the campaign, `others` the worker's other captions.
    """
    if text in others:
        return "the same sentence as on another image"
    named = mentions(text, set(known))
    if _is_list(text, named):
        return "a list of keywords, not a sentence"
    if named - set(sight.things):
        return "describes another image"
    if sight.things and not named:
        return "says nothing about what is in the image"
    return ""


def _is_list(text: str, named: Collection[str]) -> bool:
    """Whether most of the named objects in a text have no article."""
    words = text.lower().replace(",", " ").replace(".", " ").split()
    starts = {form.split()[0] for name in named for form in (called(name), plural(called(name)))}
    places = [index for index, word in enumerate(words) if word in starts]
    bare = [i for i in places if not set(words[max(0, i - 2) : i]) & DETERMINERS]
    return len(bare) * 2 > len(places)


SIMULATED = Simulated(_writers, _CaptionJudge)
