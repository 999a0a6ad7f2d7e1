"""Create caption sets from a COCO captions file or a file of results."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.db import transaction

from accounts.models import Team
from accounts.services.teams import first_team
from annotate.models import CaptionSet, GivenCaption, Image, Release
from annotate.queries.images import names_of_images
from annotate.services import names
from corpora.datasets import coco
from corpora.errors import DomainError
from corpora.language.text import normalise
from corpora.reading.files import MalformedFile
from corpora.wording import counted
from shared.database.transactions import create_in_batches

# Finds the primary key of a caption's image; None if it is none of the images asked for.
ImageOf = Callable[[coco.CocoCaption], int | None]


class CaptionCounts(NamedTuple):
    """Number of captions that an import stored, and of those that it skipped."""

    new: int
    skipped: int

    def in_words(self, name: str) -> str:
        """The result for the set of this name."""
        skipped = f", {self.skipped:,} of unknown images skipped" if self.skipped else ""
        return f"{counted(self.new, 'caption')} in the set {name}{skipped}."


def import_captions(
    *, path: Path, split: str, name: str, at: datetime, team: Team | None
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
    split: str | None,
    release: Release | None,
    team: Team | None,
) -> CaptionCounts:
    """Create a caption set from a file in the COCO results form, such as a model's captions.

    It belongs to the release's team, or else to `team`, or else to the first one.

    Image ids are the keys of the split's images, or the ids that the release's `captions.json`
    has. Captions of other images are skipped. Raises like import_captions, and DomainError if the
    release describes regions: the captions of a set are of whole images.
    """
    captions = coco.read_results(path)
    team = release.campaign.team if release else team or first_team(at=at)
    _check_is_free(name, team)
    if release is None:
        images, where = _images_of_split(split or "", team), f"the split {split!r}"
    elif release.images.exclude(task__serial=0).exists():
        raise DomainError(f"{release} describes regions. Captions of a set are of whole images.")
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
    for caption in captions:
        if not normalise(caption.text):
            reason = f"the caption of image {caption.image} has no character that can be seen"
            raise MalformedFile(path, reason)
    with_images = ((caption, image_of(caption)) for caption in captions)
    of_split = [(caption, image) for caption, image in with_images if image is not None]
    if not of_split:
        raise DomainError(f"No caption in {path} belongs to an image of {where}.")
    languages = {caption.language for caption, _ in of_split}
    language = languages.pop() if len(languages) == 1 else ""
    made, is_new = CaptionSet.objects.get_or_create(
        name=name, defaults={"team": team, "language": language, "created_at": at}
    )
    if not is_new:  # another import took the name meanwhile
        raise DomainError(_taken(name, team))
    rows = (
        GivenCaption(
            caption_set=made,
            image_id=image,
            number=number,
            annotation_id=caption.annotation_id,
            text=normalise(caption.text),
        )
        for number, (caption, image) in enumerate(of_split, start=1)
    )
    create_in_batches(GivenCaption, rows)
    return CaptionCounts(new=len(of_split), skipped=len(captions) - len(of_split))


def _check_is_free(name: str, team: Team) -> None:
    names.check(name, "caption set")
    if CaptionSet.objects.filter(name=name).exists():
        raise DomainError(_taken(name, team))


def _taken(name: str, team: Team) -> str:
    return names.refusal(CaptionSet.objects.all(), name=name, team=team, noun="caption set")
