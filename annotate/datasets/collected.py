"""Captions that were collected elsewhere: a batch-results file of Mechanical Turk's requester site
(CSV), or JSON lines. Plain Python; the file's first character says which of the two it is.

An entry that cannot be used becomes a `Fault`, and reading goes on with the next one.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

from annotate.datasets.csv_files import MalformedFile, Progress, no_progress, open_csv, open_text


class Collected(NamedTuple):
    """One caption as the file has it; `line` is where its entry begins."""

    line: int
    image: str
    worker: str
    caption: str
    seconds: int | None = None
    submitted_at: datetime | None = None
    pasted: bool | None = None
    is_rejected: bool = False


class Fault(NamedTuple):
    """An entry that cannot be used, and why."""

    line: int
    reason: str


@dataclass(frozen=True)
class Columns:
    """The names of a CSV file's columns. None: the usual name, or a guess where only one column
    can be meant. An empty name: that column is not read."""

    image: str | None = None
    caption: str | None = None
    worker: str | None = None
    status: str | None = None
    seconds: str | None = None
    submitted_at: str | None = None


# What the requester site calls them; `Input.*` and `Answer.*` are named by the task's own page.
USUAL = {
    "worker": "WorkerId",
    "status": "AssignmentStatus",
    "seconds": "WorkTimeInSeconds",
    "submitted_at": "SubmitTime",
}
OPTIONS = {"submitted_at": "--time-column"}
IMAGE_WORDS, CAPTION_WORDS = ("image", "img", "photo", "picture"), ("caption", "descri", "sentence")
# The one answer column of a page built from crowd-html-elements: a list with one JSON object.
TASK_ANSWERS = "Answer.taskAnswers"
MOST_SECONDS = 2**31 - 1


def read_collected(
    path: Path, *, columns: Columns, progress: Progress = no_progress
) -> Iterator[Collected | Fault]:
    """The file's captions in its order, with a Fault in place of each entry that cannot be used;
    raises MalformedFile for a file that is neither form."""
    entries = _json_lines if _first_character(path) == "{" else _csv_rows
    for line, entry in entries(path, columns, progress):
        try:
            yield _checked(line, entry) if isinstance(entry, Mapping) else Fault(line, entry)
        except _Unusable as error:
            yield Fault(line, str(error))


def image_names(text: str) -> list[str]:
    """What an image may be called here, the likeliest first: the text itself; its last part
    without suffix, if it is a path or an address; and the number in a COCO file's name."""
    stem = re.split(r"[?#]", text)[0].rstrip("/").rsplit("/", 1)[-1]
    stem = re.sub(r"\.[A-Za-z]{3,4}$", "", stem)
    names = [text, stem]
    if number := re.fullmatch(r"(?:COCO_\w+_)?0*([1-9]\d*)", stem, re.ASCII):
        names.append(number[1])
    return list(dict.fromkeys(names))


class _Unusable(ValueError):
    """What is wrong with an entry."""


# An entry as its file has it, or what is wrong with its form.
Entry = tuple[int, Mapping[str, Any] | str]


def _first_character(path: Path) -> str:
    with open_text(path) as text:
        for line in text:
            if line.strip():
                return line.strip()[0]
    raise MalformedFile(path, "the file is empty")


