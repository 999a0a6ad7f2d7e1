"""What simulated people know of words: how a class is called, one of it and several of it."""

import re

from annotate.language.tokens import tokens

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
# Words that are several already, or that are not counted.
UNCOUNTED = {"cattle", "clothing", "furniture", "food", "jeans", "trousers", "glasses", "scissors"}
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}

PEOPLE = {"person", "man", "woman", "boy", "girl", "child"}
ANIMALS = {"dog", "cat", "sheep", "horse", "cattle", "rabbit", "duck", "animal", "mammal", "swan"}
FLIERS = {"bird", "kite", "airplane", "fixed-wing aircraft", "balloon", "butterfly", "helicopter"}
VEHICLES = {"car", "bus", "truck", "bicycle", "motorcycle", "boat", "train", "van", "vehicle"}
VOWEL_SOUND = re.compile(r"(?!(uni|eu|one|use))[aeiou]", re.IGNORECASE)


def called(name: str) -> str:
    """A class name as a person would say it: `Ball (Object)` is a ball."""
    return re.sub(r"\s*\(.*?\)", "", name).strip().lower()


def plural(word: str) -> str:
    """Several of it: only the last word changes."""
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
    """Which of the class names a text speaks of, in the singular or the plural."""
    return {name for _, _, name in _places(text, names)}


def references(text: str, names: set[str]) -> dict[int, str]:
    """The class that a word of the text names, by the word's number from 0; every word of a
    longer name (`picture frame`) names it."""
    places = _places(text, names)
    return {
        number: name
        for number, word in enumerate(tokens(text))
        for start, end, name in places
        if start <= word.start and word.end <= end
    }


def _places(text: str, names: set[str]) -> list[tuple[int, int, str]]:
    """Where a text names a class. A palm tree is not also a tree: of names inside one another the
    longest counts."""
    forms = {form: name for name in names for form in (called(name), plural(called(name)))}
    by_length = sorted(forms, key=len, reverse=True)
    if not by_length:
        return []
    pattern = re.compile(rf"\b({'|'.join(re.escape(form) for form in by_length)})\b")
    return [(*found.span(), forms[found[0]]) for found in pattern.finditer(text.lower())]
