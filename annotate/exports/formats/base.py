"""The interface of a file format of `export`, and the check for the packages that it needs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from annotate.errors import DomainError
from annotate.exports.content import Content, File

DataFiles = Sequence[tuple[str, Sequence[str]]]


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
    # Each table's name with its files, for the package `datasets`, which reads them in the dataset
    # card. The second argument says whether the export has image files.
    data_files: Callable[[Content, bool], DataFiles] = lambda _content, _has_images: []

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
