"""The domains of a release's images, as it records them or by another table."""

from collections.abc import Iterable, Mapping
from typing import Any

from annotate.errors import DomainError
from annotate.models import ObjectClass, Release
from annotate.selection.domains import PRESETS, DomainTable, LabelledClass, preset


class NotRecorded(DomainError):
    """The release was made before this software recorded what is asked for."""


def domains_of_release(release: Release, table: DomainTable | None = None) -> dict[int, str | None]:
    """The domain of each image by its number; None for an image of no class.

    Without a table they are as the release records them. With one they follow from the classes that
    the release records; raises NotRecorded if it has none.
    """
    if table is None:
        records = release.images.values_list("number", "record").iterator()
        return {number: record["domain"] for number, record in records}
    images = release.images.values_list("number", "details").iterator()
    return {number: table.of_image(_classes(release, details)) for number, details in images}


def _classes(release: Release, details: Mapping[str, Any] | None) -> set[LabelledClass]:
    if details is None:
        raise NotRecorded(
            f"Release {release} was made before classes were recorded in releases, so its domains "
            "cannot be computed by another table. Omit --domains to use the domains that it has."
        )
    return classes_shown(details["boxes"])


def classes_shown(boxes: Iterable[Mapping[str, Any]]) -> set[LabelledClass]:
    """Labels and names of the boxes' classes, without parts, which are never keywords."""
    return {(box["class"], box["name"]) for box in boxes if box["is_keyword"]}


def unknown_classes(table: DomainTable) -> list[str]:
    """Classes of the table that no dataset has which was imported here: perhaps typing errors."""
    if table in map(preset, PRESETS):
        return []
    return table.unknown(ObjectClass.objects.values_list("label", "name"))
