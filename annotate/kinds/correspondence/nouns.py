"""Guess which words of a caption name an object with a box, by the names of the boxes' classes.

The task page requires an answer for these words. The guess itself is never used as an answer.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from corpora.language.tokens import Token

HYPHEN = re.compile(r"[-‐‑\s]+")
POSSESSIVE = re.compile(r"['’ʼ]s?$")
IRREGULAR = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "people": "person",
    "feet": "foot",
    "teeth": "tooth",
    "geese": "goose",
    "mice": "mouse",
    "oxen": "ox",
}
PEOPLE = ("person", "somebody", "someone", "player", "rider", "worker")
CHILDREN = ("child", "kid", "toddler", "baby", "infant", *PEOPLE)
# Other names for the boxes of a class. The class's own name, and the last word of a longer name
# (`racket` for `Tennis racket`), need no entry.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "person": ("man", "woman", "boy", "girl", "guy", "lady", "crowd", "couple", *CHILDREN),
    "man": ("guy", "gentleman", "male", "boy", *PEOPLE),
    "woman": ("lady", "female", "girl", *PEOPLE),
    "boy": ("guy", *CHILDREN),
    "girl": ("lady", *CHILDREN),
    "dog": ("puppy", "pup"),
    "cat": ("kitten", "kitty"),
    "cattle": ("cow", "bull", "calf"),
    "horse": ("pony", "foal"),
    "chicken": ("hen", "rooster"),
    "car": ("vehicle", "automobile", "sedan"),
    "land vehicle": ("car", "truck", "bus", "van"),
    "truck": ("lorry", "pickup"),
    "taxi": ("cab",),
    "train": ("locomotive", "tram"),
    "bicycle": ("bike", "cycle"),
    "motorcycle": ("motorbike", "bike", "scooter"),
    "airplane": ("plane", "aeroplane", "jet", "aircraft"),
    "boat": ("ship", "vessel", "canoe"),
    "television": ("tv", "screen"),
    "computer monitor": ("screen", "display"),
    "laptop": ("computer", "notebook"),
    "mobile phone": ("phone", "cellphone", "smartphone"),
    "couch": ("sofa", "settee"),
    "studio couch": ("sofa", "bed"),
    "sofa bed": ("couch",),
    "cabinetry": ("cabinet", "cupboard"),
    "plant": ("flower", "bush", "tree"),
    "houseplant": ("plant",),
    "flower": ("rose", "tulip", "blossom"),
    "footwear": ("shoe", "boot", "sneaker", "sandal"),
    "clothing": ("clothes", "shirt", "dress", "jacket", "coat", "outfit", "suit"),
    "glasses": ("spectacles",),
    "handbag": ("bag", "purse"),
    "backpack": ("bag", "rucksack"),
    "ball": ("football", "baseball", "basketball"),
    "building": ("house", "tower", "church", "shop"),
    "house": ("building", "home", "cottage"),
    "drink": ("beverage", "juice"),
    "coffee cup": ("mug",),
    "mug": ("cup",),
    "wine glass": ("wine",),
    "fast food": ("burger", "fries"),
    "food": ("meal", "dish"),
    "human face": ("portrait",),
}

Form = tuple[frozenset[str], ...]


def suggested(words: Sequence[Token], names: Iterable[str]) -> set[int]:
    """Numbers of the words that match a name of one of the classes.

    Every word of a longer name (`hot dog`) is included.
    """
    written = [
        (number, _forms(part))
        for number, token in enumerate(words)
        for part in HYPHEN.split(POSSESSIVE.sub("", token.text.casefold()))
    ]
    numbers: set[int] = set()
    for form in {form for name in names for form in _callings(name)}:
        for place in range(len(written) - len(form) + 1):
            passage = written[place : place + len(form)]
            if all(want & have for want, (_, have) in zip(form, passage, strict=True)):
                numbers.update(number for number, _ in passage)
    return numbers


@lru_cache(maxsize=2048)
def _callings(name: str) -> tuple[Form, ...]:
    """All names of a class. Cached: there are a few hundred classes."""
    folded = name.casefold()
    own = HYPHEN.split(folded)
    called = [own, own[-1:], *([synonym] for synonym in SYNONYMS.get(folded, ()))]
    return tuple(tuple(_forms(word) for word in words) for words in called)


def _forms(word: str) -> frozenset[str]:
    """The word and its possible singulars; two words match if they have one in common."""
    forms = {word, IRREGULAR.get(word, word)}
    if word.endswith("s") and len(word) > 3:
        forms.add(word[:-1])
    if word.endswith("es") and len(word) > 4:
        forms.add(word[:-2])
    if word.endswith("ies"):
        forms.add(word[:-3] + "y")
    if word.endswith("ves"):
        forms |= {word[:-3] + "f", word[:-3] + "fe"}
    return frozenset(forms)
