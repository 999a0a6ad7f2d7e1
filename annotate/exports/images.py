"""The images of a release: their tables, their credits, and their files."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from unicodedata import normalize

from django.conf import settings
from django.db.models import Count, Q

from annotate.exports.provenance import Licence, licence, license_name
from annotate.exports.tables import CHUNK, Column, Extra, Row, Table, Type
from annotate.images.metadata import without_metadata
from annotate.models import Release
from corpora.errors import DomainError
from corpora.writing import File, json_array
from shared.tables import csv_lines

# The folder of an export with copies of the image files.
IMAGES = "images"
NAMED = 20
# Bytes of a file's name on most disks, and characters of its suffix that are kept.
LONGEST_PART, LONGEST_SUFFIX = 255, 10


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
# Only in releases of campaigns that showed it.
CONTEXT = Column("context", Type.TEXT, "the text around the image, which workers saw")
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
        "whether workers saw the keywords; unknown if that differs between captions, or if nobody "
        "knows",
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
            yield Released(number, is_hidden, record, details)


def _rows(release: Release, *columns: str) -> Iterator[Row]:
    return release.images.order_by("number").values_list(*columns).iterator(CHUNK)


# The keys of `image_record`, as it has them.
RECORD = [*(column.name for column in RECORDED), "license_url", "date_captured"]


def ordered(record: Mapping[str, Any]) -> dict[str, Any]:
    """A stored record with the keys of all images first, and then the others by name.

    Not every database keeps the order of a JSON object's keys.
    """
    return {key: record[key] for key in (*RECORD, *sorted(record.keys() - {*RECORD}))}


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
    type_ = Type.TEXT if identify is image_key else Type.INTEGER
    image = Column("image_id", type_, "id of the image in this release")
    of_image = replace(image, refers_to="images.image_id")
    return [
        Table(
            "images",
            "One row for each image.",
            [image, *_recorded(release), *LICENCE, HIDDEN, *DETAILED, *KEYWORDS],
            partial(_image_rows, release, identify),
        ),
        Table(
            "boxes",
            "One row for each verified box of an image.",
            [of_image, *BOXES],
            partial(_box_rows, release, identify),
        ),
    ]


def _recorded(release: Release) -> list[Column]:
    rules = release.context["campaign_file"].get("captions", {})
    return [*RECORDED, CONTEXT] if rules.get("show_context") else RECORDED


def _image_rows(release: Release, identify: Callable[[Released], int | str]) -> Iterator[Row]:
    recorded = [column.name for column in _recorded(release)]
    detailed = [column.name for column in (*DETAILED, *KEYWORDS)]
    names: dict[str, str] = {}
    for image in released(release, once=True):
        record, details = image.record, image.details
        url = record["license_url"]
        if url not in names:
            names[url] = license_name(url)
        yield (
            identify(image),
            *[record.get(name, "") for name in recorded],
            names[url],
            url,
            image.is_hidden,
            *[details[name] for name in detailed],
        )


def _box_rows(release: Release, identify: Callable[[Released], int | str]) -> Iterator[Row]:
    names = [column.name for column in BOXES]
    for image in released(release, once=True):
        for box in image.details["boxes"]:
            yield (identify(image), *[box[name] for name in names])


def keywords_file(release: Release) -> Iterator[str]:
    """`keywords.json`: the keywords of each image."""
    yield from json_array(
        {"image": image_key(image), "keywords": image.details["keywords"]}
        for image in released(release, once=True)
    )
    yield "\n"


def without_licence(release: Release) -> dict[str, int]:
    """The number of `images` of the release, and of those whose licence is `unknown`."""
    images = Count("task__image_id", distinct=True)
    no_licence = Count("task__image_id", filter=Q(record__license_url=""), distinct=True)
    return release.images.aggregate(images=images, unknown=no_licence)


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
    """`ATTRIBUTION.csv`: the credit line of each image."""
    yield from csv_lines(CREDITS, images.values(*CREDITS.values()))


# Files


class ImageFile(NamedTuple):
    name: str
    path: Path


def image_files(release: Release, images: Table) -> list[ImageFile]:
    """The files of a release's images under MEDIA_ROOT, in the order of the table `images`; raises
    ImageFilesMissing."""
    root = Path(settings.MEDIA_ROOT)
    sources: dict[int, str] = dict(_rows(release, "task__image_id", "task__image__file"))
    paths = image_paths(images).values()
    files = [
        ImageFile(path, root / source) for path, source in zip(paths, sources.values(), strict=True)
    ]
    absent = [file.name for file in files if file.path == root or not file.path.is_file()]
    if absent:
        raise ImageFilesMissing(_missing_files(absent, len(files)))
    return files


def image_paths(images: Table) -> dict[Any, str]:
    """The path of each image's file in an export, by its id, from the table `images`.

    Names that are too long for a disk are cut. If some disks would take several names for the same,
    or a file's name for that of a folder, these files are in folders with the ids or, where ids are
    texts, with the numbers of the rows. Then so are files that are in a folder with a number.
    """
    named = images.values("image_id", "file_name")
    names = {key: _inside(name) or str(key) for key, name in named}
    folded = {key: PurePosixPath(normalize("NFC", name).casefold()) for key, name in names.items()}
    often = Counter(folded.values())
    folders = {folder for path in folded.values() for folder in path.parents}
    clashing = {key for key, path in folded.items() if often[path] > 1 or path in folders}
    if clashing:
        clashing |= {key for key, path in folded.items() if path.parts[0].isdecimal()}
    return {
        key: f"{IMAGES}/{key if isinstance(key, int) else row}/{name}"
        if key in clashing
        else f"{IMAGES}/{name}"
        for row, (key, name) in enumerate(names.items(), start=1)
    }


def _inside(name: str) -> str:
    """The name without parts that lead out of the folder of images, and without characters that
    file systems refuse."""
    parts = (part for part in PurePosixPath(name).parts if part not in {"/", "..", "."})
    return "/".join(map(_short, parts))


def _short(part: str) -> str:
    """A part of a name, cut before its suffix if it is too long for a disk."""
    if len(part.encode()) <= LONGEST_PART:
        return part
    suffix = PurePosixPath(part).suffix[:LONGEST_SUFFIX]
    kept = part.encode()[: LONGEST_PART - len(suffix.encode())]
    return kept.decode(errors="ignore") + suffix


def _missing_files(absent: Sequence[str], of: int) -> str:
    named = ", ".join(path.removeprefix(f"{IMAGES}/") for path in absent[:NAMED])
    more = f" and {len(absent) - NAMED} more" if len(absent) > NAMED else ""
    return (
        f"{len(absent)} of {of} image files are not under MEDIA_ROOT: {named}{more}. Import them "
        "with `import_openimages --files`, or export the release without image files."
    )


def copies(files: Iterable[ImageFile]) -> Iterator[File]:
    """The image files without metadata; raises BrokenImage."""
    for file in files:
        yield File(file.name, _content(file.path))


def _content(path: Path) -> Iterator[bytes]:
    yield without_metadata(path)
