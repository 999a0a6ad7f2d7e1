"""How simulated workers write captions, and which classes a caption names.

Honest ones write what they see, careless ones do not.
"""

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from django.db.models import Q, QuerySet

from annotate.images.copies import display_url
from annotate.models import Box, Campaign, Image
from annotate.queries.keywords import hidden_class_numbers
from corpora.language.tokens import tokens

# Number of objects that a box around a group stands for.
GROUP = 6
# A longer text has several sentences, each of at least this many words.
LONGEST_SENTENCE, LEAST_OF_SENTENCE = 30, 12


IRREGULAR = {
    "man": "men",
    "woman": "women",
    "snowman": "snowmen",
    "person": "people",
    "child": "children",
    "sheep": "sheep",
    "fish": "fish",
    "cattle": "cattle",
    "goose": "geese",
    "mouse": "mice",
    "knife": "knives",
    "shelf": "shelves",
    "loaf": "loaves",
    "wolf": "wolves",
    "clothing": "clothing",
    "furniture": "furniture",
    "food": "food",
    "aircraft": "aircraft",
}
# Words that are plural already, or uncountable.
UNCOUNTED = {"cattle", "clothing", "furniture", "food", "jeans", "trousers", "glasses", "scissors"}
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}

PEOPLE = {"person", "man", "woman", "boy", "girl", "child"}
ANIMALS = {"dog", "cat", "sheep", "horse", "cattle", "rabbit", "duck", "animal", "mammal", "swan"}
FLIERS = {"bird", "kite", "airplane", "fixed-wing aircraft", "balloon", "butterfly", "helicopter"}
VEHICLES = {"car", "bus", "truck", "bicycle", "motorcycle", "boat", "train", "van", "vehicle"}
VOWEL_SOUND = re.compile(r"(?!(uni|eu|one|use))[aeiou]", re.IGNORECASE)


@dataclass(frozen=True)
class Sight:
    """The contents of an image: number of objects by class. Empty if unknown."""

    things: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    least_words: int
    most_words: int
    most_characters: int = 10_000


class Writer(Protocol):
    """A way to write captions; `refused` is true if the previous text was refused."""

    def write(
        self, sight: Sight, limits: Limits, rng: random.Random, /, *, refused: bool
    ) -> str: ...


LOOKS = {
    "people": ("young", "smiling", "cheerful", "friendly", "relaxed"),
    "animals": ("small", "calm", "friendly", "curious", "fluffy"),
    "fliers": ("colorful", "small", "bright", "distant"),
    "vehicles": ("large", "shiny", "clean", "bright"),
    "things": ("plain", "colorful", "simple", "neat", "large", "small"),
}
DOING = {
    "people": ("standing", "waiting", "waving", "posing", "looking around", "taking a break"),
    "animals": ("standing", "resting", "walking around", "looking to the side"),
    "fliers": ("floating in the air", "up in the air", "hovering above everything else"),
    "vehicles": ("parked", "standing still", "in plain view"),
    "things": ("standing", "placed in plain view", "in full view", "shown in bright colors"),
}
BESIDE = ("next to", "beside", "near", "close to", "not far from", "in front of", "to one side of")
TOGETHER = ("with", "together with", "along with", "accompanied by")
ENDINGS = (
    "in a calm and tidy place",
    "on a quiet day with nobody in a hurry",
    "in a simple and friendly looking view",
    "in the middle of a colorful picture",
    "with plenty of open space around",
    "under soft and even light",
    "in a cheerful looking place",
)
OPENINGS = (
    "In a bright picture,",
    "In this quiet view,",
    "Seen from a few steps away,",
    "",
    "",
    "",
)
UNKNOWN_LOOKS = ("calm", "simple", "quiet", "bright")
UNKNOWN_VIEWS = ("view", "picture", "moment", "photograph")
UNKNOWN_DETAILS = ("many small details", "soft shapes", "clear outlines", "a few bright spots")


class Honest:
    """Writes an original sentence about the image, or several if they have to be long."""

    def write(self, sight: Sight, limits: Limits, rng: random.Random, *, refused: bool) -> str:
        if not refused and rng.random() < 0.03:
            return _too_short(sight, rng)
        for most_things in (5, 4, 3, 2, 1):
            text = _long_enough(sight, rng, most_things=most_things, least=limits.least_words)
            if len(text.split()) <= limits.most_words and len(text) <= limits.most_characters:
                break
        return text


