"""Simulated workers who write captions, and a judge of captions."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from annotate.images.copies import display_url
from annotate.models import Campaign, Response
from simulation.workers.browser import Item, field_of
from simulation.workers.crowd import HONEST, Crew, Hand, Simulated
from simulation.workers.writers import (
    Honest,
    KeywordLister,
    Limits,
    Mixer,
    Repeater,
    Sight,
    Writer,
    called,
    mentions,
    plural,
    sights_by_address,
    sights_of,
)

CARELESS_WRITERS = ("keyword list", "same sentence", "another image")
# Chooses a reason for every image, in campaigns that offer reasons.
NEVER_DESCRIBES = "never describes"
# One of this many images is too poor to describe, and so say honest workers in most cases.
ONE_POOR_IN, SAY_SO = 8, 0.9
# Words that precede a noun in a sentence. Lists of keywords do not contain them.
DETERMINERS = {"a", "an", "the", "some", "two", "three", "four", "five", "several", "many", "of"}


@dataclass(frozen=True)
class Captioner:
    """Writes a caption for each image; `sights` are the contents by the image's URL, or by the name
    of the caption's field."""

    writer: Writer
    limits: Limits
    sights: Mapping[str, Sight]
    never_describes: bool = False

    def fill(self, item: Item, rng: random.Random, *, refused: bool) -> dict[str, str]:
        name = str(field_of(item, "textarea[name^=caption-]")["name"])
        select = item.part.select_one("select[name^=cannot_describe-]")
        if select is not None and self._gives_up(item, rng):
            reasons = [str(option["value"]) for option in select.select("option")]
            return {str(select["name"]): rng.choice([reason for reason in reasons if reason])}
        sight = self._sight(item, name)
        return {name: self.writer.write(sight, self.limits, rng, refused=refused)}

    def _gives_up(self, item: Item, rng: random.Random) -> bool:
        return self.never_describes or (is_poor(item.image) and rng.random() < SAY_SO)

    def practise(self, image: str, text: str) -> str:
        """The answer to a question of a practice. Careless workers find everything good."""
        sight = self.sights.get(image, Sight({}))
        if not text:
            return self.writer.write(sight, self.limits, random.Random(image), refused=False)
        names = {name for sight in self.sights.values() for name in sight.things}
        is_careful = isinstance(self.writer, Honest)
        is_bad = is_careful and fault(text, sight=sight, known=names, others=())
        return "bad" if is_bad else "good"

    def _sight(self, item: Item, name: str) -> Sight:
        """What there is to describe, or the keywords if the dataset has no boxes for it."""
        seen = self.sights.get(name) or self.sights.get(item.image)
        if seen is not None and seen.things:
            return seen
        keywords = item.part.select("[data-keywords] li")
        return Sight(dict.fromkeys((keyword.get_text(strip=True) for keyword in keywords), 1))


def _writers(campaign: Campaign, crew: Crew, rng: random.Random, careless: set[int]) -> list[Hand]:
    return writers(campaign, crew, rng, careless, sights_by_address(campaign))


def writers(
    campaign: Campaign,
    crew: Crew,
    rng: random.Random,
    careless: set[int],
    sights: Mapping[str, Sight],
) -> list[Hand]:
    """The hands of a crew; `sights` as in Captioner."""
    rules = campaign.config.captions
    limits = Limits(rules.least_words, rules.most_words, rules.most_characters)
    elsewhere = [sight for _, sight in sorted(sights.items()) if sight.things]
    characters = (NEVER_DESCRIBES, *CARELESS_WRITERS) if rules.cannot_describe else CARELESS_WRITERS
    bad = dict(zip(sorted(careless), characters * crew.size, strict=False))
    kinds = [bad.get(index, HONEST) for index in range(crew.size)]
    captioners = [
        Captioner(writer_of(kind, rng, elsewhere), limits, sights, kind == NEVER_DESCRIBES)
        for kind in kinds
    ]
    return [
        Hand(kind, captioner, captioner.practise)
        for kind, captioner in zip(kinds, captioners, strict=True)
    ]


def is_poor(address: str) -> bool:
    """Whether the image at this address is one of those that honest workers cannot describe."""
    return crc32(address.encode()) % ONE_POOR_IN == 0


def writer_of(kind: str, rng: random.Random, elsewhere: Sequence[Sight]) -> Writer:
    match kind:
        case "honest" | "never describes":
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
        return fault_of(response, self.sights[response.task.image_id], self.known)


def fault_of(response: Response, sight: Sight, known: Collection[str]) -> str:
    """The reason why a response is bad, as `fault` of a caption."""
    if response.cannot_describe:
        poor = is_poor(display_url(response.task.image))
        return "" if poor else "not described, although it can be"
    others = Response.objects.filter(worker=response.worker_id, caption__isnull=False)
    texts = others.exclude(pk=response.pk).values_list("caption__text", flat=True)
    return fault(response.caption.text, sight=sight, known=known, others=list(texts))


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
