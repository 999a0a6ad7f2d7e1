"""Create caption sets from a release or from a COCO captions file."""

from collections.abc import Iterator
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
    """Return the caption set of a release's references, created at first use; raises
    NoSuchCaptions."""
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


@transaction.atomic
def import_captions(*, path: Path, split: str, name: str, at: datetime) -> CaptionCounts:
    """Create a caption set from a COCO captions file; captions keep the order of the file.

    Captions of images outside the split are skipped. Raises MalformedFile, and DomainError if the
    name is invalid or in use, the split has no images, or no caption belongs to the split.
    """
    content = coco.read_captions(path)
    if not SLUG.fullmatch(name):
        raise DomainError(
            f"{name!r} cannot be the name of a caption set: use up to 100 letters, digits, hyphens "
            "and underscores."
        )
    _check_is_free(name)
    images = dict(Image.objects.filter(split=split).values_list("key", "pk"))
    if not images:
        raise DomainError(f"The split {split!r} has no images. Import them first.")
    known = [caption for caption in content if caption.image in images]
    if not known:
        raise DomainError(f"No caption in {path} belongs to an image of the split {split!r}.")
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
    return CaptionCounts(new=len(known), skipped=len(content) - len(known))


def set_named(name: str) -> CaptionSet:
    """Return the caption set; raises NoSuchCaptions."""
    found = CaptionSet.objects.filter(name=name).first()
    if found is None:
        raise NoSuchCaptions(
            f"there is no caption set {name!r}. Existing names: {_names(CaptionSet)}."
        )
    return found


def _check_is_free(name: str) -> None:
    if CaptionSet.objects.filter(name=name).exists():
        raise DomainError(f"A caption set named {name!r} already exists.")


def _names(model: type[Release] | type[CaptionSet]) -> str:
    return ", ".join(sorted(model.objects.values_list("name", flat=True))) or "none"
