"""Sets of finished captions: taken from a release, or from a COCO captions file."""

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
    """There is no release or set of captions by that name, or it has none."""


class CaptionCounts(NamedTuple):
    """What an import did with the entries of a file."""

    new: int
    skipped: int


@transaction.atomic
def set_of_release(*, name: str, at: datetime) -> CaptionSet:
    """The references of a release as a set, made at its first use; raises NoSuchCaptions."""
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
    """The release's references with the ids that its `captions.json` gives them."""
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
    """Take in a COCO captions file as a set, in the order of the file; captions of images that the
    split does not have are skipped. Raises MalformedFile, or DomainError for a name in use."""
    content = coco.read_captions(path)
    if not SLUG.fullmatch(name):
        raise DomainError(
            f"{name!r} cannot be the name of a set: take up to 100 letters, digits, hyphens and "
            "underscores."
        )
    _check_is_free(name)
    images = dict(Image.objects.filter(split=split).values_list("key", "pk"))
    if not images:
        raise DomainError(f"The split {split!r} has no images; import them first.")
    known = [caption for caption in content if caption.image in images]
    if not known:
        raise DomainError(f"No caption of {path} is of an image of the split {split!r}.")
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
    """The set of captions; raises NoSuchCaptions."""
    found = CaptionSet.objects.filter(name=name).first()
    if found is None:
        raise NoSuchCaptions(
            f"there is no set of captions {name!r}. Existing names: {_names(CaptionSet)}."
        )
    return found


def _check_is_free(name: str) -> None:
    if CaptionSet.objects.filter(name=name).exists():
        raise DomainError(f"A set of captions named {name!r} already exists.")


def _names(model: type[Release] | type[CaptionSet]) -> str:
    return ", ".join(sorted(model.objects.values_list("name", flat=True))) or "none"
