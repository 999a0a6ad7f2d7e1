"""Read a release as a dataset, from the release's own rows only."""

from collections.abc import Iterable, Mapping
from typing import Any

from annotate.errors import DomainError
from annotate.kinds import KINDS
from annotate.models import Release, ReleasedCaption, Role
from annotate.queries.release_domains import classes_shown, domains_of_release
from annotate.report.dataset import Dataset, ReportCaption, ReportImage, of_english_alone
from annotate.selection.domains import DomainTable, preset

CHUNK = 2000
LACKS = {
    "boxes": "The release {name} does not have its images' boxes: it was made before releases "
    "recorded them.",
    "priming": "The release {name} does not say which captions were written with keywords: it was "
    "made before releases recorded it.",
    "subsets": "The release {name} does not say which subset an image belongs to.",
}


def read_release(release: Release, table: DomainTable | None = None, language: str = "") -> Dataset:
    """The dataset of a release of captions, with the domains it has or those by another table.

    Hidden captions are left out, and of a release of several languages those in other languages
    than `language`. Raises DomainError if the release is of another task type, or has no classes
    for the table.
    """
    if not KINDS[release.campaign.kind].has_references:
        raise DomainError(
            f"{release} is a release of the task type {release.campaign.kind}. A report needs "
            "captions."
        )
    rows = list(release.images.order_by("number").values_list("pk", *IMAGE_COLUMNS))
    subsets = domains_of_release(release, table)
    images = [_image(subsets, *columns) for _, *columns in rows]
    places = {pk: index for index, (pk, *_) in enumerate(rows)}
    captions = ReleasedCaption.objects.filter(image__release=release, language=language).order_by(
        "image__number", "pk"
    )
    columns = captions.values_list("image_id", "text", "worker_number", "primed", "role")
    found = [
        ReportCaption(places[image], text, worker, primed, role == Role.BASELINE)
        for image, text, worker, primed, role in columns.iterator(CHUNK)
    ]
    table = table or _own_table(release)
    return Dataset(
        f"{release.name} ({language})" if language else release.name,
        images,
        found,
        _lacks(release, images, found, language or release.language),
        {} if table is None else _domains(table, (details for *_, details, _ in rows)),
        "" if table is None else table.name,
    )


IMAGE_COLUMNS = ("number", "details", "is_hidden")


def _image(
    subsets: Mapping[int, str | None],
    number: int,
    details: Mapping[str, Any] | None,
    is_hidden: bool,
) -> ReportImage:
    classes = None
    if details is not None:
        classes = tuple(box["name"] for box in details["boxes"] if box["is_keyword"])
    return ReportImage(number, classes, subsets.get(number) or "", is_hidden)


def _own_table(release: Release) -> DomainTable | None:
    """The table that the release names; None for releases that name none."""
    return preset(release.context["domains"]["name"]) if release.context else None


def _domains(table: DomainTable, all_details: Iterable[Mapping[str, Any] | None]) -> dict[str, str]:
    """The domain of each class that an image shows, by its name."""
    classes = {
        shown for details in all_details if details for shown in classes_shown(details["boxes"])
    }
    return {name: table.of_class(label, name) for label, name in sorted(classes)}


def _lacks(
    release: Release, images: list[ReportImage], captions: list[ReportCaption], language: str
) -> dict[str, str]:
    has = {
        "boxes": all(image.classes is not None for image in images),
        "priming": not captions or any(one.is_primed is not None for one in captions),
        "subsets": any(image.subset for image in images),
    }
    lacking = {key: LACKS[key].format(name=release.name) for key in LACKS if not has[key]}
    return lacking | of_english_alone(release.name, language)
