"""Find the pairs of concepts in a caption, by its words or by its dependency parse.

By the words, an adjective belongs to a noun at most WINDOW words after it, with no other noun, verb
or small word in between (`a black and white cat`), or before it with a form of *be* (`the cat is
black`). A verb belongs to the nearest noun at most WINDOW words before it (`a man is quickly
eating`). Nouns and verbs are those of the concepts.

By the parse, the two words must be connected directly: an adjective as a modifier or predicate of
the noun, a verb as its predicate, or as a clause that describes the noun. An object of a verb does
not count. Words that are joined share what they depend on and their subject (`a man sits and
eats`).

The concepts and the 24 pairs are those of Nikolaus et al. (2019), table 1. `pairs.csv` has the
paper's pairs. The synonyms in `concepts.csv` were written for this project, because the paper's
appendix with its own was not at hand. Parses come from a CoNLL-U file or a spaCy model.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from corpora.errors import DomainError
from corpora.language.english import words as words_of
from corpora.language.word_forms import word_forms
from corpora.reading.files import MalformedFile, open_text, short


class PartOfSpeech(Enum):
    ADJECTIVE = "adjective"
    NOUN = "noun"
    VERB = "verb"


class Concept(NamedTuple):
    """A set of synonyms, as lemmas and as the words of a text."""

    name: str
    part: PartOfSpeech
    lemmas: frozenset[str]
    words: frozenset[str]


class Pair(NamedTuple):
    """An adjective and the noun that it describes, or a verb and its subject."""

    modifier: Concept
    noun: Concept

    @property
    def name(self) -> str:
        """`black cat`, `eat man`: the modifier first, as in the paper."""
        return f"{self.modifier.name} {self.noun.name}"


@cache
def concepts() -> dict[str, Concept]:
    return {row["concept"]: _concept(row) for row in _rows("concepts.csv")}


@cache
def all_pairs() -> tuple[Pair, ...]:
    """The 24 pairs of the paper."""
    by_name = concepts()
    return tuple(Pair(by_name[row["modifier"]], by_name[row["noun"]]) for row in _rows("pairs.csv"))


def pairs_named(names: Iterable[str]) -> tuple[Pair, ...]:
    """The pairs with these names, all if there are no names; raises DomainError."""
    wanted = list(names)
    by_name = {pair.name: pair for pair in all_pairs()}
    for name in wanted:
        if name not in by_name:
            raise DomainError(f"There is no pair {name!r}. Pairs: {', '.join(by_name)}.")
    return tuple(by_name[name] for name in dict.fromkeys(wanted)) or all_pairs()


def _rows(name: str) -> list[dict[str, str]]:
    table = files("corpora.captioners").joinpath(name)
    return list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))


def _concept(row: dict[str, str]) -> Concept:
    part, lemmas = PartOfSpeech(row["part"]), frozenset(row["lemmas"].split())
    words = lemmas | frozenset(row["words"].split())
    if part is PartOfSpeech.NOUN:
        words |= {form for lemma in lemmas for form in word_forms(lemma)}
    return Concept(row["concept"], part, lemmas, words)


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

    @property
    def base(self) -> str:
        """The relation to the head without its subtype: `acl` for `acl:relcl`."""
        return self.relation.split(":")[0]


class Arc(NamedTuple):
    """A word, one on which it depends, and the relation without its subtype."""

    node: Node
    head: Node
    relation: str


Sentence = Sequence[Node]
# Relations of a dependent to its head, without subtypes.
ADJECTIVE_OF_NOUN = {"amod", "acl"}
VERB_OF_NOUN = {"acl"}
SUBJECT_OF = {"nsubj"}
# In spaCy's English models, a predicate adjective depends on the form of *be*, as the subject does.
PREDICATES = {"acomp", "attr"}
JOINED = "conj"


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
        for arcs in map(list, map(_arcs, sentences))
        for pair in pairs
        if any(_is_pair(arc, pair) for arc in arcs)
    }


def _are_together(words: Sequence[str], pair: Pair) -> bool:
    rule = _has_verb if pair.modifier.part is PartOfSpeech.VERB else _has_adjective
    return any(
        rule(words, place, pair) for place, word in enumerate(words) if word in pair.noun.words
    )


def _has_adjective(words: Sequence[str], noun: int, pair: Pair) -> bool:
    """Whether the noun at this place has the adjective, before it or after a form of *be*."""
    before = reversed(words[max(0, noun - WINDOW) : noun])
    predicate = words[noun + 1 : noun + 1 + WINDOW]
    barriers = SMALL_WORDS | _words_of(PartOfSpeech.NOUN, PartOfSpeech.VERB)
    return _comes_first(before, pair.modifier, barriers) or (
        bool(predicate)
        and predicate[0] in BE
        and _comes_first(predicate[1:], pair.modifier, barriers)
    )


def _has_verb(words: Sequence[str], noun: int, pair: Pair) -> bool:
    """Whether the verb follows the noun at this place, with no other noun in between."""
    after = words[noun + 1 : noun + 1 + WINDOW]
    return _comes_first(after, pair.modifier, _words_of(PartOfSpeech.NOUN))


def _comes_first(words: Iterable[str], modifier: Concept, barriers: Collection[str]) -> bool:
    """Whether the modifier comes before all barriers."""
    met = (word for word in words if word in modifier.words or word in barriers)
    return next(met, "") in modifier.words


@cache
def _words_of(*parts: PartOfSpeech) -> frozenset[str]:
    return frozenset().union(
        *(concept.words for concept in concepts().values() if concept.part in parts)
    )


def _arcs(sentence: Sentence) -> Iterator[Arc]:
    """Each word with the words that it depends on, alone or together with others."""
    by_number = {node.number: node for node in sentence}
    dependents = defaultdict(list)
    for node in sentence:
        dependents[node.head].append(node)
    for node in sentence:
        role = _role(node, by_number)
        if head := by_number.get(role.head):
            yield Arc(node, head, role.base)
            if role.base in SUBJECT_OF:
                for predicate in _with_same_subject(head, dependents):
                    yield Arc(node, predicate, role.base)


def _role(node: Node, by_number: Mapping[int, Node]) -> Node:
    """The word whose head is also this word's.

    It is the first of joined words, or the verb of a predicate in a clause that describes a noun.
    """
    for _ in by_number:
        head = by_number.get(node.head)
        if head and (node.base == JOINED or (node.base in PREDICATES and head.base == "acl")):
            node = head
    return node


def _with_same_subject(verb: Node, dependents: Mapping[int, Sequence[Node]]) -> Iterator[Node]:
    """The predicates of a verb, and what is joined to the verb or to them without a subject."""
    seen, waiting = {verb.number}, [verb]
    while waiting:
        for node in dependents.get(waiting.pop().number, ()):
            own = {dependent.base for dependent in dependents.get(node.number, ())}
            is_joined = node.base == JOINED and not own & SUBJECT_OF
            if node.number not in seen and (is_joined or node.base in PREDICATES):
                seen.add(node.number)
                waiting.append(node)
                yield node


def _is_pair(arc: Arc, pair: Pair) -> bool:
    noun, modifier = pair.noun.lemmas, pair.modifier.lemmas
    describing = ADJECTIVE_OF_NOUN if pair.modifier.part is PartOfSpeech.ADJECTIVE else VERB_OF_NOUN
    if arc.head.lemma in noun and arc.node.lemma in modifier:
        return arc.relation in describing
    return arc.head.lemma in modifier and arc.node.lemma in noun and arc.relation in SUBJECT_OF


CONLLU_COLUMNS = 10
SENTENCE_ID = re.compile(r"# sent_id = (\d{1,18})(?:[-.]\d+)?\s*")


def read_conllu(path: Path) -> dict[int, list[Sentence]]:
    """The sentences of each caption by the caption's id; raises MalformedFile.

    Each sentence begins with `# sent_id = ID`. A caption of several sentences has `ID-1`, `ID-2`.
    """
    sentences: dict[int, list[Sentence]] = defaultdict(list)
    with open_text(path) as text:
        for first, rows in _blocks(text.lines()):
            nodes = [
                _node(path, row, line)
                for line, row in enumerate(rows, start=first)
                if not row.startswith("#")
            ]
            sentences[_caption(path, rows, first)].append([node for node in nodes if node])
    if not sentences:
        raise MalformedFile(path, "the file has no sentence")
    return sentences


def _blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The sentences as lines, each with the number of its first line."""
    numbered = enumerate((line.rstrip("\r\n") for line in lines), start=1)
    for has_text, group in groupby(numbered, key=lambda item: bool(item[1])):
        if has_text:
            numbers, rows = zip(*group, strict=True)
            yield numbers[0], list(rows)


