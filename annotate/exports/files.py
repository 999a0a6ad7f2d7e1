"""The files of a release: writing them, and those that are stored when the release is made.

An export copies the stored files, so it gives the same files even if the code changes. Its
documents are stored, too: the pages that its workers read, and the text on its methods.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import StringIO
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

from annotate.exports.provenance import imports_of
from annotate.exports.tables import CHUNK, Column, Extra, Row, Table, Type
from annotate.models import Campaign, Release, ReleasedAnswer, ReleasedFile, WorkerPage
from corpora.errors import DomainError
from corpora.language.languages import is_english
from corpora.writing import UNFINISHED, json_array
from shared.database.transactions import create_in_batches
from shared.tables import csv_text

# Name of each file, with the function that yields its content in chunks.
Files = Mapping[str, Callable[[Release], Iterator[str]]]


def write_files(files: Iterable[tuple[str, Iterable[str]]], out_dir: Path) -> list[Path]:
    """Write files with these names and texts into a folder; return the paths of what is in it.

    Each file is written completely or not at all. Raises DomainError if one cannot be written.
    """
    try:
        return _write(files, out_dir)
    except OSError as error:
        raise DomainError(f"Cannot write to {out_dir}: {error.strerror}.") from error


def _write(files: Iterable[tuple[str, Iterable[str]]], out_dir: Path) -> list[Path]:
    out_dir.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, texts in files:
        path = out_dir / name
        path.parent.mkdir(exist_ok=True)
        unfinished = path.with_suffix(UNFINISHED)
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(texts)
        unfinished.replace(path)
        paths[out_dir / PurePosixPath(name).parts[0]] = True
    return list(paths)


def describe(release: Release, what: str) -> dict[str, Any]:
    """The `info` block of an export: the release, its description and its seed."""
    imports = imports_of(release)
    return {
        "description": f"{release.source}: {what}",
        "version": release.name,
        "year": release.created_at.year,
        "date_created": release.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "contributor": "",
        "url": "",
        "seed": release.seed,
        "partial": release.is_partial,
        # Not every database keeps the order of a JSON object's keys.
        **({"hidden": dict(sorted(hidden.items()))} if (hidden := release.hidden) else {}),
        **({"imports": [dict(sorted(each.items())) for each in imports]} if imports else {}),
    }


def language_key(release: Release) -> dict[str, str]:
    """The key of each caption for its language, as Crossmodal-3600 has it (Thapliyal et al. 2022).
    Files of English captions have the keys of the published nocaps files alone."""
    return {} if is_english(release.language) else {"language": release.language}


# Characters of a file in one row.
PIECE = 200_000
# A quotation mark inside a JSON text follows a backslash, so no text matches.
WORKER_KEY = re.compile(r'"worker": \d+(?:, )?')


def stored_files(*names: str) -> Files:
    """Functions that yield the files with these names, as stored by the task type's `freeze`."""
    return {name: partial(stored, name=name) for name in names}


def stored(release: Release, *, name: str) -> Iterator[str]:
    """The content of a file in pieces."""
    pieces = release.files.filter(name=name).order_by("pk")
    return pieces.values_list("text", flat=True).iterator(10)


def without_workers(name: str, pieces: Iterable[str]) -> Iterator[str]:
    """A stored JSON or CSV file without the key or column `worker`.

    A piece of a file contains whole members of its JSON, or whole lines.
    """
    if name.endswith(".json"):
        return (WORKER_KEY.sub("", piece) for piece in pieces)
    if name.endswith(".csv"):
        return _without_column(pieces, "worker")
    return iter(pieces)


def _without_column(pieces: Iterable[str], column: str) -> Iterator[str]:
    place: int | None = None
    for number, piece in enumerate(pieces):
        rows = list(csv.reader(StringIO(piece, newline="")))
        if number == 0:
            place = rows[0].index(column) if column in rows[0] else None
        kept = rows if place is None else (row[:place] + row[place + 1 :] for row in rows)
        yield csv_text(kept)


def rows_of(release: Release, name: str, texts: Iterable[str]) -> Iterator[ReleasedFile]:
    """Unsaved rows that contain the file with these texts."""
    for piece in _pieces(texts):
        yield ReleasedFile(release=release, name=name, text=piece)


def save_files(release: Release, files: Mapping[str, Iterable[str]]) -> None:
    """Store files with these names and texts."""
    rows = (row for name, texts in files.items() for row in rows_of(release, name, texts))
    create_in_batches(ReleasedFile, rows)


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """Join the texts into pieces of at least PIECE characters."""
    waiting: list[str] = []
    length = 0
    for text in texts:
        waiting.append(text)
        length += len(text)
        if length >= PIECE:
            yield "".join(waiting)
            waiting, length = [], 0
    yield "".join(waiting)


WORKER = Column("worker", Type.INTEGER, "number of the worker in this release", Extra.WORKERS)
RESPONSE = Column("response", Type.INTEGER, "number of the response to this item, from 1")


def responses_table(release: Release, item: Column) -> Table:
    """The table `responses`; `item` is the column with the number of the released item."""
    return Table(
        "responses",
        "One row for each response that the release has.",
        [
            item,
            RESPONSE,
            WORKER,
            Column("seconds", Type.INTEGER, "seconds that the worker spent on it", Extra.SECONDS),
        ],
        partial(_rows, release),
    )


def _rows(release: Release) -> Iterator[Row]:
    rows = ReleasedAnswer.objects.filter(image__release=release).order_by("image__number", "pk")
    columns = rows.values_list("image__number", "worker_number", "seconds")
    for item, responses in groupby(columns.iterator(CHUNK), itemgetter(0)):
        for number, (_, worker, seconds) in enumerate(responses, start=1):
            yield (item, number, worker, seconds)


def response_numbers(release: Release) -> dict[tuple[int, int], int]:
    """The number of each response, by its item and its worker."""
    return {(item, worker): number for item, number, worker, _ in _rows(release)}


def seconds_file(release: Release) -> Iterator[str]:
    """`seconds.json`: the seconds of each response, by the number of its released item."""
    yield from json_array(
        {"id": item, "response": number, "seconds": seconds}
        for item, number, _, seconds in _rows(release)
    )
    yield "\n"


METHODS = "methods.md"
# The pages are `page-LANGUAGE-NUMBER` with these endings.
PAGE, HTML, TEXT = "page-", ".html", ".txt"


def save_documents(release: Release, campaigns: Sequence[Campaign], methods: str) -> None:
    """Store the pages of the campaigns, and the text on the methods if there is one."""
    files = {METHODS: [methods]} if methods else {}
    for campaign in campaigns:
        for name, page in named_pages(campaign):
            files |= {f"{name}{HTML}": [page.html], f"{name}{TEXT}": [page.text]}
    save_files(release, files)


def named_pages(campaign: Campaign) -> list[tuple[str, WorkerPage]]:
    """The pages that the campaign's workers read, in order, with the names of their files."""
    pages = campaign.worker_pages.order_by("pk")
    language = campaign.config.language
    return [(f"{PAGE}{language}-{number}", page) for number, page in enumerate(pages, start=1)]


def documents(release: Release) -> Files:
    """The release's documents; none for releases that were made without."""
    names = release.files.order_by().values_list("name", flat=True).distinct()
    chosen = [name for name in sorted(names) if name == METHODS or name.startswith(PAGE)]
    return {name: partial(stored, name=name) for name in chosen}
