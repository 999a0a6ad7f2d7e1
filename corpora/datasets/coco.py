"""Read COCO's instances and captions files."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from corpora.language.languages import LANGUAGE_TAG, in_usual_case
from corpora.reading.files import MalformedFile, short
from corpora.reading.json_files import JsonEntry, entries, numbered, read_coco, read_json

WEB = ("https://", "http://")
# In pixels. COCO's boxes may end a few pixels outside their images; more is an error.
SLACK = 2.0
# In pixels; larger than any image.
FARTHEST = 2.0**31


class CocoImage(NamedTuple):
    """Metadata of an image, with the field names of the site's images."""

    key: str
    width: int
    height: int
    file_name: str
    url: str
    landing_url: str
    license_url: str


class CocoBox(NamedTuple):
    """A box with its image's key and its class's label; edges are fractions of the image."""

    image: str
    label: str
    x_min: float
    x_max: float
    y_min: float
    y_max: float
    is_group: bool


class Instances(NamedTuple):
    """The checked content of an instances file."""

    classes: dict[str, str]
    images: dict[str, CocoImage]
    boxes: list[CocoBox]


def read_instances(path: Path) -> Instances:
    """Read and check a COCO instances file; raises MalformedFile, which names the entry."""
    content = {"licenses": [], **read_coco(path)}
    licenses = {
        entry.whole("id"): _address(entry, "url") for entry in entries(path, content, "licenses")
    }
    classes = _classes(entries(path, content, "categories"))
    images = _images(entries(path, content, "images"), licenses)
    boxes = [_box(entry, classes, images) for entry in entries(path, content, "annotations")]
    return Instances(classes, images, boxes)


class CocoCaption(NamedTuple):
    """A caption with its image's key and its id in the file; the image's file name and the tag of
    the caption's language if given."""

    annotation_id: int
    image: str
    text: str
    file_name: str = ""
    language: str = ""


def read_captions(path: Path) -> list[CocoCaption]:
    """Read and check a COCO captions file; raises MalformedFile, which names the entry.

    Images go by their `open_images_id` where the file gives one, as nocaps' files do.
    """
    content = read_coco(path)
    names = _image_names(entries(path, content, "images"))
    captions: dict[int, CocoCaption] = {}
    for entry in entries(path, content, "annotations"):
        number, image, text = entry.whole("id"), entry.whole("image_id"), entry.text("caption")
        if image not in names:
            raise entry.wrong(f"there is no image {image}")
        if describes_region(entry.values):
            raise entry.wrong(OF_REGION)
        if number in captions:
            raise entry.wrong(ID_USED)
        key, file_name = names[image]
        captions[number] = CocoCaption(number, key, text, file_name, _language(entry))
    return list(captions.values())


def read_results(path: Path) -> list[CocoCaption]:
    """Read and check a captions file in the COCO results format; raises MalformedFile.

    The file is a list of objects with `image_id` and `caption`. Captions are numbered from 0.
    """
    content = read_json(path)
    if not isinstance(content, list):
        raise MalformedFile(path, "a results file is a list of objects")
    captions = []
    for number, entry in enumerate(numbered(path, content)):
        image = entry.values.get("image_id")
        if not isinstance(image, int | str) or isinstance(image, bool):
            raise entry.wrong(f"image_id {short(image)} is not an id")
        text = entry.text("caption")
        captions.append(CocoCaption(number, str(image), text, language=_language(entry)))
    return captions


def label_of(category: int) -> str:
    """The label of a COCO category, which no class of another dataset has."""
    return f"coco:{category}"


ID_USED = "the id was used before"


def _address(entry: JsonEntry, name: str, starts: tuple[str, ...] = WEB) -> str:
    value = entry.values.get(name) or ""
    if not isinstance(value, str) or len(value) > 500:
        raise entry.wrong(f"{name} is not a web address")
    if value and not value.startswith(starts):
        raise entry.wrong(f"{name} {short(value)} is not a web address")
    return value


def _classes(categories: Iterable[JsonEntry]) -> dict[str, str]:
    classes: dict[str, str] = {}
    for entry in categories:
        label, name = label_of(entry.whole("id")), entry.values.get("name")
        if not isinstance(name, str) or not 0 < len(name.strip()) <= 100:
            raise entry.wrong("name must have 1 to 100 characters")
        if classes.setdefault(label, name.strip()) != name.strip():
            raise entry.wrong(ID_USED)
    return classes


