"""Run a management command and count its database statements in a file that others can read.

`python benchmarks/counted.py COUNTS COMMAND …`. BEGIN, COMMIT, ROLLBACK, savepoints and the check
of a reused connection count, because each is a round trip to a database server. This is a script
and no module of the package, because the command chooses the site.
"""

import mmap
import runpy
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from django.db.backends.base import base
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.backends.utils import CursorWrapper

ROOT = Path(__file__).resolve().parent.parent
NUMBER = struct.Struct("=Q")


class Counter:
    """A number in a file, which the threads of this process increase."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(NUMBER.pack(0))
        with path.open("r+b") as stream:
            self._memory = mmap.mmap(stream.fileno(), NUMBER.size)
        self._lock = threading.Lock()
        self.number = 0

    def add(self) -> None:
        with self._lock:
            self.number += 1
            self._memory[:] = NUMBER.pack(self.number)


def read(path: Path) -> int:
    """The number in the file of another process's counter."""
    (number,) = NUMBER.unpack(path.read_bytes())
    return int(number)


def count_statements(counter: Counter) -> None:
    """Count the statements of all connections of this process from now on."""

    def counting(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def counted(*args: Any, **kwargs: Any) -> Any:
            counter.add()
            return method(*args, **kwargs)

        return counted

    for owner, name in (
        (CursorWrapper, "_execute"),
        (CursorWrapper, "_executemany"),
        (DatabaseWrapper, "is_usable"),
    ):
        setattr(owner, name, counting(getattr(owner, name)))

    @contextmanager
    def transaction_statement(_connection: Any, _sql: str) -> Iterator[None]:
        counter.add()
        yield

    # Django opens this context around each BEGIN, COMMIT and ROLLBACK that it does not send as SQL.
    base.debug_transaction = transaction_statement  # type: ignore[attr-defined]


def main() -> None:
    _script, counts, *command = sys.argv
    sys.path[0] = str(ROOT)
    count_statements(Counter(Path(counts)))
    sys.argv = [str(ROOT / "manage.py"), *command]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
