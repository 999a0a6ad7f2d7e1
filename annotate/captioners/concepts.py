"""The concepts and the 24 pairs of Nikolaus et al. (2019), table 1.

`pairs.csv` has the pairs of the paper. The synonyms in `concepts.csv` were written for this
project, because the paper's appendix with its own was not at hand.
"""

import csv
from collections.abc import Iterable
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from annotate.captioners.word_forms import word_forms
from annotate.errors import DomainError


class UnknownPair(DomainError):
    """There is no pair of this name."""


class Kind(Enum):
    ADJECTIVE = "adjective"
    NOUN = "noun"
    VERB = "verb"


class Concept(NamedTuple):
    """A set of synonyms, as lemmas and as the words of a text."""

    name: str
    kind: Kind
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
    """All concepts by name."""
    return {row["concept"]: _concept(row) for row in _rows("concepts.csv")}


@cache
def all_pairs() -> tuple[Pair, ...]:
    """The 24 pairs of the paper."""
    known = concepts()
    return tuple(Pair(known[row["modifier"]], known[row["noun"]]) for row in _rows("pairs.csv"))


def pairs_named(names: Iterable[str]) -> tuple[Pair, ...]:
    """The pairs with these names, all if there are no names; raises UnknownPair."""
    wanted = list(names)
    known = {pair.name: pair for pair in all_pairs()}
    for name in wanted:
        if name not in known:
            raise UnknownPair(f"There is no pair {name!r}. Pairs: {', '.join(known)}.")
    return tuple(known[name] for name in dict.fromkeys(wanted)) or all_pairs()


def _rows(name: str) -> list[dict[str, str]]:
    table = files("annotate.captioners").joinpath(name)
    return list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))


def _concept(row: dict[str, str]) -> Concept:
    kind, lemmas = Kind(row["kind"]), frozenset(row["lemmas"].split())
    words = lemmas | frozenset(row["words"].split())
    if kind is Kind.NOUN:
        words |= {form for lemma in lemmas for form in word_forms(lemma)}
    return Concept(row["concept"], kind, lemmas, words)
