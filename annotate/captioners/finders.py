"""The three ways to find pairs in captions: a CoNLL-U file, a spaCy model, or the words alone."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from annotate.captioners.concepts import Pair
from annotate.captioners.described import Described
from annotate.captioners.matching import pairs_in_parses, pairs_in_words
from annotate.captioners.parses import read_conllu, spacy_parser
from annotate.errors import DomainError

Found = Iterator[tuple[Described, set[str]]]


class ParseMissing(DomainError):
    """A caption has no sentence in the file of parses."""


def by_words(captions: Iterable[Described], pairs: Sequence[Pair]) -> Found:
    """Each caption with the names of its pairs, by the rule for words."""
    return ((caption, pairs_in_words(caption.text, pairs)) for caption in captions)


def by_conllu(captions: Iterable[Described], pairs: Sequence[Pair], path: Path) -> Found:
    """Each caption with the names of its pairs, by the parses in a CoNLL-U file.

    Raises ParseMissing if a caption has none.
    """
    parses = read_conllu(path)
    for caption in captions:
        if caption.id not in parses:
            raise ParseMissing(f"{path} has no sentence for caption {caption.id}.")
        yield caption, pairs_in_parses(parses[caption.id], pairs)


def by_spacy(captions: Sequence[Described], pairs: Sequence[Pair], model: str) -> Found:
    """Each caption with the names of its pairs, by the parses of a spaCy model."""
    parses = spacy_parser(model)(caption.text for caption in captions)
    for caption, sentences in zip(captions, parses, strict=True):
        yield caption, pairs_in_parses(sentences, pairs)
