"""Reports of the import commands."""

from pathlib import Path

from tqdm import tqdm

from accounts.models import Team
from annotate.services import images
from corpora.wording import counted

BROKEN_NAMED = 20


def import_image_files(
    folder: Path, split: str, *, team: Team | None, change_published: bool
) -> str:
    """Import a folder's image files with a progress bar; return the report's lines as text."""
    with tqdm(total=len(images.files_below(folder)), unit=" files", disable=None) as bar:
        counts = images.import_files(
            folder=folder,
            split=split,
            team=team,
            change_published=change_published,
            progress=bar.update,
        )
    files = counted(counts.new + counts.changed + counts.unchanged, "image file")
    lines = [f"{files}: {counts.new} new, {counts.changed} changed, {counts.unchanged} unchanged."]
    if counts.unmatched:
        one, many = "file does not belong to any image of", "files do not belong to any image of"
        lines.append(f"{counted(counts.unmatched, one, many)} {split}.")
    if counts.broken:
        one, many = "file could not be imported:", "files could not be imported:"
        lines.append(counted(len(counts.broken), one, many))
        lines += [f"  {name}: {reason}" for name, reason in counts.broken[:BROKEN_NAMED]]
        if more := counts.broken[BROKEN_NAMED:]:
            lines.append(f"  and {len(more)} more")
    return "\n".join(lines)