class KeywordLister:
    """Lists the names of the objects, and adds words until the list is long enough."""

    def write(self, sight: Sight, limits: Limits, rng: random.Random, **_: bool) -> str:
        names = [called(name) for name in sight.things] or ["thing", "place", "color"]
        rng.shuffle(names)
        joined = rng.choice([" then ", " plus ", " also "]).join(names)
        filler = [
            "in",
            "this",
            "nice",
            "good",
            "photo",
            "image",
            "here",
            "now",
            "ok",
            "very",
            "yes",
        ]
        text = f"{joined} {rng.choice(['seen', 'shown', 'visible'])} {' '.join(filler[:4])}"
        for word in filler[4:]:
            if len(text.split()) >= limits.least_words:
                break
            text += f" {word}"
        return text


class Repeater:
    """Always writes the same sentence."""

    def __init__(self, rng: random.Random) -> None:
        adjective = rng.choice(["nice", "good", "beautiful", "interesting", "great"])
        self.text = f"This is a very {adjective} picture that I like to look at"

    def write(self, _sight: Sight, limits: Limits, _rng: random.Random, **_: bool) -> str:
        words = self.text.split()
        while len(words) < limits.least_words:
            words += ["again", "and", "again"]
        return " ".join(words) + "."


class Mixer:
    """Writes good sentences about other images."""

    def __init__(self, elsewhere: Sequence[Sight]) -> None:
        self.elsewhere = elsewhere

    def write(self, sight: Sight, limits: Limits, rng: random.Random, **_: bool) -> str:
        others = [other for other in self.elsewhere if not set(other.things) & set(sight.things)]
        other = rng.choice(others or list(self.elsewhere) or [Sight()])
        return Honest().write(other, limits, rng, refused=True)


def _long_enough(sight: Sight, rng: random.Random, *, most_things: int, least: int) -> str:
    """One sentence or, if more words are wanted, as many as it takes."""
    least_words = least if least <= LONGEST_SENTENCE else LEAST_OF_SENTENCE
    text = sentence(sight, rng, most_things=most_things, least_words=least_words)
    while len(text.split()) < least:
        text += " " + sentence(sight, rng, most_things=most_things, least_words=least_words)
    return text


def sentence(sight: Sight, rng: random.Random, *, most_things: int, least_words: int) -> str:
    """A sentence that names at most `most_things` objects, living ones first."""
    names = sorted(sight.things, key=lambda name: (_rank(name), rng.random()))
    chosen = names[: rng.randint(min(3, most_things), most_things)]
    words = _about(sight, chosen, rng) if chosen else _about_nothing(rng)
    endings = list(ENDINGS)
    rng.shuffle(endings)
    while len(words.split()) < least_words or (endings[1:] and rng.random() < 0.15):
        words += f" {endings.pop()}" if endings else " and more to see"
    return words[:1].upper() + words[1:] + "."


def _about(sight: Sight, names: Sequence[str], rng: random.Random) -> str:
    subject, *others = names
    count, kind = sight.things[subject], _kind(subject)
    phrase = _phrase(subject, count, rng)
    is_many = count > 1 or called(subject) in UNCOUNTED
    opening = rng.choice(OPENINGS)
    start = f"{opening} {phrase}" if opening else phrase
    text = f"{start} {'are' if is_many else 'is'} {rng.choice(DOING[kind])}"
    if others:
        text += f" {rng.choice(BESIDE)} {_phrase(others[0], sight.things[others[0]], rng)}"
    if others[1:]:
        phrases = [_phrase(name, sight.things[name], rng) for name in others[1:]]
        text += f", {rng.choice(TOGETHER)} {_enumerated(phrases)}"
    return text


def _about_nothing(rng: random.Random) -> str:
    """A general sentence, for an image with unknown contents."""
    view = with_article(f"{rng.choice(UNKNOWN_LOOKS)} {rng.choice(UNKNOWN_VIEWS)}")
    return f"{view} shows {rng.choice(UNKNOWN_DETAILS)} {rng.choice(ENDINGS)}"