def _image_names(images: Iterable[JsonEntry]) -> dict[int, tuple[str, str]]:
    """The key of each image, and its file's name if it is given, by the id in the file."""
    names: dict[int, tuple[str, str]] = {}
    for entry in images:
        number = entry.whole("id")
        key = entry.values.get("open_images_id", str(number))
        if not isinstance(key, str) or not key:
            raise entry.wrong(f"open_images_id {short(key)} is not a text")
        if names.setdefault(number, (key, _file_name(entry)))[0] != key:
            raise entry.wrong(ID_USED)
    return names


def _images(rows: Iterable[JsonEntry], licenses: Mapping[int, str]) -> dict[str, CocoImage]:
    images: dict[str, CocoImage] = {}
    for entry in rows:
        image = _image(entry, licenses)
        if images.setdefault(image.key, image) != image:
            raise entry.wrong(ID_USED)
    return images


def _image(entry: JsonEntry, licenses: Mapping[int, str]) -> CocoImage:
    width, height = entry.whole("width"), entry.whole("height")
    if not 0 < width < 2**31 or not 0 < height < 2**31:
        raise entry.wrong(f"{width}×{height} is not the size of an image")
    license_url = ""
    if entry.values.get("license") is not None:
        number = entry.whole("license")
        if number not in licenses:
            raise entry.wrong(f"there is no license {number}")
        license_url = licenses[number]
    return CocoImage(
        key=str(entry.whole("id")),
        width=width,
        height=height,
        file_name=_file_name(entry),
        # A path is an address on the site, as `--base-url` takes one and exports have it.
        url=_address(entry, "coco_url", (*WEB, "/")),
        landing_url=_address(entry, "flickr_url"),
        license_url=license_url,
    )


def _box(entry: JsonEntry, classes: Mapping[str, str], images: Mapping[str, CocoImage]) -> CocoBox:
    number, category = entry.whole("image_id"), entry.whole("category_id")
    image, label = images.get(str(number)), label_of(category)
    if image is None:
        raise entry.wrong(f"there is no image {number}")
    if label not in classes:
        raise entry.wrong(f"there is no category {category}")
    crowd = entry.values.get("iscrowd", 0)
    if crowd not in (0, 1):
        raise entry.wrong(f"iscrowd {short(crowd)} is neither 0 nor 1")
    return CocoBox(image.key, label, *_edges(entry, image), bool(crowd))


def _edges(entry: JsonEntry, image: CocoImage) -> tuple[float, float, float, float]:
    """x_min, x_max, y_min, y_max as fractions, clipped to the image."""
    box = entry.values.get("bbox")
    numbers = isinstance(box, list) and all(type(value) in (int, float) for value in box)
    if not isinstance(box, list) or len(box) != 4 or not numbers:
        raise entry.wrong(f"bbox {short(box)} is not a list of four numbers")
    # NaN fails every comparison, so it is refused here, too.
    if not all(abs(value) <= FARTHEST for value in box) or box[2] < 0 or box[3] < 0:
        raise entry.wrong(f"bbox {short(box)} is not a box")
    left, top, width, height = box
    right, bottom = left + width, top + height
    if min(left, top) < -SLACK or right > image.width + SLACK or bottom > image.height + SLACK:
        raise entry.wrong(f"bbox {short(box)} lies outside of its image")
    return (
        *(min(max(edge, 0.0), image.width) / image.width for edge in (left, right)),
        *(min(max(edge, 0.0), image.height) / image.height for edge in (top, bottom)),
    )


OF_REGION = "this describes a region, not the whole image"


def describes_region(annotation: Mapping[str, Any]) -> bool:
    """Whether the caption is of a region, as in `regions.json` of a release."""
    return bool(annotation.get("bbox") or annotation.get("region_id"))


def _language(entry: JsonEntry) -> str:
    """The tag of the caption's language; empty if the entry has none."""
    value = entry.values.get("language")
    tag = in_usual_case(value) if isinstance(value, str) else ""
    return tag if LANGUAGE_TAG.fullmatch(tag) else ""


def _file_name(entry: JsonEntry) -> str:
    """The name of an image's file; empty if the entry has none that can be stored."""
    name = entry.values.get("file_name")
    return name if isinstance(name, str) and len(name) <= 500 else ""
