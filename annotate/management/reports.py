"""Progress bars and reports of the import commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from annotate.reading.files import Progress
from annotate.services import images
from annotate.services.bulk import Counts

BROKEN_NAMED = 20


@contextmanager
def bytes_shown(path: Path) -> Iterator[Progress]:
    """Show a progress bar over the bytes of a file, unless the output is not a terminal."""
    size = path.stat().st_size if path.is_file() else None
    with tqdm(total=size, unit="B", unit_scale=True, desc=path.name, disable=None) as bar:
        yield bar.update


def counts_line(things: str, counts: Counts) -> str:
    """One line with the counts of an import."""
    skipped = f", {counts.skipped} of unknown images skipped" if counts.skipped else ""
    return (
        f"{counts.read} {things} read: {counts.new} new, {counts.changed} changed, "
        f"{counts.unchanged} unchanged{skipped}."
    )


def import_image_files(folder: Path, split: str) -> str:
    """Import a folder's image files with a progress bar; return the report's lines as text."""
    with tqdm(total=len(images.files_below(folder)), unit=" files", disable=None) as bar:
        counts = images.import_files(folder=folder, split=split, progress=bar.update)
    lines = [
        f"{counts.new + counts.changed + counts.unchanged} image files: {counts.new} new, "
        f"{counts.changed} changed, {counts.unchanged} unchanged."
    ]
    if counts.unmatched:
        lines.append(f"{counts.unmatched} files do not belong to any image of {split}.")
    if counts.broken:
        lines.append(f"{len(counts.broken)} files could not be imported:")
        lines += [f"  {name}: {reason}" for name, reason in counts.broken[:BROKEN_NAMED]]
        if more := counts.broken[BROKEN_NAMED:]:
            lines.append(f"  and {len(more)} more")
    return "\n".join(lines)
