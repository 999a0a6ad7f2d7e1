"""The contents of a folder."""

from pathlib import Path


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of each file below a folder, by its path in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
