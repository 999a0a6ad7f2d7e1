"""References: what captions are scored against."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from corpora.datasets.coco import OF_REGION, describes_region
from corpora.errors import DomainError
from corpora.language.languages import ENGLISH, checked_tag, in_usual_case
from corpora.reading.files import MalformedFile, short
from corpora.reading.json_files import JsonEntry, entries, read_coco


def in_language(
    path: Path, annotations: Iterable[JsonEntry], wanted: str | None
) -> tuple[list[JsonEntry], str | None]:
    """The annotations of the wanted language, and this language; None if the file names none.

    Without a wanted language the file must be in one. Annotations that name no language are of any.
    Raises MalformedFile, also for a caption of a region.
    """
    every = list(annotations)
    for entry in every:
        if describes_region(entry.values):
            raise entry.wrong(OF_REGION)
    tags = [_tag(entry) for entry in every]
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


def _tag(entry: JsonEntry) -> str | None:
    value = entry.values.get("language")
    if value is None:
        return None
    try:
        return checked_tag(in_usual_case(value))
    except (AttributeError, ValueError) as error:
        raise entry.wrong(f"language {short(value)} is no tag") from error


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
    language: str,
) -> References:
    """The references of images, some of which may have no captions; raises DomainError."""
    if not captions:
        raise DomainError(f"{name}: there are no images.")
    described = {image: texts for image, texts in captions.items() if texts}
    if not described:
        raise DomainError(f"{name}: no image has a caption. Are the references hidden?")
    return References(described, subsets, frozenset(captions.keys() - described.keys()), language)


def read_references(path: Path, language: str | None = None) -> References:
    """The references of a captions file in COCO form; raises MalformedFile and DomainError.

    The key `domain` of an image, if it has one, is its subset. Where annotations have a key
    `language`, only those in this language are read. Without one, the file is in the language that
    it names, or in English.
    """
    content = read_coco(path)
    captions: dict[int, list[str]] = {}
    subsets: dict[int, str] = {}
    for image in entries(path, content, "images"):
        number = image.whole("id")
        if number in captions:
            raise image.wrong(f"the image {number} occurs twice")
        captions[number] = []
        if image.values.get("domain"):
            subsets[number] = image.text("domain")
    annotations = entries(path, content, "annotations") if captions else ()
    chosen, found_language = in_language(path, annotations, language)
    for annotation in chosen:
        number = annotation.whole("image_id")
        if number not in captions:
            raise annotation.wrong(f"there is no image {number}")
        captions[number].append(annotation.text("caption"))
    return make_references(captions, subsets, name=str(path), language=found_language or ENGLISH)
