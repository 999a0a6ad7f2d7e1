"""Find the names of classes in captions."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from annotate.language.english import stem, words
from annotate.report.corpus import Corpus

Phrase = tuple[str, ...]


class Names:
    """Finds names in captions: the same words in a row, singular or plural.

    Synonyms do not count: "people" is not "Person". What a name has in brackets is left out, as in
    Open Images V7's "Ball (Object)".
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(set(names))
        self._by_first: dict[str, list[tuple[Phrase, int]]] = defaultdict(list)
        for number, name in enumerate(self.names):
            if phrase := _phrase(name):
                self._by_first[phrase[0]].append((phrase, number))

    def words(self) -> set[str]:
        """The stems of all words of the names."""
        found = (phrase for some in self._by_first.values() for phrase, _ in some)
        return {word for phrase in found for word in phrase}

    def found_in(self, corpus: Corpus) -> Iterator[set[int]]:
        """The numbers of the names in each caption."""
        stems = [stem(word) for word in corpus.vocabulary]
        texts = [stems[number] for number in corpus.numbers]
        for begin, end in zip(corpus.starts, corpus.starts[1:], strict=False):
            yield self._found(texts[begin:end])

    def _found(self, text: Sequence[str]) -> set[int]:
        return {
            number
            for place, word in enumerate(text)
            for phrase, number in self._by_first.get(word, ())
            if tuple(text[place : place + len(phrase)]) == phrase
        }


def _phrase(name: str) -> Phrase:
    return tuple(stem(word) for word in words(re.sub(r"\([^)]*\)", "", name)))
