"""Words for a class of objects in captions: its name in singular and plural."""

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inflect import engine

# Shorter spellings that captions use, as in the authors' code for constrained beam search.
SHORTER = {
    "band-aid": "bandaid",
    "wood-burning stove": "wood burning stove",
    "kitchen & dining room table": "table",
    "salt and pepper shakers": "salt and pepper",
    "power plugs and sockets": "power plugs",
    "luggage and bags": "luggage",
}
# Singular nouns whose last letters look like a plural, besides those that `inflect` knows.
SINGULAR_ENDINGS = ("is", "thermos")
# Nouns in -o with the plural "potatoes" alone, and with two, "mangos" and "mangoes"
# (Merriam-Webster). All others have "tacos".
OES = ("dingo", "echo", "embargo", "hero", "potato", "tomato", "torpedo", "veto")
OS_OR_OES = {
    "avocado",
    "banjo",
    "buffalo",
    "cargo",
    "domino",
    "flamingo",
    "fresco",
    "gazebo",
    "grotto",
    "halo",
    "lasso",
    "mango",
    "manifesto",
    "memento",
    "mosquito",
    "motto",
    "tornado",
    "tuxedo",
    "volcano",
    "zero",
}
# Plural nouns without a singular of the same meaning.
PLURAL_ONLY = {
    "baked goods",
    "binoculars",
    "cattle",
    "cosmetics",
    "glasses",
    "goggles",
    "headphones",
    "jeans",
    "luggage",
    "office supplies",
    "salt and pepper",
    "scissors",
    "shorts",
    "sunglasses",
    "trousers",
}


def plain_name(name: str) -> str:
    """The name in lower case, without brackets such as those of "Ball (Object)", and without
    hyphens around it, with which `inflect` fails."""
    return re.sub(r"\s*\([^)]*\)", "", name.casefold()).strip(" -")


@cache
def word_forms(name: str) -> tuple[str, ...]:
    """Lower-case forms of a class's name, singular first: `("dog", "dogs")`, and
    `("mango", "mangos", "mangoes")`. A name in another script has no English plural."""
    plain = plain_name(name)
    folded = SHORTER.get(plain, plain)
    if not folded or folded in PLURAL_ONLY or not _may_be_english(folded[-1]):
        return (folded,)
    singular = _singular(folded)
    if singular.rpartition(" ")[2] in OS_OR_OES:
        return (singular, f"{singular}s", f"{singular}es")
    return tuple(dict.fromkeys((singular, folded, _plural(singular))))


def _may_be_english(character: str) -> bool:
    return character.isascii() or unicodedata.name(character, "").startswith("LATIN")


def _singular(name: str) -> str:
    if name.endswith(SINGULAR_ENDINGS) and not name.endswith("skis"):
        return name
    # `inflect` takes the s from "lens", too, but knows its plural. It turns "dogs" into "dogss".
    if name.endswith("s") and not _english().plural_noun(name).endswith("ss"):
        return name
    return _english().singular_noun(name) or name


def _plural(singular: str) -> str:
    if singular.endswith("o"):
        return f"{singular}es" if singular.endswith(OES) else f"{singular}s"
    plural = _english().plural_noun(singular) or singular
    return f"{plural[:-1]}es" if plural.endswith("ss") else plural.lower()


@cache
def _english() -> "engine":
    import inflect

    return inflect.engine()
