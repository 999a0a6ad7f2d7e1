"""Read captions that were collected elsewhere, from tables or JSON. Does not use Django.

A table is a batch-results file of Mechanical Turk's requester site, or uses our own column names.
An entry that cannot be used becomes a `Fault`, and reading continues with the next one.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import category

from corpora.language.text import MOST_CHARACTERS
from corpora.reading.entries import Entries, Entry, listed, open_entries
from corpora.reading.files import MalformedFile, Progress, no_progress, short
from corpora.reading.json_files import NotJson, parse_json


class Collected(NamedTuple):
    """One caption of the file; `line` is the first line of its entry."""

    line: int
    image: str
    worker: str
    caption: str
    seconds: int | None = None
    submitted_at: datetime | None = None
    pasted: bool | None = None
    primed: bool | None = None
    is_rejected: bool = False


class Fault(NamedTuple):
    """An entry that cannot be used, and the reason."""

    line: int
    reason: str


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a CSV file.

    None stands for the usual name, or for the only possible column. An empty name means that the
    column is not read.
    """

    image: str | None = None
    caption: str | None = None
    worker: str | None = None
    status: str | None = None
    seconds: str | None = None
    submitted_at: str | None = None


# Usual column names: first the requester site's, then ours. The task's own page determines the
# names of the columns `Input.*` and `Answer.*`.
USUAL = {
    "worker": ("WorkerId", "worker"),
    "status": ("AssignmentStatus", "status"),
    "seconds": ("WorkTimeInSeconds", "seconds"),
    "submitted_at": ("SubmitTime", "submitted_at"),
    # Ours alone, without an option.
    "pasted": ("pasted",),
    "primed": ("primed",),
}
OPTIONS = {"submitted_at": "--time-column"}
IMAGE_WORDS, CAPTION_WORDS = ("image", "img", "photo", "picture"), ("caption", "descri", "sentence")
# The only answer column of pages built from crowd-html-elements: a list with one JSON object.
TASK_ANSWERS = "Answer.taskAnswers"
MOST_SECONDS = 2**31 - 1
YES_OR_NO = {"true": True, "1": True, "false": False, "0": False, "": None}
STATUSES = {"approved": False, "submitted": False, "rejected": True}
# Mechanical Turk opened in 2005. Earlier dates and future dates are mistakes.
EARLIEST = datetime(2005, 1, 1, tzinfo=UTC)
FUTURE = timedelta(days=1)


def read_collected(
    path: Path,
    *,
    columns: Columns,
    at: datetime,
    name: str | None = None,
    progress: Progress = no_progress,
) -> Iterator[Collected | Fault]:
    """Yield the file's captions in order, with a Fault for each entry that cannot be used.

    Raises MalformedFile if the file as a whole cannot be read. `at` is the current time, `name` the
    name of the file in error messages.
    """
    with open_entries(path, progress, name=name) as file:
        if file.columns is None and columns != Columns():
            raise MalformedFile(file.name, "it is not a table, and options name columns of tables")
        pick = _Picker(file, columns) if file.columns is not None else dict
        for entry in file.rows:
            try:
                yield _checked(entry, pick, at)
            except _Unusable as error:
                yield Fault(entry.line, str(error))


class _Unusable(ValueError):
    """An entry cannot be used; the message gives the reason."""


class _Picker:
    """Selects the fields from a table's rows; raises MalformedFile if the columns are not clear."""

    def __init__(self, file: Entries, columns: Columns) -> None:
        self._file, self._names = file.name, file.columns or []
        self._columns: dict[str, str] = {}
        for field, usual in USUAL.items():
            if name := self._named(field, usual, getattr(columns, field, None)):
                self._columns[field] = self._existing(name, field)
        self._columns["image"] = self._existing(
            columns.image or self._guess("image", "Input.", IMAGE_WORDS), "image"
        )
        caption = columns.caption or self._guess("caption", "Answer.", CAPTION_WORDS)
        self._part = ""
        if caption.startswith(f"{TASK_ANSWERS}.") and caption not in self._names:
            caption, self._part = TASK_ANSWERS, caption.removeprefix(f"{TASK_ANSWERS}.")
        self._columns["caption"] = self._existing(caption, "caption")

    def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row's fields; raises _Unusable."""
        entry = {field: row[name] for field, name in self._columns.items()}
        if self._columns["caption"] == TASK_ANSWERS:
            entry["caption"] = _answer(entry["caption"], self._part)
        return entry

    def _named(self, field: str, usual: Sequence[str], given: str | None) -> str:
        """The column of a field with a usual name; empty if the field is optional and missing."""
        if given is not None:
            return given
        name = next((name for name in usual if name in self._names), "")
        if name or field not in {"worker", "status"}:
            return name
        # A table with our column names may omit the status, as JSON may. Results of the requester
        # site always have it, and without it rejected work would count as accepted.
        if field == "status" and self._columns["worker"] == USUAL["worker"][1]:
            return ""
        return usual[0]

    def _existing(self, name: str, field: str) -> str:
        if name in self._names:
            return name
        option = OPTIONS.get(field, f"--{field}-column")
        without = ", or leave it out with an empty name" if field == "status" else ""
        raise MalformedFile(
            self._file,
            f"there is no column {name}; name the one of the {field} with {option}{without} "
            f"(the columns are {listed(self._names)})",
        )

    def _guess(self, field: str, prefix: str, words: tuple[str, ...]) -> str:
        """The only column that can contain the field; raises MalformedFile if there are several."""
        if field in self._names:
            return field
        candidates = [name for name in self._names if name.startswith(prefix)]
        likely = [name for name in candidates if any(word in name.lower() for word in words)]
        for group in (likely, candidates):
            if len(group) == 1:
                return group[0]
        candidates_text = (
            listed(candidates) or f"no column begins with {prefix}: {listed(self._names)}"
        )
        raise MalformedFile(
            self._file,
            f"it is not clear which column holds the {field}: name it with --{field}-column "
            f"({candidates_text})",
        )


