"""The images of a release: their tables, their credits, and their files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from django.conf import settings

from annotate.errors import DomainError
from annotate.exports.content import File
from annotate.exports.csv_text import csv_lines
from annotate.exports.json_text import json_array
from annotate.exports.licences import Licence, licence, license_name
from annotate.exports.tables import CHUNK, Column, Extra, Row, Table, Type
from annotate.images.metadata import without_metadata
from annotate.models import Release

# The folder of an export with copies of the image files.
IMAGES = "images"
NAMED = 20

Domains = Mapping[str, str | None]


class ImageFilesMissing(DomainError):
    """Image files of a release are not under MEDIA_ROOT."""


class Released(NamedTuple):
    """An image of a release: its number, its record, and its details, empty if it has none."""

    number: int
    is_hidden: bool
    record: Mapping[str, Any]
    details: Mapping[str, Any]


RECORDED = [
    Column("open_images_id", Type.TEXT, "id of the image in its dataset"),
    Column("file_name", Type.TEXT, "name of the image's file"),
    Column("width", Type.INTEGER, "width in pixels"),
    Column("height", Type.INTEGER, "height in pixels"),
    Column("coco_url", Type.TEXT, "where the image was published"),
    Column(
        "domain",
        Type.TEXT,
        "in-domain, near-domain or out-domain, as in nocaps; empty if no class is known",
    ),
]
LICENCE = [
    Column("license", Type.TEXT, "name of the image's licence"),
    Column("license_url", Type.TEXT, "address of the licence"),
]
HIDDEN = Column("is_hidden", Type.BOOLEAN, "whether the release hides the answers about it")
DETAILED = [
    Column("author", Type.TEXT, "author of the image"),
    Column("author_url", Type.TEXT, "page of the author"),
    Column("title", Type.TEXT, "title of the image"),
    Column("landing_url", Type.TEXT, "page from which the image comes"),
    Column("source", Type.TEXT, "dataset of the image"),
    Column("split", Type.TEXT, "part of the dataset"),
]
KEYWORDS = [
    Column("keywords", Type.TEXTS, "names of the image's classes, without parts", Extra.KEYWORDS),
    Column(
        "keywords_shown",
        Type.BOOLEAN,
        "whether workers saw the keywords; unknown if that differs between captions",
        Extra.KEYWORDS,
    ),
]
BOXES = [
    Column("class", Type.TEXT, "the class, as its dataset identifies it"),
    Column("name", Type.TEXT, "name of the class"),
    Column("is_keyword", Type.BOOLEAN, "whether the class can be a keyword; parts cannot"),
    Column("x_min", Type.NUMBER, "left edge, as a fraction of the image's width"),
    Column("x_max", Type.NUMBER, "right edge, as a fraction of the image's width"),
    Column("y_min", Type.NUMBER, "upper edge, as a fraction of the image's height"),
    Column("y_max", Type.NUMBER, "lower edge, as a fraction of the image's height"),
    Column("is_occluded", Type.BOOLEAN, "something hides a part of the object"),
    Column("is_truncated", Type.BOOLEAN, "the object extends beyond the image"),
    Column("is_group", Type.BOOLEAN, "the box has several objects of the class"),
    Column("is_depiction", Type.BOOLEAN, "a drawing or the like of the object"),
    Column("is_inside", Type.BOOLEAN, "the box shows the inside of the object"),
]


def released(release: Release, *, once: bool = False) -> Iterator[Released]:
    """The images of a release in order; with `once`, each image once, with its first number."""
    seen: set[int] = set()
    columns = ("task__image_id", "number", "is_hidden", "record", "details")
    for key, number, is_hidden, record, details in _rows(release, *columns):
        if not once or key not in seen:
            seen.add(key)
            yield Released(number, is_hidden, record, details or {})


def _rows(release: Release, *columns: str) -> Iterator[Row]:
    return release.images.order_by("number").values_list(*columns).iterator(CHUNK)


def image_number(image: Released) -> int:
    """The image's id in releases with one item for each image."""
    return image.number


def image_key(image: Released) -> str:
    """The image's id in releases with several items for an image."""
    return str(image.record["open_images_id"])