def _phrase(name: str, count: int, rng: random.Random) -> str:
    """`a small dog`, `two dogs`, `several colorful birds`."""
    word = called(name)
    look = f"{rng.choice(LOOKS[_kind(name)])} " if rng.random() < 0.55 else ""
    if word in UNCOUNTED:
        return f"some {look}{word}"
    if count == 1:
        return with_article(look + word)
    number = NUMBERS.get(count, rng.choice(["several", "many", "a group of"]))
    return f"{number} {look}{plural(word)}"


def _enumerated(phrases: Sequence[str]) -> str:
    *first, last = phrases
    return f"{', '.join(first)} and {last}" if first else last


def _kind(name: str) -> str:
    word = called(name)
    for kind, words in (
        ("people", PEOPLE),
        ("animals", ANIMALS),
        ("fliers", FLIERS),
        ("vehicles", VEHICLES),
    ):
        if word in words:
            return kind
    return "things"


def _rank(name: str) -> int:
    return ("people", "animals", "vehicles", "things", "fliers").index(_kind(name))


def _too_short(sight: Sight, rng: random.Random) -> str:
    names = list(sight.things) or ["view"]
    return f"I see {with_article(called(rng.choice(names)))}."


def called(name: str) -> str:
    """A class name in everyday language: `Ball (Object)` is a ball."""
    return re.sub(r"\s*\(.*?\)", "", name).strip().lower()


def plural(word: str) -> str:
    """The plural; only the last word changes."""
    *first, last = word.split(" ")
    if last in UNCOUNTED:
        return word
    if last in IRREGULAR:
        last = IRREGULAR[last]
    elif last.endswith(("s", "x", "z", "ch", "sh")):
        last += "es"
    elif last.endswith("y") and last[-2:-1] not in set("aeiou"):
        last = last[:-1] + "ies"
    else:
        last += "s"
    return " ".join([*first, last])


def with_article(phrase: str) -> str:
    return ("an " if VOWEL_SOUND.match(phrase) else "a ") + phrase


def mentions(text: str, names: set[str]) -> set[str]:
    """The class names that a text mentions, in singular or plural."""
    return {name for _, _, name in _places(text, names)}


def references(text: str, names: set[str]) -> dict[int, str]:
    """The class that each word names, by word number from 0.

    All words of a longer name (`picture frame`) refer to it.
    """
    places = _places(text, names)
    return {
        number: name
        for number, word in enumerate(tokens(text))
        for start, end, name in places
        if start <= word.start and word.end <= end
    }


def _places(text: str, names: set[str]) -> list[tuple[int, int, str]]:
    """Start, end and name of each class name in a text.

    Of overlapping names the longest counts: a palm tree is not also a tree.
    """
    forms = {form: name for name in names for form in (called(name), plural(called(name)))}
    by_length = sorted(forms, key=len, reverse=True)
    if not by_length:
        return []
    pattern = re.compile(rf"\b({'|'.join(re.escape(form) for form in by_length)})\b")
    return [(*match.span(), forms[match[0]]) for match in pattern.finditer(text.lower())]


def sights_of(campaign: Campaign) -> dict[int, Sight]:
    """The contents of each of a campaign's images, and of its practice's, by primary key, without
    parts of objects."""
    things: dict[int, dict[str, int]] = defaultdict(dict)
    hidden = hidden_class_numbers()
    images = _images(campaign)
    rows = (
        Box.objects.verified()
        .filter(image__in=images)
        .values_list("image_id", "object_class_id", "object_class__name", "is_group")
    )
    for image, object_class, name, is_group in rows.iterator():
        if object_class not in hidden:
            things[image][name] = things[image].get(name, 0) + (GROUP if is_group else 1)
    return {image.pk: Sight(things.get(image.pk, {})) for image in images}


def sights_by_address(campaign: Campaign) -> dict[str, Sight]:
    """The contents of each image by the URL that the task page uses."""
    sights = sights_of(campaign)
    return {display_url(image): sights[image.pk] for image in _images(campaign)}


def _images(campaign: Campaign) -> QuerySet[Image]:
    shown = Q(tasks__campaign=campaign) | Q(practised_in=campaign)
    return Image.objects.filter(shown).distinct()
