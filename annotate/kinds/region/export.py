"""The files and tables of a release of region captions.

`regions.json` is in COCO's form, `region_descriptions.json` in that of Visual Genome (Krishna et
al. 2017). Everything comes from the release's own rows, in order.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from annotate.exports.files import Files, describe
from annotate.exports.images import BOXES, HIDDEN, KEYWORDS, Released, image_tables, released
from annotate.exports.tables import Asked, Column, Row, Table, Type
from annotate.kinds.caption.export import (
    caption_tables,
    captions_of,
    extra_files,
    image_entry,
    licence_ids,
    licences,
    offers_reasons,
    workers_file,
)
from annotate.models import Release, Role
from corpora.writing import json_array, json_file

EDGES = ("x_min", "x_max", "y_min", "y_max")
ITEM = "region"


def regions_file(
    release: Release,
    *,
    hidden: bool = False,
    domains: Mapping[int, str | None] | None = None,
) -> Iterator[str]:
    """`regions.json`: info, licenses, images, categories, and each caption with its `bbox`: x, y,
    width and height in pixels, null if the image's size is not known."""
    images = [(image.number, image.record) for image in released(release, once=True)]
    ids = licence_ids(record for _, record in images)
    # By label and name: a team's own category can have the number of another dataset's.
    classes = release.images.values_list("record__region__class", "record__region__name")
    categories = {named: number for number, named in enumerate(sorted({*classes}), start=1)}
    yield from json_file(
        {
            "info": describe(release, "captions of regions of images"),
            "licenses": licences(ids),
            "images": (
                image_entry(
                    record["region"]["image_id"],
                    {key: value for key, value in record.items() if key != "region"},
                    ids,
                )
                | ({"domain": domains[number]} if domains else {})
                for number, record in images
            ),
            "categories": [
                {"id": number, "name": name, "label": label}
                for (label, name), number in categories.items()
            ],
            "annotations": (
                {
                    "id": caption.id,
                    "image_id": caption.region["image_id"],
                    "region_id": caption.number,
                    "category_id": categories[caption.region["class"], caption.region["name"]],
                    "bbox": caption.bbox,
                    "area": caption.bbox and round(caption.bbox[2] * caption.bbox[3], 2),
                    "iscrowd": 0,
                    "caption": caption.text,
                    **caption.more,
                }
                for caption in _captions(release, hidden=hidden)
            ),
            **({"reasons": _reasons(release, hidden=hidden)} if offers_reasons(release) else {}),
        }
    )


def descriptions_file(release: Release, *, hidden: bool = False) -> Iterator[str]:
    """`region_descriptions.json`: the images, each with its phrases and their boxes in whole
    pixels. `region_id` is the caption's id, since a region may have several captions."""
    by_image = groupby(
        _captions(release, hidden=hidden), lambda caption: caption.region["image_id"]
    )
    yield from json_array(
        {"id": image, "regions": [_description(caption) for caption in captions]}
        for image, captions in by_image
    )
    yield "\n"


class _Caption(NamedTuple):
    """A caption of a release: its id, its region's number, and the keys for its language and
    import."""

    id: int
    number: int
    region: Mapping[str, Any]
    bbox: list[float] | None
    text: str
    more: Mapping[str, Any]


def _captions(release: Release, *, hidden: bool) -> Iterator[_Caption]:
    fields = ("image__record", "text")
    rows = enumerate(captions_of(release, Role.REFERENCE, *fields, hidden=hidden))
    for id_, (number, record, text, language, imported) in rows:
        more = {**language, **imported}
        yield _Caption(id_, number, record["region"], _bbox(record), text, more)


def _reasons(release: Release, *, hidden: bool) -> Iterator[dict[str, Any]]:
    """The reasons of the workers who could not describe a region."""
    fields = ("image__record__region__image_id", "text")
    rows = captions_of(release, Role.REASON, *fields, hidden=hidden)
    for number, image, reason, language, _ in rows:
        yield {"image_id": image, "region_id": number, "reason": reason, **language}


def _bbox(record: Mapping[str, Any]) -> list[float] | None:
    width, height, region = record["width"], record["height"], record["region"]
    if not width or not height:
        return None
    sides = (
        region["x_min"] * width,
        region["y_min"] * height,
        (region["x_max"] - region["x_min"]) * width,
        (region["y_max"] - region["y_min"]) * height,
    )
    return [round(side, 2) for side in sides]


def _description(caption: _Caption) -> dict[str, Any]:
    sides = map(round, caption.bbox) if caption.bbox else [None] * 4
    return {
        "region_id": caption.id,
        "image_id": caption.region["image_id"],
        "phrase": caption.text,
        **dict(zip(("x", "y", "width", "height"), sides, strict=True)),
    }


REGION_FILES: Files = {
    "regions.json": regions_file,
    "region_descriptions.json": descriptions_file,
    "workers.json": partial(workers_file, item=ITEM),
}


def own_files(release: Release, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
    """The names and texts of the files, with what is asked for."""
    yield "regions.json", regions_file(release, hidden=asked.hidden, domains=asked.domains)
    yield "region_descriptions.json", descriptions_file(release, hidden=asked.hidden)
    yield from extra_files(release, asked, ITEM)


IMAGE = Column("image_id", Type.INTEGER, "id of the image", refers_to="images.image_id")
REGIONS = [
    Column("region_id", Type.INTEGER, "id of the region in this release"),
    IMAGE,
    *(column for column in BOXES if column.name in {"class", "name", *EDGES}),
    HIDDEN,
]
# What a caption is about, with the fields of ReleasedCaption.
OF_CAPTION = {
    Column("region_id", Type.INTEGER, "id of the region", refers_to="regions.region_id"): (
        "image__number"
    ),
    IMAGE: "image__record__region__image_id",
}


def tables(release: Release) -> list[Table]:
    """`images` and `boxes`, `regions`, `captions`, and `reasons` if workers could choose one."""
    images, boxes = image_tables(release, _image_number)
    captions, _, *reasons = caption_tables(release, OF_CAPTION)
    keywords = {column.name for column in KEYWORDS}  # those of a region, not of its image
    return [
        images.only(name for name in images.names if name not in keywords),
        boxes,
        Table("regions", "One row for each region.", REGIONS, partial(_regions, release)),
        captions,
        *reasons,
    ]


def _image_number(image: Released) -> int:
    number: int = image.record["region"]["image_id"]
    return number


def _regions(release: Release) -> Iterator[Row]:
    names = [column.name for column in REGIONS[2:-1]]
    for item in released(release):
        region = item.record["region"]
        place = (item.number, region["image_id"])
        yield (*place, *(region[name] for name in names), item.is_hidden)
