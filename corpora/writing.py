"""Write JSON as text, piece by piece, and files, completely or not at all."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from corpora.errors import DomainError, one_line

# A finished file never has this suffix. Backups of the site leave out files that have it.
UNFINISHED = ".part"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that readers see either the old content or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=UNFINISHED)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        new.chmod(0o644)
        new.replace(path)
    except BaseException:
        new.unlink()
        raise


MANIFEST = "manifest.json"
NAMED = 5
Progress = Callable[[int], object]
# Whether an earlier export with this manifest may be replaced.
Replaces = Callable[[Mapping[str, Any]], bool]


class File(NamedTuple):
    """A file of an export: its path in the folder, and its content in chunks.

    Read a file to its end before you ask for the next one.
    """

    name: str
    chunks: Iterator[bytes]


def write_folder(
    files: Iterable[File], out: Path, *, replaces: Replaces, progress: Progress = lambda _: None
) -> list[str]:
    """Write the files into a folder and return their names; `progress` gets numbers of bytes.

    The folder appears complete or not at all. It must be new, empty, or an earlier export that may
    be replaced. Raises DomainError otherwise, and if it cannot be written.
    """
    out = out.resolve()
    try:
        with _unfinished(out) as folder:
            check_free(out, replaces)
            names = [_write(file, folder, progress) for file in files]
            check_free(out, replaces)
            _move(folder, out)
        return names
    except OSError as error:
        reason = error.strerror or one_line(error)
        raise DomainError(f"Cannot write to {out}: {reason}. Nothing was changed.") from error


def check_free(out: Path, replaces: Replaces) -> None:
    """Raise DomainError unless the folder is new, empty, or an export that may be replaced."""
    if os.path.ismount(out):
        raise DomainError(f"{out} is a mount point. Name a folder in it, such as {out / 'v1'}.")
    if Path.cwd().is_relative_to(out):
        # It would be replaced, and the shell would stay in a folder that is deleted.
        raise DomainError(f"You are in {out}. Name a folder in it, such as {out / 'v1'}.")
    if out.exists() and not out.is_dir():
        raise DomainError(f"{out} is a file. Name a folder that is new or empty.")
    if others := _others(out, replaces):
        named = ", ".join(others[:NAMED]) + (", …" if len(others) > NAMED else "")
        raise DomainError(
            f"{out} has other files ({named}), so nothing was written. Name a folder that is new "
            "or empty, or one with an earlier export of the same release in the same format."
        )


def _others(out: Path, replaces: Replaces) -> list[str]:
    """The files in the folder that an export must not replace."""
    paths = {path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir()}
    if MANIFEST in paths:
        with suppress(OSError, ValueError, KeyError, TypeError):
            manifest = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
            ours = {MANIFEST, *(file["name"] for file in manifest["files"])}
            if replaces(manifest):
                return sorted(paths - ours)
    return sorted(paths)


@contextmanager
def _unfinished(out: Path) -> Iterator[Path]:
    """An empty folder beside the final one, for this process only; removed on an error."""
    folder = out.with_name(f".{out.name}.unfinished")
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle, folder, out)
        try:
            _restore(out)
            _empty(folder)
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path, out: Path) -> None:
    """Lock the folder, which the system unlocks when the process ends; raises DomainError."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Another process may have moved the folder to its place before it was locked here.
        is_same = os.path.samestat(os.fstat(handle), folder.stat())
    except (BlockingIOError, FileNotFoundError):
        is_same = False
    if not is_same:
        raise DomainError(f"Another export writes to {out} now. Wait until it has ended.")


def _empty(folder: Path) -> None:
    """Delete what a killed export left."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _write(file: File, folder: Path, progress: Progress) -> str:
    path = folder / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as out:
        for chunk in file.chunks:
            out.write(chunk)
            progress(len(chunk))
    return file.name


def _move(folder: Path, out: Path) -> None:
    """Put the folder in its place. An earlier export is kept until then."""
    if out.exists() and any(out.iterdir()):
        earlier = _earlier(out)
        out.rename(earlier)
        folder.rename(out)
        shutil.rmtree(earlier, ignore_errors=True)
    else:
        folder.rename(out)


def _restore(out: Path) -> None:
    """Put an earlier export back if an export was killed while it replaced it."""
    earlier = _earlier(out)
    if earlier.exists() and not out.exists():
        earlier.rename(out)
    shutil.rmtree(earlier, ignore_errors=True)


def _earlier(out: Path) -> Path:
    return out.with_name(f".{out.name}.earlier")


class Digest:
    """The size and SHA-256 of what has passed through `of`."""

    def __init__(self) -> None:
        self.size = 0
        self._sha256 = hashlib.sha256()

    def of(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._sha256.update(chunk)
            self.size += len(chunk)
            yield chunk

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()


def encoded(texts: Iterable[str]) -> Iterator[bytes]:
    return (text.encode() for text in texts)


CHUNK = 5000
DECODER = json.JSONDecoder()


def json_array(rows: Iterable[Any]) -> Iterator[str]:
    """A JSON array in chunks. Encoding lists is much faster than encoding row by row."""
    yield from _in_chunks(iter(rows), list, "[", "]")


def json_object(pairs: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """A JSON object in chunks, like `json_array`; the keys must be different."""
    yield from _in_chunks(iter(pairs), dict, "{", "}")


def json_file(content: Mapping[str, Any]) -> Iterator[str]:
    """An object in chunks, with the end of a line. A value that is an iterator becomes an array."""
    before = "{"
    for name, value in content.items():
        yield f"{before}{dump(name)}: "
        yield from json_array(value) if isinstance(value, Iterator) else [dump(value)]
        before = ", "
    yield "}\n"


def _in_chunks(
    rows: Iterator[Any], gather: Callable[[Iterable[Any]], Any], opening: str, closing: str
) -> Iterator[str]:
    yield opening
    between = ""
    while chunk := gather(islice(rows, CHUNK)):
        yield between + dump(chunk)[1:-1]
        between = ", "
    yield closing


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def members(texts: Iterable[str], name: str) -> Iterator[Any]:
    """The members of the top-level value `name`, read from a JSON text in chunks.

    Yields the objects of an array, or pairs of key and object. The text must be one of ours: each
    chunk begins and ends between two members.
    """
    pieces = iter(texts)
    start = re.compile(rf'"{name}": ([\[{{])')
    text = next(pieces, "")
    while not (match := start.search(text)):
        text += next(pieces)
    read = _items if match[1] == "[" else _pairs
    text = text[match.end() :]
    while True:
        has_ended = yield from read(text)
        if has_ended:
            return
        text = next(pieces)


def _items(text: str) -> Generator[Any, None, bool]:
    """The values in a part of an array; returns whether the array ends in it."""
    place = _next(text, 0)
    while place < len(text) and text[place] != "]":
        value, place = DECODER.raw_decode(text, place)
        yield value
        place = _next(text, place)
    return place < len(text)


def _pairs(text: str) -> Generator[tuple[str, Any], None, bool]:
    """The members in a part of an object; returns whether the object ends in it."""
    place = _next(text, 0)
    while place < len(text) and text[place] != "}":
        key, place = DECODER.raw_decode(text, place)
        value, place = DECODER.raw_decode(text, place + len(": "))
        yield key, value
        place = _next(text, place)
    return place < len(text)


def _next(text: str, place: int) -> int:
    """The place of the next value or closing bracket."""
    while place < len(text) and text[place] in ", ":
        place += 1
    return place
