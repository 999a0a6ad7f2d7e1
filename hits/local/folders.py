"""Lock and empty the folder of a demonstration. Other folders are never emptied."""

import fcntl
import os
import shutil
from pathlib import Path

from hits.local.processes import ProcessFailed

LOCK, DATABASE = "in-use.lock", "campaigns.sqlite3"
# Of a folder that `serve` uses. Another name than that of a demonstration, which may be emptied.
SERVED = "serve.lock"


def is_demonstration(folder: Path) -> bool:
    """Whether `demo` created the folder."""
    return (folder / LOCK).exists()


def locked(folder: Path) -> None:
    """Lock the folder until this process ends; create it if it does not exist.

    The lock remains if the process replaces itself with another program. Raises ProcessFailed if
    another process has the lock, or if the folder has files and was not created by `demo`.
    """
    if folder.exists() and not is_demonstration(folder) and any(folder.iterdir()):
        raise ProcessFailed(f"{folder} was not created by `demo`, so nothing in it was changed.")
    _lock(folder, LOCK)


def locked_to_serve(folder: Path) -> None:
    """Lock a folder of one's own data until this process ends; create it if it does not exist.

    Raises ProcessFailed if another process serves it.
    """
    _lock(folder, SERVED)


def _lock(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise ProcessFailed(
            f"{folder} is in use by another `demo` or `serve`; stop that one first."
        ) from error
    os.set_inheritable(handle, True)


def emptied(folder: Path) -> None:
    """Delete everything but the lock from a folder that this process has locked."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
