"""The report of a release: read its own rows, and write the report that its page shows."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from annotate.kinds import KINDS
from annotate.models import Release, ReleasedCaption, Role
from annotate.queries.releases import classes_shown, domains_of_release, language_in
from corpora.errors import DomainError
from corpora.report.build import make_report, write_report
from corpora.report.dataset import Dataset, ReportCaption, ReportImage, of_english_alone
from corpora.report.sections.base import Inputs
from corpora.selection.domains import DomainTable, preset

CHUNK = 2000
LACKS = {
    "boxes": "{name} has no boxes.",
    "priming": "It is not known of the captions of {name} whether they were written with keywords.",
    "subsets": "The release {name} does not say which subset an image belongs to.",
}


def read_release(release: Release, table: DomainTable | None = None, language: str = "") -> Dataset:
    """The dataset of a release of captions, with its own domains or those of another table. Leaves
    out hidden captions and those in other languages than `language`. Raises DomainError if the
    release is of another task type.
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
    rows_of_captions = ReleasedCaption.objects.filter(image__release=release, language=language)
    captions = rows_of_captions.exclude(role=Role.REASON).order_by("image__number", "pk")
    columns = captions.values_list("image_id", "text", "worker_number", "primed", "role")
    report_captions = [
        ReportCaption(places[image], text, worker, primed, role == Role.BASELINE)
        for image, text, worker, primed, role in columns.iterator(CHUNK)
    ]
    table = table or preset(release.context["domains"]["name"])
    return Dataset(
        f"{release.name} ({language})" if language else release.name,
        images,
        report_captions,
        _lacks(release, images, report_captions, language or release.language),
        _domains(table, (details for *_, details in rows)),
        table.name,
    )


IMAGE_COLUMNS = ("number", "is_hidden", "record__region__name", "details")


def _image(
    subsets: Mapping[int, str | None],
    number: int,
    is_hidden: bool,
    region: str | None,
    details: Mapping[str, Any],
) -> ReportImage:
    """An image, or a region, which shows its own class alone."""
    classes = tuple(box["name"] for box in details["boxes"] if box["is_keyword"])
    classes = (region,) if region else classes
    return ReportImage(number, classes, subsets.get(number) or "", is_hidden)


def _domains(table: DomainTable, all_details: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The domain of each class that an image shows, by its name."""
    classes = {shown for details in all_details for shown in classes_shown(details["boxes"])}
    return {name: table.of_class(label, name) for label, name in sorted(classes)}


def _lacks(
    release: Release, images: list[ReportImage], captions: list[ReportCaption], language: str
) -> dict[str, str]:
    has = {
        "boxes": any(image.classes for image in images),
        "priming": not captions or any(caption.is_primed is not None for caption in captions),
        "subsets": any(image.subset for image in images),
    }
    lacking = {key: LACKS[key].format(name=release.name) for key in LACKS if not has[key]}
    return lacking | of_english_alone(release.name, language)


def report_folder(release: Release) -> Path:
    return Path(settings.MEDIA_ROOT) / "reports" / release.name


def create_report(release: Release) -> None:
    """Write the release's report, with the release's own seed; raises DomainError."""
    inputs = Inputs(read_release(release, language=language_in(release, None)), seed=release.seed)
    write_report(make_report(inputs), report_folder(release))