def image_tables(
    release: Release, identify: Callable[[Released], int | str] = image_number
) -> list[Table]:
    """The tables `images` and `boxes`; `identify` gives an image's id."""
    type_ = Type.INTEGER if identify is image_number else Type.TEXT
    image = Column("image_id", type_, "id of the image in this release")
    of_image = replace(image, refers_to="images.image_id")
    return [
        Table(
            "images",
            "One row for each image.",
            [image, *RECORDED, *LICENCE, HIDDEN, *DETAILED, *KEYWORDS],
            partial(_image_rows, release, identify),
        ),
        Table(
            "boxes",
            "One row for each verified box of an image.",
            [of_image, *BOXES],
            partial(_box_rows, release, identify),
        ),
    ]


def _image_rows(release: Release, identify: Callable[[Released], int | str]) -> Iterator[Row]:
    recorded = [column.name for column in RECORDED]
    detailed = [column.name for column in (*DETAILED, *KEYWORDS)]
    names: dict[str, str] = {}
    for image in released(release, once=True):
        record, details = image.record, image.details
        url = record["license_url"]
        if url not in names:
            names[url] = license_name(url)
        yield (
            identify(image),
            *[record[name] for name in recorded],
            names[url],
            url,
            image.is_hidden,
            *[details.get(name) for name in detailed],
        )


def _box_rows(release: Release, identify: Callable[[Released], int | str]) -> Iterator[Row]:
    names = [column.name for column in BOXES]
    for image in released(release, once=True):
        for box in image.details.get("boxes", ()):
            yield (identify(image), *[box[name] for name in names])


def keywords_file(release: Release) -> Iterator[str]:
    """`keywords.json`: the keywords of each image."""
    yield from json_array(
        {"image": image_key(image), "keywords": image.details.get("keywords")}
        for image in released(release, once=True)
    )
    yield "\n"


def licences_of(release: Release) -> list[Licence]:
    """The licences of a release's images, by URL."""
    # Without `order_by`, the number of each image would be part of what is distinct.
    urls = release.images.order_by().values_list("record__license_url", flat=True).distinct()
    return [licence(url) for url in sorted(filter(None, urls))]


# Credits

CREDITS = {
    "image_id": "image_id",
    "file_name": "file_name",
    "title": "title",
    "author": "author",
    "author_url": "author_url",
    "license": "license",
    "license_url": "license_url",
    "source_page": "landing_url",
}


def attribution(images: Table) -> Iterator[str]:
    """`ATTRIBUTION.csv`: what must be said of each image when it is shown."""
    yield from csv_lines(CREDITS, images.values(*CREDITS.values()))


# Files


class ImageFile(NamedTuple):
    name: str
    path: Path


def image_files(release: Release) -> list[ImageFile]:
    """The files of a release's images under MEDIA_ROOT; raises ImageFilesMissing."""
    rows = _rows(release, "record__file_name", "task__image__file")
    root = Path(settings.MEDIA_ROOT)
    paths = {_inside(name): root / file for name, file in rows}
    absent = [name for name, path in paths.items() if path == root or not path.is_file()]
    if absent:
        raise ImageFilesMissing(_missing_files(absent, len(paths)))
    return [ImageFile(*pair) for pair in paths.items()]


def _inside(name: str) -> str:
    """The file's path in the export's folder of images, which it cannot leave."""
    return "/".join(part for part in PurePosixPath(name).parts if part not in {"/", "..", "."})


def _missing_files(absent: Sequence[str], of: int) -> str:
    named = ", ".join(absent[:NAMED])
    more = f" and {len(absent) - NAMED} more" if len(absent) > NAMED else ""
    return (
        f"{len(absent)} of {of} image files are not under MEDIA_ROOT: {named}{more}. Import them "
        "with `import_openimages --files`, or export without --images."
    )


def copies(files: Iterable[ImageFile]) -> Iterator[File]:
    """The image files without metadata; raises BrokenImage."""
    for file in files:
        yield File(f"{IMAGES}/{file.name}", _content(file.path))


def _content(path: Path) -> Iterator[bytes]:
    yield without_metadata(path)
