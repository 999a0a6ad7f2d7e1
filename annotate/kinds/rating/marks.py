"""The words of a caption that a worker marks as not true of the image, and what is missing.

Plain Python. An answer has, under "marks" and a caption's number on the page, the numbers of its
wrong words, from 1, and the text: `{"1": {"wrong": [2, 3], "missing": "the dog"}}`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from corpora.language.tokens import tokens

MARKS = "marks"
# Characters that are kept of what is missing.
MOST_MISSING = 500

Mark = Mapping[str, Any]


def _wrong(word: int, caption: int, task: int) -> str:
    return f"wrong-{word}-{caption}-{task}"


def _missing(caption: int, task: int) -> str:
    return f"missing-{caption}-{task}"


def mark_names(texts: Sequence[str], task: int) -> Iterator[str]:
    """The form's fields of all marks: a checkbox for each word, and a text for each caption."""
    for caption, text in enumerate(texts, start=1):
        yield _missing(caption, task)
        yield from (_wrong(word, caption, task) for word in range(1, len(tokens(text)) + 1))


def parse_marks(fields: Mapping[str, str], texts: Sequence[str], task: int) -> dict[str, Any]:
    """The marks of each caption that has any."""
    marks = {}
    for caption, text in enumerate(texts, start=1):
        words = range(1, len(tokens(text)) + 1)
        wrong = [word for word in words if fields.get(_wrong(word, caption, task))]
        missing = " ".join(fields.get(_missing(caption, task), "").split())[:MOST_MISSING]
        if wrong or missing:
            marks[str(caption)] = {"wrong": wrong, "missing": missing}
    return marks


def mark_fields(marks: Mapping[str, Mark], task: int) -> dict[str, str]:
    """The fields from which `parse_marks` reads these marks."""
    fields: dict[str, str] = {}
    for caption, mark in marks.items():
        fields |= {_wrong(word, int(caption), task): "1" for word in mark["wrong"]}
        if mark["missing"]:
            fields[_missing(int(caption), task)] = mark["missing"]
    return fields


def shown_marks(text: str, caption: int, task: int, fields: Mapping[str, str]) -> dict[str, Any]:
    """What the form shows: each word with its field and the text before it, and the rest."""
    words, end = [], 0
    for number, token in enumerate(tokens(text), start=1):
        field = _wrong(number, caption, task)
        words.append(
            {
                "before": text[end : token.start],
                "text": token.text,
                "field": field,
                "is_marked": bool(fields.get(field)),
            }
        )
        end = token.end
    field = _missing(caption, task)
    return {"words": words, "rest": text[end:], "field": field, "missing": fields.get(field, "")}


class Marked(NamedTuple):
    """A caption, and the mark of each worker who judged it, by the worker's number; an empty mark
    says that nothing is wrong."""

    text: str
    marks: Mapping[int, Mark]

    def spans(self, worker: int) -> list[dict[str, Any]]:
        """What the worker marked: runs of words, each with its text and place in the caption."""
        words = tokens(self.text)
        wrong = [n for n in self.marks[worker].get("wrong", ()) if n <= len(words)]
        runs = (
            [number for _, number in run]
            for _, run in groupby(enumerate(wrong), lambda pair: pair[1] - pair[0])
        )
        places = [(words[run[0] - 1].start, words[run[-1] - 1].end) for run in runs]
        return [{"start": a, "end": b, "text": self.text[a:b]} for a, b in places]

    def words(self) -> list[list[int]]:
        """For each word, 1 for each worker who marked it, and 0 for each other one."""
        wrong = [set(mark.get("wrong", ())) for mark in self.marks.values()]
        return [
            [int(number in numbers) for numbers in wrong]
            for number in range(1, len(tokens(self.text)) + 1)
        ]

    def entry(self) -> dict[str, Any]:
        """The marks as files of a release have them: the spans of each worker, and of how many
        workers marked each word."""
        return {
            "words": [
                {"text": token.text, "start": token.start, "marked_by": sum(given)}
                for token, given in zip(tokens(self.text), self.words(), strict=True)
            ],
            "marks": [
                {"worker": worker, "wrong": self.spans(worker), "missing": mark.get("missing", "")}
                for worker, mark in self.marks.items()
            ],
        }
