"""The caption sets that campaigns work on: the references of a release, or an imported set."""

from collections.abc import Iterator
from datetime import datetime

from django.db import transaction

from annotate.errors import DomainError
from annotate.exports.records import create_in_chunks
from annotate.models import CaptionSet, GivenCaption, Release, ReleasedCaption, Role


class NoSuchCaptions(DomainError):
    """There is no release or caption set with that name, or it has no captions."""


@transaction.atomic
def set_of_release(*, name: str, at: datetime) -> CaptionSet:
    """The caption set of a release's references, created at first use; raises NoSuchCaptions."""
    release = Release.objects.filter(name=name).first()
    if release is None:
        raise NoSuchCaptions(f"there is no release {name!r}. Existing names: {_names(Release)}.")
    known = CaptionSet.objects.filter(release=release).first()
    if known is not None:
        return known
    if CaptionSet.objects.filter(name=name).exists():
        raise DomainError(f"A caption set named {name!r} already exists.")
    made = CaptionSet.objects.create(name=name, release=release, created_at=at)
    create_in_chunks(GivenCaption, _references(made, release))
    if not made.captions.exists():
        raise NoSuchCaptions(f"release {name!r} has no captions.")
    return made


def set_named(name: str) -> CaptionSet:
    """Return the caption set; raises NoSuchCaptions."""
    found = CaptionSet.objects.filter(name=name).first()
    if found is None:
        raise NoSuchCaptions(
            f"there is no caption set {name!r}. Existing names: {_names(CaptionSet)}."
        )
    return found


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


def _names(model: type[Release] | type[CaptionSet]) -> str:
    return ", ".join(sorted(model.objects.values_list("name", flat=True))) or "none"
