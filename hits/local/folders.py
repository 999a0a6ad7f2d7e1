"""A demonstration's folder: one process at a time, and nothing else is ever emptied."""

import fcntl
import os
import shutil
from pathlib import Path

from hits.local.processes import ProcessFailed

LOCK, DATABASE = "in-use.lock", "campaigns.sqlite3"


def is_demonstration(folder: Path) -> bool:
    """Whether `demo` made the folder."""
    return (folder / LOCK).exists()


def locked(folder: Path) -> None:
    """Keep other processes of ours out of the folder until this one ends, also if it goes on as
    another program. Raises ProcessFailed if one is there."""
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
    """Remove what an earlier demonstration left in a folder that this process has locked."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
