"""Dependency parses of captions: from a CoNLL-U file, or by an installed spaCy model."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from corpora.captioners.matching import Node, Sentence
from corpora.errors import DomainError
from corpora.reading.files import MalformedFile, Progress, no_progress, open_text, short

COLUMNS = 10
SENTENCE_ID = re.compile(r"# sent_id = (\d+)(?:[-.]\d+)?\s*")


class NoParser(DomainError):
    """spaCy or its model is not installed."""


def read_conllu(path: Path, progress: Progress = no_progress) -> dict[int, list[Sentence]]:
    """The sentences of each caption by the caption's id; raises MalformedFile.

    Each sentence begins with `# sent_id = ID`. A caption of several sentences has `ID-1`, `ID-2`.
    """
    found: dict[int, list[Sentence]] = defaultdict(list)
    with open_text(path, progress) as text:
        for first, rows in _blocks(text.lines()):
            nodes = [
                _node(path, row, line)
                for line, row in enumerate(rows, start=first)
                if not row.startswith("#")
            ]
            found[_caption(path, rows, first)].append([node for node in nodes if node])
    if not found:
        raise MalformedFile(path, "the file has no sentence")
    return found


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
    if len(cells) != COLUMNS:
        raise MalformedFile(path, f"{COLUMNS} columns are expected, there are {len(cells)}", line)
    if "-" in cells[0] or "." in cells[0]:
        return None
    try:
        return Node(int(cells[0]), cells[2].casefold(), int(cells[6]), cells[7])
    except ValueError:
        raise MalformedFile(
            path, f"ID {short(cells[0])} or HEAD {short(cells[6])} is not a number", line
        ) from None


def spacy_parser(model: str) -> Callable[[Iterable[str]], Iterator[list[Sentence]]]:
    """A function that parses texts with a spaCy model; raises NoParser.

    The model must be installed. Nothing is downloaded.
    """
    try:
        import spacy

        language = spacy.load(model)
    except ImportError as error:
        raise NoParser("spaCy is not installed. Install it with `pip install spacy`.") from error
    except OSError as error:
        raise NoParser(
            f"spaCy has no model {model!r}. Install the model's package, or use --parses."
        ) from error

    def parse(texts: Iterable[str]) -> Iterator[list[Sentence]]:
        for document in language.pipe(texts):
            yield [[_spacy_node(token) for token in sent] for sent in document.sents]

    return parse


def _spacy_node(token: Any) -> Node:
    """spaCy's root is its own head."""
    head = 0 if token.head.i == token.i else token.head.i + 1
    return Node(token.i + 1, token.lemma_.casefold(), head, _universal(token.dep_))


def _universal(relation: str) -> str:
    """The Universal Dependencies name of a relation in spaCy's English models."""
    return {"nsubjpass": "nsubj:pass", "relcl": "acl:relcl"}.get(relation, relation)
