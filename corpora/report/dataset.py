"""The data of a release or a captions file, as far as it has them.

The captions are also arrays of word numbers, so that a hundred thousand can be counted in seconds,
and that the names of classes are found in them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from corpora.language.english import words
from corpora.language.languages import is_english
from corpora.language.word_forms import plain_name, word_forms

Numbers = npt.NDArray[np.int64]
LONGEST = 4


class NGrams(NamedTuple):
    """The number of the n-gram at each place, and the index of the caption that it is in."""

    numbers: Numbers
    captions: Numbers

    @property
    def unique(self) -> int:
        return int(self.numbers.max()) + 1 if self.numbers.size else 0


@dataclass(frozen=True)
class Corpus:
    """`numbers[starts[i]:starts[i + 1]]` are the words of caption i, as indices of `vocabulary`."""

    vocabulary: Sequence[str]
    numbers: Numbers
    starts: Numbers

    @classmethod
    def of(cls, captions: Iterable[Sequence[str]]) -> Self:
        numbers_of: dict[str, int] = {}
        numbers: list[int] = []
        starts = [0]
        for caption in captions:
            numbers += [numbers_of.setdefault(word, len(numbers_of)) for word in caption]
            starts.append(len(numbers))
        return cls(list(numbers_of), np.array(numbers, np.int64), np.array(starts, np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def lengths(self) -> Numbers:
        """The number of words of each caption."""
        return np.diff(self.starts)

    @cached_property
    def captions(self) -> Numbers:
        """The caption of each word."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    @property
    def types(self) -> int:
        """The number of different words."""
        return np.unique(self.numbers).size

    def take(self, captions: Numbers) -> "Corpus":
        """The corpus of these captions, in this order, with the same vocabulary."""
        lengths = self.lengths[captions]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        shifts = np.repeat(self.starts[captions] - starts[:-1], lengths)
        return Corpus(self.vocabulary, self.numbers[np.arange(starts[-1]) + shifts], starts)

    def ngrams(self) -> Iterator[NGrams]:
        """The 1- to 4-grams, none of which crosses the end of a caption."""
        places = np.arange(self.numbers.size)
        ends = np.repeat(self.starts[1:], self.lengths)
        numbers = np.zeros(self.numbers.size, np.int64)
        for length in range(1, LONGEST + 1):
            inside = places + length <= ends[places]
            places = places[inside]
            keys = numbers[inside] * max(len(self.vocabulary), 1)
            keys += self.numbers[places + length - 1]
            numbers = np.unique(keys, return_inverse=True)[1]
            yield NGrams(numbers, self.captions[places])

    def texts(self) -> list[list[str]]:
        """The words of each caption."""
        words = [self.vocabulary[number] for number in self.numbers]
        return [words[begin:end] for begin, end in zip(self.starts, self.starts[1:], strict=False)]


Indices = npt.NDArray[np.int64]
# The words of `corpora.language.english`, which campaign rules count, too. The tokenisers of
# `evaluate` also split short forms such as "isn't".
TOKENISER = "words"


def of_english_alone(name: str, language: str) -> dict[str, str]:
    """What a dataset in this language (a BCP 47 tag) lacks, with the reasons."""
    if is_english(language):
        return {}
    return {
        "names": f"The captions of {name} are not in English, as the names of classes are.",
        "function_words": "Function words, which are left out of content words, are known for "
        "English only.",
    }


@dataclass(frozen=True, slots=True)
class ReportImage:
    """An image; None stands for what the dataset does not say.

    `classes` has the class name of each box, without parts, so a name may be repeated. An image
    whose captions are hidden has none here.
    """

    number: int
    classes: tuple[str, ...] | None = None
    subset: str = ""
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class ReportCaption:
    """A caption of the image at the index `image`; `is_extra` marks the human baseline."""

    image: int
    text: str
    worker: int | None = None
    is_primed: bool | None = None
    is_extra: bool = False


@dataclass(frozen=True)
class Dataset:
    """Images in the order of the file, and captions in the order of their images.

    `lacks` gives the reason why the dataset does not say something: under `boxes`, `names` of
    classes in the captions' language, `function_words` of the language, `workers`, `priming` and
    `subsets`. `domains` has the domain of each class by the table `domain_table`.
    """

    name: str
    images: Sequence[ReportImage]
    captions: Sequence[ReportCaption]
    lacks: Mapping[str, str] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)
    domain_table: str = ""

    @cached_property
    def corpus(self) -> Corpus:
        """The words of all captions."""
        return Corpus.of(words(caption.text) for caption in self.captions)

    @cached_property
    def image_of(self) -> Indices:
        """The index of each caption's image."""
        return np.array([caption.image for caption in self.captions], dtype=np.int64)

    @cached_property
    def references(self) -> Indices:
        """The indices of the captions that are not the human baseline."""
        return self._where([not caption.is_extra for caption in self.captions])

    @cached_property
    def extras(self) -> Indices:
        """The indices of the human baseline's captions."""
        return self._where([caption.is_extra for caption in self.captions])

    @property
    def without_captions(self) -> str:
        """Why there are no captions, if there are none."""
        if any(image.is_hidden for image in self.images):
            return f"All captions of {self.name} are hidden."
        return f"{self.name} has no captions."

    def captions_by_image(self, captions: Indices) -> list[Indices]:
        """For each image the indices among these captions, in their order."""
        order = captions[np.argsort(self.image_of[captions], kind="stable")]
        ends = np.searchsorted(self.image_of[order], np.arange(1, len(self.images)))
        return np.split(order, ends) if self.images else []

    @staticmethod
    def _where(marks: Sequence[bool]) -> Indices:
        return np.flatnonzero(np.array(marks, dtype=bool)).astype(np.int64)


Phrase = tuple[str, ...]


class Names:
    """Finds names in captions: the words of a form in a row (see `corpora.language.word_forms`).

    Synonyms do not count: "guy" is not "Man".
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(set(names))
        self._by_first: dict[str, list[tuple[Phrase, int]]] = defaultdict(list)
        for number, name in enumerate(self.names):
            # The name itself, too: "wood-burning stove" is not one of the forms.
            for phrase in {words(form) for form in (*word_forms(name), plain_name(name))} - {()}:
                self._by_first[phrase[0]].append((phrase, number))

    def words(self) -> set[str]:
        """All words of the names' forms."""
        phrases = (phrase for some in self._by_first.values() for phrase, _ in some)
        return {word for phrase in phrases for word in phrase}

    def found_in(self, corpus: Corpus) -> Iterator[set[int]]:
        """The numbers of the names in each caption."""
        return map(self._found, corpus.texts())

    def _found(self, text: Sequence[str]) -> set[int]:
        return {
            number
            for place, word in enumerate(text)
            for phrase, number in self._by_first.get(word, ())
            if tuple(text[place : place + len(phrase)]) == phrase
        }
