"""Create caption sets from a release, a COCO captions file, or a file of results."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.db import transaction

from annotate.datasets import coco
from annotate.errors import DomainError
from annotate.exports.records import create_in_chunks
from annotate.language.text import normalise
from annotate.models import CaptionSet, GivenCaption, Image, Release, ReleasedCaption, Role
from annotate.services.selections import SLUG


class NoSuchCaptions(DomainError):
    """There is no release or caption set with that name, or it has no captions."""


class CaptionCounts(NamedTuple):
    """Number of captions that an import stored, and of those that it skipped."""

    new: int
    skipped: int


@transaction.atomic
def set_of_release(*, name: str, at: datetime) -> CaptionSet:
    """The caption set of a release's references, created at first use; raises NoSuchCaptions."""
    release = Release.objects.filter(name=name).first()
    if release is None:
        raise NoSuchCaptions(f"there is no release {name!r}. Existing names: {_names(Release)}.")
    known = CaptionSet.objects.filter(release=release).first()
    if known is not None:
        return known
    _check_is_free(name)
    made = CaptionSet.objects.create(name=name, release=release, created_at=at)
    create_in_chunks(GivenCaption, _references(made, release))
    if not made.captions.exists():
        raise NoSuchCaptions(f"release {name!r} has no captions.")
    return made


def _references(caption_set: CaptionSet, release: Release) -> Iterator[GivenCaption]:
    """The release's references, with the annotation ids that its `captions.json` gives them."""
    rows = ReleasedCaption.objects.filter(image__release=release, role=Role.REFERENCE)
    columns = rows.order_by("pk").values_list("image__task__image", "text")
    for annotation_id, (image_id, text) in enumerate(columns.iterator()):
        yield GivenCaption(
            caption_set=caption_set,
            image_id=image_id,
            number=annotation_id + 1,
            annotation_id=annotation_id,
            text=text,
        )


def import_captions(*, path: Path, split: str, name: str, at: datetime) -> CaptionCounts:
    """Create a caption set from a COCO captions file; captions keep the order of the file.

    Captions of images outside the split are skipped. Raises MalformedFile, and DomainError if the
    name is invalid or in use, the split has no images, or no caption belongs to the split.
    """
    captions = coco.read_captions(path)
    _check_is_free(name)
    return _create_set(path, captions, name, at, _images_of_split(split), f"the split {split!r}")


def import_results(
    *, path: Path, name: str, at: datetime, split: str | None = None, release: Release | None = None
) -> CaptionCounts:
    """Create a caption set from a file in the COCO results form, such as a model's captions.

    Image ids are the keys of the split's images, or the ids that the release's `captions.json`
    has. Captions of other images are skipped. Raises like import_captions.
    """
    captions = coco.read_results(path)
    _check_is_free(name)
    if release is None:
        images, where = _images_of_split(split or ""), f"the split {split!r}"
    else:
        numbers = release.images.values_list("number", "task__image")
        images, where = {str(number): image for number, image in numbers}, f"the release {release}"
    return _create_set(path, captions, name, at, images, where)


def _images_of_split(split: str) -> dict[str, int]:
    images = dict(Image.objects.filter(split=split).values_list("key", "pk"))
    if not images:
        raise DomainError(f"The split {split!r} has no images. Import them first.")
    return images


@transaction.atomic
def _create_set(
    path: Path,
    captions: Sequence[coco.CocoCaption],
    name: str,
    at: datetime,
    images: Mapping[str, int],
    where: str,
) -> CaptionCounts:
    """Create a set of the captions whose image id, as in the file, is a key of `images`."""
    _check_is_free(name)
    known = [caption for caption in captions if caption.image in images]
    if not known:
        raise DomainError(f"No caption in {path} belongs to an image of {where}.")
    made = CaptionSet.objects.create(name=name, created_at=at)
    rows = (
        GivenCaption(
            caption_set=made,
            image_id=images[caption.image],
            number=number,
            annotation_id=caption.annotation_id,
            text=normalise(caption.text),
        )
        for number, caption in enumerate(known, start=1)
    )
    create_in_chunks(GivenCaption, rows)
    return CaptionCounts(new=len(known), skipped=len(captions) - len(known))


def set_named(name: str) -> CaptionSet:
    """Return the caption set; raises NoSuchCaptions."""
    found = CaptionSet.objects.filter(name=name).first()
    if found is None:
        raise NoSuchCaptions(
            f"there is no caption set {name!r}. Existing names: {_names(CaptionSet)}."
        )
    return found


def _check_is_free(name: str) -> None:
    if not SLUG.fullmatch(name):
        raise DomainError(
            f"{name!r} cannot be the name of a caption set: use up to 100 letters, digits, hyphens "
            "and underscores."
        )
    if CaptionSet.objects.filter(name=name).exists():
        raise DomainError(f"A caption set named {name!r} already exists.")


def _names(model: type[Release] | type[CaptionSet]) -> str:
    return ", ".join(sorted(model.objects.values_list("name", flat=True))) or "none"
