"""Find the pairs of concepts in a caption, by its words or by its dependency parse.

By the words, an adjective belongs to a noun at most WINDOW words after it, with no other noun, verb
or small word in between (`a black and white cat`), or before it with a form of *be* (`the cat is
black`). A verb belongs to the nearest noun at most WINDOW words before it (`a man is quickly
eating`). Nouns and verbs are those of the concepts.

By the parse, the two words must be connected directly: an adjective as a modifier or predicate of
the noun, a verb as its predicate, or as a clause that describes the noun. An object of a verb does
not count.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from annotate.captioners.concepts import Concept, Kind, Pair, concepts
from annotate.language.english import words as words_of

WINDOW = 4
BE = frozenset({"is", "are", "was", "were", "looks", "that's"})
# Words that begin another phrase, so that an adjective before them describes something else.
SMALL_WORDS = BE.union(
    ("a", "an", "the", "this", "that", "his", "her", "its", "their", "who", "which"),
    ("with", "in", "on", "at", "of", "by", "for", "from", "to", "near", "under", "over"),
    ("behind", "beside", "into", "onto", "next", "while", "as", "or", "but"),
)


class Node(NamedTuple):
    """A word of a dependency parse; `head` is the number of the word it depends on, 0 for none."""

    number: int
    lemma: str
    head: int
    relation: str


Sentence = Sequence[Node]
# Relations of a dependent to its head, without subtypes (`acl:relcl` is `acl`).
ADJECTIVE_OF_NOUN = {"amod", "acl"}
VERB_OF_NOUN = {"acl"}
SUBJECT_OF = {"nsubj"}


def pairs_in_words(text: str, pairs: Iterable[Pair]) -> set[str]:
    """Names of the pairs in a caption, by the rule for words."""
    words = words_of(text)
    present = set(words)
    return {
        pair.name
        for pair in pairs
        if present & pair.noun.words
        and present & pair.modifier.words
        and _are_together(words, pair)
    }


def pairs_in_parses(sentences: Iterable[Sentence], pairs: Sequence[Pair]) -> set[str]:
    """Names of the pairs in a caption's sentences, by their dependency parses."""
    return {
        pair.name
        for sentence in sentences
        for pair in pairs
        if any(_is_pair(node, head, pair) for node, head in _arcs(sentence))
    }


def _are_together(words: Sequence[str], pair: Pair) -> bool:
    rule = _has_verb if pair.modifier.kind is Kind.VERB else _has_adjective
    return any(
        rule(words, place, pair) for place, word in enumerate(words) if word in pair.noun.words
    )


def _has_adjective(words: Sequence[str], noun: int, pair: Pair) -> bool:
    """Whether the noun at this place has the adjective, before it or after a form of *be*."""
    for word in reversed(words[max(0, noun - WINDOW) : noun]):
        if word in pair.modifier.words:
            return True
        if word in SMALL_WORDS or word in _other_words():
            break
    predicate = words[noun + 1 : noun + 1 + WINDOW]
    return bool(predicate and predicate[0] in BE) and _first_is(predicate[1:], pair.modifier)


def _first_is(words: Sequence[str], adjective: Concept) -> bool:
    for word in words:
        if word in adjective.words:
            return True
        if word in SMALL_WORDS or word in _other_words():
            return False
    return False


def _has_verb(words: Sequence[str], noun: int, pair: Pair) -> bool:
    """Whether the verb follows the noun at this place, with no other noun in between."""
    for word in words[noun + 1 : noun + 1 + WINDOW]:
        if word in pair.modifier.words:
            return True
        if word in _noun_words():
            return False
    return False


@cache
def _noun_words() -> frozenset[str]:
    return _words_of_kinds(Kind.NOUN)


@cache
def _other_words() -> frozenset[str]:
    """Nouns and verbs, which no adjective reaches across."""
    return _words_of_kinds(Kind.NOUN, Kind.VERB)


def _words_of_kinds(*kinds: Kind) -> frozenset[str]:
    return frozenset().union(*(one.words for one in concepts().values() if one.kind in kinds))


def _arcs(sentence: Sentence) -> Iterable[tuple[Node, Node]]:
    """Each word with the word that it depends on."""
    by_number = {node.number: node for node in sentence}
    return ((node, by_number[node.head]) for node in sentence if node.head in by_number)


def _is_pair(node: Node, head: Node, pair: Pair) -> bool:
    relation = node.relation.split(":")[0]
    noun, modifier = pair.noun.lemmas, pair.modifier.lemmas
    describing = ADJECTIVE_OF_NOUN if pair.modifier.kind is Kind.ADJECTIVE else VERB_OF_NOUN
    if head.lemma in noun and node.lemma in modifier:
        return relation in describing
    return head.lemma in modifier and node.lemma in noun and relation in SUBJECT_OF
