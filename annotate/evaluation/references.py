"""References: what captions are scored against."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from annotate.errors import DomainError
from annotate.evaluation.caption_languages import in_language
from annotate.language.languages import ENGLISH
from annotate.reading.coco_form import entries, read_coco
from annotate.reading.files import MalformedFile, short


class NoReferences(DomainError):
    """No image has a caption to score against."""


class References(NamedTuple):
    """The captions of each image by the image's id, and the subsets of images that have one.

    `without` has the images that have no caption. They are not scored. `language` is the BCP 47
    tag of the captions.
    """

    captions: Mapping[int, Sequence[str]]
    subsets: Mapping[int, str]
    without: frozenset[int] = frozenset()
    language: str = ENGLISH

    @property
    def fewest(self) -> int:
        """The smallest number of captions of an image."""
        return min(map(len, self.captions.values()))

    @property
    def most(self) -> int:
        return max(map(len, self.captions.values()))


def make_references(
    captions: Mapping[int, Sequence[str]],
    subsets: Mapping[int, str],
    *,
    name: str,
    language: str = ENGLISH,
) -> References:
    """The references of images, some of which may have no captions; raises NoReferences."""
    if not captions:
        raise NoReferences(f"{name}: there are no images.")
    described = {image: texts for image, texts in captions.items() if texts}
    if not described:
        raise NoReferences(f"{name}: no image has a caption. Are the references hidden?")
    return References(described, subsets, frozenset(captions.keys() - described.keys()), language)


def read_references(path: Path, language: str | None = None) -> References:
    """The references of a captions file in COCO form; raises MalformedFile and NoReferences.

    The key `domain` of an image, if it has one, is its subset. Where annotations have a key
    `language`, only those in this language are read. Without one, the file is in the language that
    it names, or in English.
    """
    content = read_coco(path)
    captions: dict[int, list[str]] = {}
    subsets: dict[int, str] = {}
    for place, image in entries(path, content, "images"):
        number = image_id(path, place, image.get("id"))
        if number in captions:
            raise MalformedFile(path, f"{place}: the image {number} occurs twice")
        captions[number] = []
        if image.get("domain"):
            subsets[number] = _text(path, f"{place}, domain", image["domain"])
    annotations = entries(path, content, "annotations") if captions else []
    chosen, found = in_language(path, annotations, language)
    for place, annotation in chosen:
        number = image_id(path, f"{place}, image_id", annotation.get("image_id"))
        if number not in captions:
            raise MalformedFile(path, f"{place}: there is no image {number}")
        captions[number].append(_text(path, f"{place}, caption", annotation.get("caption")))
    return make_references(captions, subsets, name=str(path), language=found or ENGLISH)


def image_id(path: Path, place: str, value: Any) -> int:
    """The id of an image, a whole number; raises MalformedFile."""
    if type(value) is not int:
        raise MalformedFile(path, f"{place}: {short(value)} is not a whole number")
    return value


def _text(path: Path, place: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise MalformedFile(path, f"{place}: {short(value)} is not a text")
    return value