def _caption(path: Path, rows: Iterable[str], line: int) -> int:
    """The id of the caption to which the sentence belongs."""
    for row in rows:
        if match := SENTENCE_ID.fullmatch(row):
            return int(match[1])
    raise MalformedFile(path, "the sentence has no `# sent_id = ID` with a caption's id", line)


def _node(path: Path, row: str, line: int) -> Node | None:
    """The word of a line; None for words of several tokens and empty nodes, which have no head."""
    cells = row.split("\t")
    if len(cells) != CONLLU_COLUMNS:
        raise MalformedFile(
            path, f"{CONLLU_COLUMNS} columns are expected, there are {len(cells)}", line
        )
    if "-" in cells[0] or "." in cells[0]:
        return None
    try:
        return Node(int(cells[0]), cells[2].casefold(), int(cells[6]), cells[7])
    except ValueError:
        raise MalformedFile(
            path, f"ID {short(cells[0])} or HEAD {short(cells[6])} is not a number", line
        ) from None


def spacy_parser(model: str) -> Callable[[Iterable[str]], Iterator[list[Sentence]]]:
    """A function that parses texts with a spaCy model; raises DomainError.

    The model must be installed. Nothing is downloaded.
    """
    try:
        import spacy

        language = spacy.load(model)
    except ImportError as error:
        raise DomainError("spaCy is not installed. Install it with `pip install spacy`.") from error
    except OSError as error:
        raise DomainError(
            f"spaCy has no model {model!r}. Install the model's package, or use --parses."
        ) from error

    def parse(texts: Iterable[str]) -> Iterator[list[Sentence]]:
        for document in language.pipe(texts):
            yield [[_spacy_node(token) for token in sent] for sent in document.sents]

    return parse


# Universal Dependencies' names of relations in spaCy's English models.
UNIVERSAL = {"nsubjpass": "nsubj:pass", "relcl": "acl:relcl"}


def _spacy_node(token: Any) -> Node:
    """spaCy's root is its own head."""
    head = 0 if token.head.i == token.i else token.head.i + 1
    relation = UNIVERSAL.get(token.dep_, token.dep_)
    return Node(token.i + 1, token.lemma_.casefold(), head, relation)