def _answer(cell: str, part: str) -> str | None:
    """The caption in a cell of `Answer.taskAnswers`, or None; raises _Unusable."""
    try:
        answers = parse_json(cell)[0]
        texts = {name: text for name, text in answers.items() if isinstance(text, str)}
    except (NotJson, LookupError, TypeError, AttributeError):
        raise _Unusable(f"{TASK_ANSWERS} is not a list of answers") from None
    if part:
        return texts.get(part)
    if len(texts) != 1:
        named = listed([f"{TASK_ANSWERS}.{name}" for name in texts]) or "none"
        raise _Unusable(
            f"several answers may be the caption; choose one with --caption-column: {named}"
        )
    return next(iter(texts.values()))


def _checked(
    entry: Entry, pick: Callable[[Mapping[str, Any]], Mapping[str, Any]], at: datetime
) -> Collected:
    """The entry's checked fields; raises _Unusable."""
    if entry.fault:
        raise _Unusable(entry.fault)
    values = pick(entry.values)
    return Collected(
        line=entry.line,
        image=_name(values, "image", most=2000, fits=_names_a_file),
        worker=_name(values, "worker", most=64),
        caption=_caption(values.get("caption")),
        seconds=_seconds(values.get("seconds")),
        submitted_at=_time(values.get("submitted_at"), at),
        pasted=_yes_or_no(values, "pasted"),
        primed=_yes_or_no(values, "primed"),
        is_rejected=_is_rejected(values.get("status")),
    )


def _is_rejected(value: Any) -> bool:
    if value is None:
        return False
    status = value.strip().lower() if isinstance(value, str) else ""
    if status not in STATUSES:
        raise _Unusable(f"the status is {short(value)}, not Approved, Rejected or Submitted")
    return STATUSES[status]


def _names_a_file(text: str) -> bool:
    """Whether the text has no control character. Narrow spaces and joiners, which `isprintable`
    refuses, are in names of files."""
    return all(category(character) != "Cc" for character in text)


def _name(
    entry: Mapping[str, Any],
    field: str,
    *,
    most: int,
    fits: Callable[[str], bool] = str.isprintable,
) -> str:
    value = entry.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise _Unusable(f"there is no {field}")
    value = value.strip()
    if len(value) > most or not fits(value):
        raise _Unusable(f"the {field}'s name is too long, or holds what cannot be printed")
    return value


def _caption(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise _Unusable(f"the caption is not a text: {short(value)}")
    if not value or not value.strip():
        raise _Unusable("the caption is empty")
    if len(value) > MOST_CHARACTERS:
        raise _Unusable(f"the caption has {len(value):,} characters, more than {MOST_CHARACTERS:,}")
    return value


def _seconds(value: Any) -> int | None:
    if value is None or value == "":
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if isinstance(value, bool) or not 0 <= seconds <= MOST_SECONDS:
        raise _Unusable(f"not a number of seconds: {short(value)}")
    return round(seconds)


def _yes_or_no(entry: Mapping[str, Any], field: str) -> bool | None:
    value = entry.get(field)
    if isinstance(value, str):  # of a table
        value = YES_OR_NO.get(value.strip().lower(), value)
    if value is None or value in (True, False):
        return value if value is None else bool(value)
    raise _Unusable(f"{field} is neither true nor false: {short(value)}")


# For example "Wed Oct 07 05:12:31 PDT 2015". The day of the week is ignored.
MTURK_TIME = re.compile(r"\w{3} (\w{3} +\d{1,2} \d\d:\d\d:\d\d) (\w{3,4}) (\d{4})", re.ASCII)
HOURS_FROM_UTC = {
    "UTC": 0, "GMT": 0,
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}  # fmt: skip


def _time(value: Any, now: datetime) -> datetime | None:
    if value is None or value == "":
        return None
    try:
        at = _mturk_time(value.strip()) or datetime.fromisoformat(value.strip())
        at = (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (AttributeError, LookupError, ValueError, OverflowError):
        raise _Unusable(f"not a time: {short(value)}") from None
    if not EARLIEST <= at <= now + FUTURE:
        raise _Unusable(
            f"the time {short(value)} is not between {EARLIEST:%Y} and tomorrow; correct it, or "
            "leave it out"
        )
    return at


def _mturk_time(text: str) -> datetime | None:
    match = MTURK_TIME.fullmatch(text)
    if not match:
        return None
    zone = timezone(timedelta(hours=HOURS_FROM_UTC[match[2]]))
    return datetime.strptime(f"{match[1]} {match[3]}", "%b %d %H:%M:%S %Y").replace(tzinfo=zone)
