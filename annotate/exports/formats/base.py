"""The interface of a file format of `export`, and the format with the task type's own files;
and the file to which libraries write what a download takes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, NamedTuple

from annotate.exports.tables import Content, Type
from corpora.errors import DomainError
from corpora.writing import File, encoded


class Pipe:
    """Bytes that one part of a program writes and another one takes."""

    closed = False

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._written = 0

    def write(self, data: Any) -> int:
        self._waiting.append(bytes(data))
        self._written += len(self._waiting[-1])
        return len(self._waiting[-1])

    def take(self) -> bytes:
        """The bytes that were written since the last call."""
        taken, self._waiting = b"".join(self._waiting), []
        return taken

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Bytes that were written before can still be taken."""


class DataFiles(NamedTuple):
    """A table's files for the package `datasets`, which reads them in the dataset card, and the
    options with which it has to read them."""

    name: str
    paths: Sequence[str]
    options: Mapping[str, Any] = MappingProxyType({})


# The package's names of the types.
TYPES = {
    Type.TEXT: {"dtype": "string"},
    Type.INTEGER: {"dtype": "int64"},
    Type.NUMBER: {"dtype": "float64"},
    Type.BOOLEAN: {"dtype": "bool"},
    Type.TEXTS: {"list": "string"},
}


class PackageMissing(DomainError):
    """An optional package is not installed."""


@dataclass(frozen=True)
class Format:
    """A file format. `files` yields its files; it needs `packages`, which are optional."""

    name: str
    title: str
    about: str
    files: Callable[[Content], Iterator[File]]
    packages: tuple[str, ...] = ()
    data_files: Callable[[Content], Sequence[DataFiles]] = lambda _content: []

    @property
    def absent_packages(self) -> list[str]:
        return [name for name in self.packages if not is_installed(name)]

    def check_packages(self) -> None:
        """Raise PackageMissing if a package is not installed."""
        if absent := self.absent_packages:
            raise PackageMissing(
                f"The format {self.name} needs {' and '.join(absent)}, which is not installed. "
                f"Install it with `pip install {' '.join(absent)}`."
            )


def is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def files(content: Content) -> Iterator[File]:
    for name, texts in content.own_files():
        yield File(name, encoded(texts))


COCO = Format(
    name="coco",
    title="COCO",
    about="the files of the task type; for captions the JSON files of COCO and nocaps",
    files=files,
)
