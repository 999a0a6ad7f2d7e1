"""Create caption sets from a COCO captions file or a file of results."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.db import transaction

from accounts.models import Team
from accounts.services.teams import first_team
from annotate.exports.records import create_in_chunks
from annotate.models import CaptionSet, GivenCaption, Image, Release
from annotate.queries.images import names_of_images
from annotate.services import names
from annotate.services.selections import SLUG
from corpora.datasets import coco
from corpora.errors import DomainError
from corpora.language.text import normalise
from corpora.reading.files import MalformedFile

# Finds the primary key of a caption's image; None if it is none of the images asked for.
ImageOf = Callable[[coco.CocoCaption], int | None]


class CaptionCounts(NamedTuple):
    """Number of captions that an import stored, and of those that it skipped."""

    new: int
    skipped: int


def import_captions(
    *, path: Path, split: str, name: str, at: datetime, team: Team | None = None
) -> CaptionCounts:
    """Create a caption set of the team, or else of the first one, from a COCO captions file.

    Captions keep the order of the file. Captions of images outside the split are skipped. Raises
    MalformedFile, and DomainError if the name is invalid or in use, the split has no images, or no
    caption belongs to the split.
    """
    captions = coco.read_captions(path)
    team = team or first_team(at=at)
    _check_is_free(name, team)
    images, where = _images_of_split(split, team), f"the split {split!r}"
    return _create_set(path, captions, name, at, images, where, team)


def import_results(
    *,
    path: Path,
    name: str,
    at: datetime,
    split: str | None = None,
    release: Release | None = None,
    team: Team | None = None,
) -> CaptionCounts:
    """Create a caption set from a file in the COCO results form, such as a model's captions.

    It belongs to the release's team, or else to `team`, or else to the first one.

    Image ids are the keys of the split's images, or the ids that the release's `captions.json`
    has. Captions of other images are skipped. Raises like import_captions.
    """
    captions = coco.read_results(path)
    team = release.campaign.team if release else team or first_team(at=at)
    _check_is_free(name, team)
    if release is None:
        images, where = _images_of_split(split or "", team), f"the split {split!r}"
    else:
        numbers = release.images.values_list("number", "task__image")
        ids = {str(number): image for number, image in numbers}
        images, where = (lambda caption: ids.get(caption.image)), f"the release {release}"
    return _create_set(path, captions, name, at, images, where, team)


def _images_of_split(split: str, team: Team) -> ImageOf:
    """Finds an image of the split by its id, or by its own file's name."""
    images = Image.objects.of_team(team).filter(split=split)
    if not images.exists():
        raise DomainError(f"The split {split!r} has no images. Import them first.")
    names = names_of_images(images)
    return lambda caption: names.find(caption.image, caption.file_name)


@transaction.atomic
def _create_set(
    path: Path,
    captions: Sequence[coco.CocoCaption],
    name: str,
    at: datetime,
    image_of: ImageOf,
    where: str,
    team: Team,
) -> CaptionCounts:
    """Create a set of the captions whose image is found."""
    _check_is_free(name, team)
    for caption in captions:
        if not normalise(caption.text):
            reason = f"the caption of image {caption.image} has no character that can be seen"
            raise MalformedFile(path, reason)
    found = ((caption, image_of(caption)) for caption in captions)
    known = [(caption, image) for caption, image in found if image is not None]
    if not known:
        raise DomainError(f"No caption in {path} belongs to an image of {where}.")
    made = CaptionSet.objects.create(team=team, name=name, created_at=at)
    rows = (
        GivenCaption(
            caption_set=made,
            image_id=image,
            number=number,
            annotation_id=caption.annotation_id,
            text=normalise(caption.text),
        )
        for number, (caption, image) in enumerate(known, start=1)
    )
    create_in_chunks(GivenCaption, rows)
    return CaptionCounts(new=len(known), skipped=len(captions) - len(known))


def _check_is_free(name: str, team: Team) -> None:
    if not SLUG.fullmatch(name):
        raise DomainError(
            f"{name!r} cannot be the name of a caption set: use up to 100 letters, digits, hyphens "
            "and underscores."
        )
    if CaptionSet.objects.filter(name=name).exists():
        rows = CaptionSet.objects.all()
        raise DomainError(names.refusal(rows, name=name, team=team, noun="caption set"))
