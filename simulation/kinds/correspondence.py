"""Simulated workers who link words to boxes by class name, with random errors, and a judge of
links."""

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from annotate.kinds.correspondence.answers import Correspondences, WordKind, as_value, box_value
from annotate.models import Campaign, ObjectClass, Response
from annotate.queries.images import numbered_boxes
from corpora.language.tokens import tokens
from simulation.workers.browser import Item, field_of
from simulation.workers.crowd import HONEST, Crew, Hand, Simulated
from simulation.workers.writers import references

AT_RANDOM = "at random"
# Words that refer to an image as a whole.
SCENE_WORDS = {"image", "moment", "photo", "photograph", "picture", "place", "view"}
KINDS = [frozenset({kind.value}) for kind in WordKind]
NOTHING = frozenset({WordKind.NOT_VISUAL.value})
# The values of a word's boxes, or only its kind.
Meaning = frozenset[str]


def true_meanings(
    caption: str, boxes: Mapping[str, str], known: Collection[str]
) -> dict[int, Meaning]:
    """The true meaning of each word of a caption, by word number.

    A word that names a class refers to all boxes of that class. `boxes` maps box values to class
    names, `known` are the classes that words may name.
    """
    named = references(caption, {*known, *boxes.values()})
    meanings = {}
    for number, word in enumerate(tokens(caption)):
        meaning = {box for box, name in boxes.items() if name == named.get(number)}
        if not meaning and number not in named and word.text.lower() in SCENE_WORDS:
            meaning = {WordKind.SCENE.value}
        meanings[number] = frozenset(meaning) or NOTHING
    return meanings


@dataclass(frozen=True)
class Linker:
    """Links words correctly, or with probability `errors` to a random other box or kind."""

    known: frozenset[str]
    errors: float

    def fill(self, item: Item, rng: random.Random, **_: bool) -> dict[str, str]:
        sentence = field_of(item, "[data-sentence]")
        shown = item.part.select("[data-boxes] [data-box]")
        boxes = {str(box["data-box"]): str(box["data-label"]) for box in shown}
        selects = {select["id"]: select for select in item.part.select("select[id]")}
        words = [selects[word["data-select"]] for word in sentence.select("[data-word]")]
        meanings = true_meanings(sentence.get_text(), boxes, self.known)
        said = [self._said(meanings[n], boxes, rng) for n in range(len(words))]
        # Words without a visible meaning are left empty, if the page allows it.
        return {
            str(word["name"]): " ".join(sorted(meaning))
            for word, meaning in zip(words, said, strict=True)
            if word.has_attr("required") or meaning != NOTHING
        }

    def _said(self, truth: Meaning, boxes: Collection[str], rng: random.Random) -> Meaning:
        if rng.random() >= self.errors:
            return truth
        others = [frozenset({box}) for box in boxes if box not in truth]
        return rng.choice(others + [kind for kind in KINDS if kind != truth])


def _linkers(campaign: Campaign, crew: Crew, _rng: random.Random, careless: set[int]) -> list[Hand]:
    names = _class_names(campaign)
    return [
        Hand(AT_RANDOM, Linker(names, errors=1))
        if index in careless
        else Hand(HONEST, Linker(names, crew.errors))
        for index in range(crew.size)
    ]


def _class_names(campaign: Campaign) -> frozenset[str]:
    """Names of the classes in the campaign's images."""
    boxed = ObjectClass.objects.filter(boxes__image__tasks__campaign=campaign)
    return frozenset(boxed.values_list("name", flat=True).distinct())


class _LinkJudge:
    """Finds an answer bad if most of a caption's words have the wrong boxes."""

    def __init__(self, campaign: Campaign) -> None:
        self.known = _class_names(campaign)
        self.parts = Correspondences.of(campaign.config).parts

    def __call__(self, response: Response) -> str:
        image, caption = response.task.image_id, response.task.subject
        assert caption is not None, "a task of this kind is about a caption"
        boxes = numbered_boxes([image], parts=self.parts)[image]
        names = {box_value(box.key): box.name for box in boxes}
        truth = true_meanings(caption.text, names, self.known)
        said = {int(n): set(as_value(x).split()) for n, x in response.correspondence.words.items()}
        wrong = sum(said.get(number, NOTHING) != meaning for number, meaning in truth.items())
        return "most words refer to something else" if 2 * wrong > len(truth) else ""


SIMULATED = Simulated(_linkers, _LinkJudge)
