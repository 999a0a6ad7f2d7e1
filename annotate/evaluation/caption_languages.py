"""The languages of a captions file whose annotations name them, as Crossmodal-3600's do."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from annotate.campaign_file import checked_tag
from annotate.reading.files import MalformedFile, short

Entry = tuple[str, dict[str, Any]]


def in_language(
    path: Path, annotations: Iterable[Entry], wanted: str | None
) -> tuple[list[Entry], str | None]:
    """The annotations of the wanted language, and this language; None if the file names none.

    Without a wanted language the file must be in one. Annotations that name no language are of any.
    Raises MalformedFile.
    """
    every = list(annotations)
    tags = [_tag(path, place, entry.get("language")) for place, entry in every]
    named = sorted({tag for tag in tags if tag})
    if wanted is None and len(named) > 1:
        raise MalformedFile(
            path, f"it has captions in {', '.join(named)}; choose one with --language"
        )
    if wanted is None:
        return every, named[0] if named else None
    if named and wanted not in named:
        raise MalformedFile(path, f"it has no captions in {wanted}, but in {', '.join(named)}")
    kept = [entry for entry, tag in zip(every, tags, strict=True) if tag in (None, wanted)]
    return kept, wanted


def _tag(path: Path, place: str, value: Any) -> str | None:
    if value is None:
        return None
    try:
        return checked_tag(value)
    except (TypeError, ValueError) as error:
        raise MalformedFile(path, f"{place}: language {short(value)} is no tag") from error
