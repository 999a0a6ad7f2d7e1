"""Class names in everyday language: singular, plural, and their positions in texts."""

import re

from corpora.language.tokens import tokens

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
