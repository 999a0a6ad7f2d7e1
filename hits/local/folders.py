"""Lock and empty the folder of a demonstration. Other folders are never emptied."""

import fcntl
import os
import shutil
from pathlib import Path

from hits.local.processes import ProcessFailed

LOCK, DATABASE = "in-use.lock", "campaigns.sqlite3"


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
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
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
