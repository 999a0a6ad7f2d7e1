"""Read COCO's instances and captions files."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from corpora.language.languages import LANGUAGE_TAG
from corpora.reading.files import MalformedFile, short
from corpora.reading.json_files import read_json

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
    content = read_json(path)
    reader = _Reader(path)
    if not isinstance(content, dict):
        raise MalformedFile(path, "a COCO file is an object with images and annotations")
    licenses = {
        reader.whole(entry, "id", place): reader.address(entry, "url", place)
        for place, entry in reader.entries(content, "licenses", required=False)
    }
    classes = reader.classes(content)
    images = reader.images(content, licenses)
    return Instances(classes, images, reader.boxes(content, classes, images))


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
    content = read_json(path)
    reader = _Reader(path)
    if not isinstance(content, dict):
        raise MalformedFile(path, "a COCO file is an object with images and annotations")
    return reader.captions(content, reader.image_names(content))


def read_results(path: Path) -> list[CocoCaption]:
    """Read and check a captions file in the COCO results format; raises MalformedFile.

    The file is a list of objects with `image_id` and `caption`. Captions are numbered from 0.
    """
    content = read_json(path)
    if not isinstance(content, list):
        raise MalformedFile(path, "a results file is a list of objects")
    return list(_Reader(path).results(content))


def label_of(category: int) -> str:
    """The label of a COCO category, which no class of another dataset has."""
    return f"coco:{category}"


class _Reader:
    """Checks entries; its methods raise MalformedFile with the position of the entry."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def wrong(self, place: str, reason: str) -> MalformedFile:
        return MalformedFile(self.path, f"{place}: {reason}")

    def entries(
        self, content: Mapping[str, Any], name: str, *, required: bool = True
    ) -> Iterable[tuple[str, dict[str, Any]]]:
        rows = content.get(name, None if required else [])
        if not isinstance(rows, list):
            raise MalformedFile(self.path, f"there is no list of {name}")
        for number, entry in enumerate(rows):
            place = f"{name}[{number}]"
            if not isinstance(entry, dict):
                raise self.wrong(place, "is not an object")
            yield f"{place} (id {short(entry['id'])})" if "id" in entry else place, entry

    def whole(self, entry: Mapping[str, Any], name: str, place: str) -> int:
        value = entry.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
            raise self.wrong(place, f"{name} {short(value)} is not a whole number from 0")
        return value

    def address(
        self, entry: Mapping[str, Any], name: str, place: str, starts: tuple[str, ...] = WEB
    ) -> str:
        value = entry.get(name) or ""
        if not isinstance(value, str) or len(value) > 500:
            raise self.wrong(place, f"{name} is not a web address")
        if value and not value.startswith(starts):
            raise self.wrong(place, f"{name} {short(value)} is not a web address")
        return value

    def classes(self, content: Mapping[str, Any]) -> dict[str, str]:
        classes: dict[str, str] = {}
        for place, entry in self.entries(content, "categories"):
            label = label_of(self.whole(entry, "id", place))
            name = entry.get("name")
            if not isinstance(name, str) or not 0 < len(name.strip()) <= 100:
                raise self.wrong(place, "name must have 1 to 100 characters")
            if classes.setdefault(label, name.strip()) != name.strip():
                raise self.wrong(place, "the id was used before")
        return classes

    def images(
        self, content: Mapping[str, Any], licenses: Mapping[int, str]
    ) -> dict[str, CocoImage]:
        images: dict[str, CocoImage] = {}
        for place, entry in self.entries(content, "images"):
            image = self.image(entry, licenses, place)
            if images.setdefault(image.key, image) != image:
                raise self.wrong(place, "the id was used before")
        return images

    def image_names(self, content: Mapping[str, Any]) -> dict[int, tuple[str, str]]:
        """The key of each image, and its file's name if it is given, by the id in the file."""
        names: dict[int, tuple[str, str]] = {}
        for place, entry in self.entries(content, "images"):
            number = self.whole(entry, "id", place)
            key = entry.get("open_images_id", str(number))
            if not isinstance(key, str) or not key:
                raise self.wrong(place, f"open_images_id {short(key)} is not a text")
            image_name = key, _file_name(entry)
            if names.setdefault(number, image_name)[0] != key:
                raise self.wrong(place, "the id was used before")
        return names

    def captions(
        self, content: Mapping[str, Any], names: Mapping[int, tuple[str, str]]
    ) -> list[CocoCaption]:
        captions: dict[int, CocoCaption] = {}
        for place, entry in self.entries(content, "annotations"):
            number, image = (self.whole(entry, name, place) for name in ("id", "image_id"))
            text = entry.get("caption")
            if not isinstance(text, str) or not text.strip():
                raise self.wrong(place, "there is no caption")
            if image not in names:
                raise self.wrong(place, f"there is no image {image}")
            if describes_region(entry):
                raise self.wrong(place, OF_REGION)
            if number in captions:
                raise self.wrong(place, "the id was used before")
            captions[number] = CocoCaption(
                number, names[image][0], text, names[image][1], _language(entry)
            )
        return list(captions.values())

    def results(self, content: Iterable[Any]) -> Iterator[CocoCaption]:
        for number, entry in enumerate(content):
            place = f"[{number}]"
            if not isinstance(entry, dict):
                raise self.wrong(place, "is not an object")
            image, text = entry.get("image_id"), entry.get("caption")
            if not isinstance(image, int | str) or isinstance(image, bool):
                raise self.wrong(place, f"image_id {short(image)} is not an id")
            if not isinstance(text, str) or not text.strip():
                raise self.wrong(place, "there is no caption")
            yield CocoCaption(number, str(image), text, language=_language(entry))

    def image(self, entry: Mapping[str, Any], licenses: Mapping[int, str], place: str) -> CocoImage:
        width, height = (self.whole(entry, name, place) for name in ("width", "height"))
        if not 0 < width < 2**31 or not 0 < height < 2**31:
            raise self.wrong(place, f"{width}×{height} is not the size of an image")
        license_url = ""
        if entry.get("license") is not None:
            number = self.whole(entry, "license", place)
            if number not in licenses:
                raise self.wrong(place, f"there is no license {number}")
            license_url = licenses[number]
        return CocoImage(
            key=str(self.whole(entry, "id", place)),
            width=width,
            height=height,
            file_name=_file_name(entry),
            # A path is an address on the site, as `--base-url` takes one and exports have it.
            url=self.address(entry, "coco_url", place, (*WEB, "/")),
            landing_url=self.address(entry, "flickr_url", place),
            license_url=license_url,
        )

    def boxes(
        self,
        content: Mapping[str, Any],
        classes: Mapping[str, str],
        images: Mapping[str, CocoImage],
    ) -> list[CocoBox]:
        boxes = []
        for place, entry in self.entries(content, "annotations"):
            image = images.get(str(self.whole(entry, "image_id", place)))
            if image is None:
                raise self.wrong(place, f"there is no image {entry['image_id']}")
            label = label_of(self.whole(entry, "category_id", place))
            if label not in classes:
                raise self.wrong(place, f"there is no category {entry['category_id']}")
            crowd = entry.get("iscrowd", 0)
            if crowd not in (0, 1):
                raise self.wrong(place, f"iscrowd {short(crowd)} is neither 0 nor 1")
            boxes.append(CocoBox(image.key, label, *self.edges(entry, image, place), bool(crowd)))
        return boxes

    def edges(
        self, entry: Mapping[str, Any], image: CocoImage, place: str
    ) -> tuple[float, float, float, float]:
        """x_min, x_max, y_min, y_max as fractions, clipped to the image."""
        box = entry.get("bbox")
        numbers = isinstance(box, list) and all(type(value) in (int, float) for value in box)
        if not isinstance(box, list) or len(box) != 4 or not numbers:
            raise self.wrong(place, f"bbox {short(box)} is not a list of four numbers")
        # NaN fails every comparison, so it is refused here, too.
        if not all(abs(value) <= FARTHEST for value in box) or box[2] < 0 or box[3] < 0:
            raise self.wrong(place, f"bbox {short(box)} is not a box")
        left, top, width, height = box
        return (
            *self.span(left, left + width, image.width, box, place),
            *self.span(top, top + height, image.height, box, place),
        )

    def span(
        self, low: float, high: float, size: int, box: list[float], place: str
    ) -> tuple[float, float]:
        if low < -SLACK or high > size + SLACK:
            raise self.wrong(place, f"bbox {short(box)} lies outside of its image")
        return min(max(low, 0.0), size) / size, min(max(high, 0.0), size) / size


OF_REGION = "this describes a region, not the whole image"


def describes_region(annotation: Mapping[str, Any]) -> bool:
    """Whether the caption is of a region, as in `regions.json` of a release."""
    return bool(annotation.get("bbox") or annotation.get("region_id"))


def _language(entry: Mapping[str, Any]) -> str:
    """The tag of the caption's language; empty if the entry has none."""
    tag = entry.get("language")
    return tag if isinstance(tag, str) and LANGUAGE_TAG.fullmatch(tag) else ""


def _file_name(entry: Mapping[str, Any]) -> str:
    """The name of an image's file; empty if the entry has none that can be stored."""
    name = entry.get("file_name")
    return name if isinstance(name, str) and len(name) <= 500 else ""