def _json_lines(path: Path, columns: Columns, progress: Progress) -> Iterator[Entry]:
    with open_text(path, progress) as text:
        for number, line in enumerate(text, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                yield number, "no valid JSON"
                continue
            yield number, value if isinstance(value, dict) else "a JSON object is expected"


def _csv_rows(path: Path, columns: Columns, progress: Progress) -> Iterator[Entry]:
    with open_csv(path, progress) as file:
        names = file.header([])
        chosen = _choose(path, names, columns)
        places = {field: names.index(name) for field, (name, _) in chosen.items()}
        end = file.rows.line_num
        for row in file.rows:
            line, end = end + 1, file.rows.line_num
            if len(row) > len(names):
                yield line, f"{len(names)} fields are expected, there are {len(row)}"
            elif row:
                # The requester site leaves the last two columns, Approve and Reject, out of rows.
                row += [""] * (len(names) - len(row))
                entry: dict[str, Any] = {field: row[place] for field, place in places.items()}
                yield line, _unpacked(entry, *chosen["caption"])


def _choose(path: Path, names: Sequence[str], columns: Columns) -> dict[str, tuple[str, str]]:
    """The column of each field, and the part of it that is meant (of `Answer.taskAnswers` only)."""
    found = {}
    for field, usual in USUAL.items():
        named = getattr(columns, field)
        if named or (named is None and (usual in names or field == "worker")):
            found[field] = _existing(path, names, named or usual, field)
    found["image"] = _existing(
        path, names, columns.image or _guess(path, names, "image", "Input.", IMAGE_WORDS), "image"
    )
    found["caption"] = _existing(
        path,
        names,
        columns.caption or _guess(path, names, "caption", "Answer.", CAPTION_WORDS),
        "caption",
    )
    return found


def _existing(path: Path, names: Sequence[str], name: str, field: str) -> tuple[str, str]:
    if name in names:
        return name, ""
    if name.startswith(f"{TASK_ANSWERS}.") and TASK_ANSWERS in names:
        return TASK_ANSWERS, name.removeprefix(f"{TASK_ANSWERS}.")
    option = OPTIONS.get(field, f"--{field}-column")
    raise MalformedFile(path, f"there is no column {name} ({option})")


def _guess(
    path: Path, names: Sequence[str], field: str, prefix: str, words: tuple[str, ...]
) -> str:
    """The one column that can hold the field; raises MalformedFile if that is not clear."""
    if field in names:
        return field
    candidates = [name for name in names if name.startswith(prefix)]
    likely = [name for name in candidates if any(word in name.lower() for word in words)]
    for group in (likely, candidates):
        if len(group) == 1:
            return group[0]
    listed = ", ".join(candidates) or f"none begins with {prefix}"
    raise MalformedFile(
        path, f"which column holds the {field} is not clear: name it by --{field}-column ({listed})"
    )


def _unpacked(entry: dict[str, Any], column: str, part: str) -> dict[str, Any] | str:
    """The entry with the caption taken out of `Answer.taskAnswers`, where it is there."""
    if column != TASK_ANSWERS:
        return entry
    try:
        answers = json.loads(entry["caption"])[0]
        texts = {name: text for name, text in answers.items() if isinstance(text, str)}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return f"{TASK_ANSWERS} is no list of answers"
    if not part and len(texts) != 1:
        listed = ", ".join(f"{TASK_ANSWERS}.{name}" for name in texts)
        return f"which answer is the caption is not clear: --caption-column, of {listed or 'none'}"
    return {**entry, "caption": texts.get(part) if part else next(iter(texts.values()))}


def _checked(line: int, entry: Mapping[str, Any]) -> Collected:
    """The entry's fields in order; raises _Unusable."""
    return Collected(
        line=line,
        image=_name(entry, "image", most=2000),
        worker=_name(entry, "worker", most=64),
        caption=_caption(entry.get("caption")),
        seconds=_seconds(entry.get("seconds")),
        submitted_at=_time(entry.get("submitted_at")),
        pasted=_pasted(entry.get("pasted")),
        is_rejected=str(entry.get("status", "")).strip().lower() == "rejected",
    )


def _name(entry: Mapping[str, Any], field: str, *, most: int) -> str:
    value = entry.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise _Unusable(f"there is no {field}")
    value = value.strip()
    if len(value) > most or not value.isprintable():
        raise _Unusable(f"the {field}'s name is too long, or holds what cannot be printed")
    return value


def _caption(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise _Unusable(f"the caption is no text: {_shown(value)}")
    if not value or not value.strip():
        raise _Unusable("the caption is empty")
    return value


def _seconds(value: Any) -> int | None:
    if value is None or value == "":
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if isinstance(value, bool) or not 0 <= seconds <= MOST_SECONDS:
        raise _Unusable(f"these are no seconds: {_shown(value)}")
    return round(seconds)


def _pasted(value: Any) -> bool | None:
    if value is None or isinstance(value, int):
        return value if value is None else bool(value)
    raise _Unusable(f"pasted is neither true nor false: {_shown(value)}")


# As in "Wed Oct 07 05:12:31 PDT 2015"; the day of the week is not looked at.
MTURK_TIME = re.compile(r"\w{3} (\w{3} +\d{1,2} \d\d:\d\d:\d\d) (\w{3,4}) (\d{4})", re.ASCII)
HOURS_FROM_UTC = {
    "UTC": 0, "GMT": 0,
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}  # fmt: skip


def _time(value: Any) -> datetime | None:
    if value is None or value == "":
        return None
    try:
        at = _mturk_time(value.strip()) or datetime.fromisoformat(value.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (AttributeError, LookupError, ValueError, OverflowError):
        raise _Unusable(f"this is no time: {_shown(value)}") from None


def _mturk_time(text: str) -> datetime | None:
    found = MTURK_TIME.fullmatch(text)
    if not found:
        return None
    zone = timezone(timedelta(hours=HOURS_FROM_UTC[found[2]]))
    return datetime.strptime(f"{found[1]} {found[3]}", "%b %d %H:%M:%S %Y").replace(tzinfo=zone)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
