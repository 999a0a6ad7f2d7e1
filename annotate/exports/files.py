"""Write the files of a release, and describe the release in them."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from annotate.errors import DomainError
from annotate.models import Release

# Name of each file, with the function that yields its content in chunks.
Files = Mapping[str, Callable[[Release], Iterator[str]]]


def write_files(release: Release, files: Files, out_dir: Path, *, kind: str) -> list[Path]:
    """Write a release's files into a folder and return their paths.

    Each file is written completely or not at all. Raises DomainError if the release is of another
    task type, or if a file cannot be written.
    """
    if release.campaign.kind != kind:
        raise DomainError(f"{release} is a release of the task type {release.campaign.kind}.")
    try:
        return _write(release, files, out_dir)
    except OSError as error:
        raise DomainError(f"Cannot write to {out_dir}: {error.strerror}.") from error


def _write(release: Release, files: Files, out_dir: Path) -> list[Path]:
    out_dir.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, chunks in files.items():
        path = out_dir / name
        unfinished = path.with_suffix(".part")
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(chunks(release))
        unfinished.replace(path)
        paths.append(path)
    return paths


def describe(release: Release, what: str) -> dict[str, Any]:
    """The `info` block of an export: the release, its description and its seed."""
    return {
        "description": f"{release.source}: {what}",
        "version": release.name,
        "year": release.created_at.year,
        "date_created": release.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "contributor": "",
        "url": "",
        "seed": release.seed,
        "partial": release.is_partial,
        **({"hidden": release.hidden} if release.hidden else {}),
    }
