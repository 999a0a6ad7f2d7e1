"""Sentences that break off, and words in an order that English does not have.

A short list of transitions between function words, rather than a parser: it knows next to nothing
of English but is nearly always right, takes microseconds, and can say which words it minds.
"""

import re
from functools import lru_cache

from annotate.language.tokens import written

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
    # These can stand alone, too: "the cars drive by".
    "particle": _listed(
        "in on by up down off over through around near behind along across under inside outside "
        "above below"
    ),
    "conjunction": _listed("and or but"),
    "be": _listed("is are was were"),
    "have": _listed("has have had"),
    "pronoun": _listed("he she they it who which"),
    "to": _listed("to"),
    # Words that want a noun after them.
    "attribute": _listed("several various numerous multiple very large small little every"),
    "transitive": _listed("wearing holding featuring containing including having using"),
    # Things that captions name often and that are no verbs, too.
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

# After a word of the class on the left no word of the classes on the right can come.
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
# Pairs that come in good sentences all the same: "parked in the near distance", "up and down".
ALLOWED = _listed(
    "the inside/the outside/the above/the near/a near/the below/an over/an above/an off/a down/"
    "an under/a through/an up/the under/an inside/an outside/the over/the down/the up/an on/"
    "from between/from behind/from under/from inside/from above/up and/over and/down and/off and/"
    "through and/in and/on and/around and/inside and/outside and/by and/behind and/above and/"
    "beside of/large to/small to/little to",
    "/",
)
# Adjectives that end a sentence as well: "the room is small".
MAY_END = _listed("large small little several various numerous multiple")
MAY_DOUBLE = _listed("had that very")
# A word that begins with the sound of a vowel ("one" and "unicorn" do not), and of a consonant.
VOWEL = re.compile(r"[aeiou](?!ne\b|ni|se|ur|ti|we|k)")
CONSONANT = re.compile(r"[bcdgjkpqtvwyz][a-z]*[aeiouy]")
CAPITAL_IN_MIDDLE = re.compile(r"[a-z,]\s+(A|An|The|In|On|With|And|Is|Are|Of|At|There|Several)\s")
STOP_IN_MIDDLE = re.compile(r"[a-z]{3,40}\.\s+[a-z]")


def impossible_pairs(text: str) -> list[str]:
    """Pairs of neighbouring words that English does not have, the sentence's end left aside."""
    sequence = [BEGIN, *_tokens(text)]
    pairs = [
        f"{left} {right}".removeprefix(f"{BEGIN} ")
        for left, right in zip(sequence, sequence[1:], strict=False)
        if _is_impossible(left, right)
    ]
    spelt = [found.group().strip() for found in CAPITAL_IN_MIDDLE.finditer(text)]
    return pairs + spelt + [found.group() for found in STOP_IN_MIDDLE.finditer(text)]


def breaks_off_at(text: str) -> str:
    """The last word of a text, where no sentence can end; empty for one that may be complete."""
    tokens = _tokens(text)
    if not tokens or tokens[-1] in MAY_END:
        return ""
    return tokens[-1] if _is_impossible(tokens[-1], END) else ""


@lru_cache(maxsize=4096)
def function_word_share(tokens: tuple[str, ...]) -> float:
    """How many of the words are function words, 0 to 1: about 0.45 of a caption's. Conjunctions,
    which lists have too, are left aside."""
    rest = [token for token in tokens if token not in CLASSES["conjunction"]]
    return sum(token in FUNCTION_WORDS for token in rest) / len(rest) if rest else 0.0


def _tokens(text: str) -> list[str]:
    """Words in lower case, with the commas and stops between them, which part what they part."""
    return written(text.casefold().rstrip(" .!?\"”'"), STOPS)


def _is_impossible(left: str, right: str) -> bool:
    if f"{left} {right}" in ALLOWED:
        return False
    if left == right and left.isalpha() and len(left) > 1:
        return left not in MAY_DOUBLE
    if left == "a" and VOWEL.match(right) or left == "an" and CONSONANT.match(right):
        return True
    return CLASS_OF.get(right, "") in IMPOSSIBLE.get(CLASS_OF.get(left, ""), ())
