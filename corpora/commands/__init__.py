"""The commands of `python -m corpora`. The site's commands of the same kind call them.

Each module has HELP, `add_arguments(parser)`, and `run(…)`, which takes the values of the arguments
by name and yields the lines to print. It raises DomainError if it cannot do its work. What they
share is here.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from corpora.errors import DomainError
from corpora.language.languages import checked_tag
from corpora.reading.files import Progress, is_file
from corpora.writing import write_atomically


class WrongOptions(DomainError):
    """The options do not fit together, or a value is none of those that are allowed."""


def checked_language(tag: str) -> str:
    """The value of an option --language; raises WrongOptions if it is not a language tag."""
    try:
        return checked_tag(tag)
    except ValueError as error:
        raise WrongOptions(f"--language: {error}.") from error


@contextmanager
def bytes_shown(path: Path) -> Iterator[Progress]:
    """Show a progress bar over the bytes of a file, unless the output is not a terminal."""
    size = path.stat().st_size if is_file(path) else None
    with tqdm(total=size, unit="B", unit_scale=True, desc=path.name, disable=None) as bar:
        yield bar.update


def note(text: str) -> None:
    """Print a line that is not part of the output."""
    print(text, file=sys.stderr)


def write(path: Path, text: str) -> None:
    """Write a file, whose folder is created; raises DomainError."""
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise DomainError(f"Cannot write to {path.parent}: {error.strerror}.") from error
