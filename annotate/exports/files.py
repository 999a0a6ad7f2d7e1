"""What the exports of every kind of release share."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from annotate.errors import DomainError
from annotate.models import Release

# Each file's name with what writes it, piece by piece.
Files = Mapping[str, Callable[[Release], Iterator[str]]]


def write_files(release: Release, files: Files, out_dir: Path, *, kind: str) -> list[Path]:
    """Write a release's files into a folder, each whole or not at all; returns their paths. Raises
    DomainError for a release of another kind."""
    if release.campaign.kind != kind:
        raise DomainError(f"{release} is a release of the kind {release.campaign.kind}.")
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
    """The `info` block: what the release is, with the seed that drew it."""
    return {
        "description": f"{release.campaign.slug}: {what}",
        "version": release.name,
        "year": release.created_at.year,
        "date_created": release.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "contributor": "",
        "url": "",
        "seed": release.seed,
        "partial": release.is_partial,
    }
