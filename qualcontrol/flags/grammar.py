"""Find sentences that break off, and word orders that English does not have.

The module has a short list of impossible transitions between function words, not a parser. It finds
few errors, but is nearly always right, takes microseconds, and can name the words.
"""

import re
from functools import lru_cache

from corpora.language.tokens import written

BEGIN, END = "^", "$"
STOPS = ',.;:!?()"“”'


def _listed(words: str, separator: str | None = None) -> frozenset[str]:
    return frozenset(words.split(separator))


CLASSES = {
    "article": _listed("a an the"),
    "possessive": _listed("his their its my your our"),
    "preposition": _listed(
        "of with from into onto at for during among between against toward towards beside upon "
        "without"
    ),
    # These can also stand alone: "the cars drive by".
    "particle": _listed(
        "in on by up down off over through around near behind along across under inside outside "
        "above below"
    ),
    "conjunction": _listed("and or but"),
    "be": _listed("is are was were"),
    "have": _listed("has have had"),
    "pronoun": _listed("he she they it who which"),
    "to": _listed("to"),
    # Words that need a noun after them.
    "attribute": _listed("several various numerous multiple very large small little every"),
    "transitive": _listed("wearing holding featuring containing including having using"),
    # Things that captions name often and that are not also verbs.
    "noun": _listed(
        "animal animals background bathroom beach bear bed bench bicycle bird boat bottle bowl boy "
        "building buildings bus cake camera car cars cat chair chairs child children clock "
        "computer couch cow desk dog door elephant flowers food game giraffe girl glasses grass "
        "guy hair hands hat helmet horse jacket keyboard kid kitchen lady laptop man men "
        "motorcycle ocean oven people person pizza plane player players racket refrigerator road "
        "room sandwich sheep shirt sidewalk skateboard sky sofa stove street surfboard table team "
        "television toilet train tree trees truck umbrella vase vegetables wall window windows "
        "woman women zebra"
    ),
}
CLASS_OF = {word: name for name, listed in CLASSES.items() for word in listed}
CLASS_OF |= {BEGIN: BEGIN, END: END}
CONTENT_CLASSES = ("attribute", "transitive", "noun")
FUNCTION_WORDS = frozenset(CLASS_OF).difference(*(CLASSES[name] for name in CONTENT_CLASSES)) | (
    _listed(
        "this that these those be being been while as some her him them there where next out not "
        "no each other"
    )
)

# A word of the class on the left cannot be followed by a word of the classes on the right.
IMPOSSIBLE = {
    BEGIN: _listed("conjunction be to"),
    "article": _listed(
        f"article possessive preposition particle conjunction be have pronoun to {END}"
    ),
    "possessive": _listed(f"article possessive preposition particle conjunction be have to {END}"),
    "preposition": _listed(f"preposition conjunction be have to {END}"),
    "particle": _listed("conjunction be have"),
    "conjunction": _listed(f"conjunction {END}"),
    "be": _listed(f"be have conjunction {END}"),
    "have": _listed(f"be have conjunction preposition {END}"),
    "to": _listed(f"to conjunction be preposition particle {END}"),
    "attribute": _listed(f"article be have pronoun to {END}"),
    "transitive": _listed(f"be have to {END}"),
    "noun": _listed("article possessive"),
}
# Exceptions that good sentences have: "parked in the near distance", "up and down".
ALLOWED = _listed(
    "the inside/the outside/the above/the near/a near/the below/an over/an above/an off/a down/"
    "an under/a through/an up/the under/an inside/an outside/the over/the down/the up/an on/"
    "from between/from behind/from under/from inside/from above/up and/over and/down and/off and/"
    "through and/in and/on and/around and/inside and/outside and/by and/behind and/above and/"
    "beside of/large to/small to/little to",
    "/",
)
# Adjectives that can end a sentence: "the room is small".
MAY_END = _listed("large small little several various numerous multiple")
MAY_DOUBLE = _listed("had that very")
# Words that begin with the sound of a vowel ("one" and "unicorn" do not) or of a consonant.
VOWEL = re.compile(r"[aeiou](?!ne\b|ni|se|ur|ti|we|k)")
CONSONANT = re.compile(r"[bcdgjkpqtvwyz][a-z]*[aeiouy]")
CAPITAL_IN_MIDDLE = re.compile(r"[a-z,]\s+(A|An|The|In|On|With|And|Is|Are|Of|At|There|Several)\s")
STOP_IN_MIDDLE = re.compile(r"[a-z]{3,40}\.\s+[a-z]")


def impossible_pairs(text: str) -> list[str]:
    """Pairs of neighbouring words that English does not have. The end of the sentence is
    ignored."""
    sequence = [BEGIN, *_tokens(text)]
    pairs = [
        f"{left} {right}".removeprefix(f"{BEGIN} ")
        for left, right in zip(sequence, sequence[1:], strict=False)
        if _is_impossible(left, right)
    ]
    spelt = [match.group().strip() for match in CAPITAL_IN_MIDDLE.finditer(text)]
    return pairs + spelt + [match.group() for match in STOP_IN_MIDDLE.finditer(text)]


def breaks_off_at(text: str) -> str:
    """The last word of a text if no sentence can end with it; otherwise empty."""
    tokens = _tokens(text)
    if not tokens or tokens[-1] in MAY_END:
        return ""
    return tokens[-1] if _is_impossible(tokens[-1], END) else ""


@lru_cache(maxsize=4096)
def function_word_share(tokens: tuple[str, ...]) -> float:
    """The share of function words, 0 to 1. Captions have about 0.45. Conjunctions do not count,
    because lists have them, too."""
    counting = [token for token in tokens if token not in CLASSES["conjunction"]]
    return sum(token in FUNCTION_WORDS for token in counting) / len(counting) if counting else 0.0


def _tokens(text: str) -> list[str]:
    """Words in lower case, with commas and full stops between them as tokens."""
    return written(text.casefold().rstrip(" .!?\"”'"), STOPS)


def _is_impossible(left: str, right: str) -> bool:
    if f"{left} {right}" in ALLOWED:
        return False
    if left == right and left.isalpha() and len(left) > 1:
        return left not in MAY_DOUBLE
    if left == "a" and VOWEL.match(right) or left == "an" and CONSONANT.match(right):
        return True
    return CLASS_OF.get(right, "") in IMPOSSIBLE.get(CLASS_OF.get(left, ""), ())
