"""The caption sets that campaigns work on: the references of a release, or an imported set."""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain, count

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import Team
from annotate.models import CaptionSet, GivenCaption, Release, ReleasedCaption, Role
from corpora.errors import DomainError
from corpora.language.text import normalise
from shared.database.transactions import create_in_batches


@transaction.atomic
def set_of_release(*, name: str, team: Team, at: datetime) -> CaptionSet:
    """The caption set of the references of a team's release, created at first use; raises
    DomainError."""
    releases = Release.objects.of_team(team)
    # Locked, so that two who create a campaign on it at once share one set.
    locked = releases.select_for_update(of=("self",), no_key=True)
    release = locked.filter(name=name).first()
    if release is None:
        raise DomainError(f"there is no release {name!r}. Existing names: {_names(releases)}.")
    if release.languages:
        raise DomainError(
            f"release {name!r} has captions in {', '.join(release.languages)}. Release the English "
            "campaign alone."
        )
    existing = CaptionSet.objects.filter(release=release).first()
    if existing is not None:
        return existing
    made = _create_set(release, team, at)
    create_in_batches(GivenCaption, _references(made, release))
    if not made.captions.exists():
        raise DomainError(f"release {name!r} has no captions.")
    return made


def _create_set(release: Release, team: Team, at: datetime) -> CaptionSet:
    """An empty set with the release's name, or with a number, if another set has it, perhaps of
    another team or of an import that has just ended."""
    values = {"team": team, "release": release, "language": release.language, "created_at": at}
    names = chain([release.name], (f"{release.name[:90]}-{number}" for number in count(2)))
    tried = (CaptionSet.objects.get_or_create(name=name, defaults=values) for name in names)
    return next(made for made, is_new in tried if is_new)


def set_named(name: str, team: Team) -> CaptionSet:
    """Return the team's caption set; raises DomainError."""
    own = CaptionSet.objects.of_team(team)
    caption_set = own.filter(name=name).first()
    if caption_set is None:
        raise DomainError(f"there is no caption set {name!r}. Existing names: {_names(own)}.")
    return caption_set


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
            text=normalise(text),  # imported captions may have several lines
        )


def _names(rows: QuerySet[Release] | QuerySet[CaptionSet]) -> str:
    return ", ".join(sorted(rows.values_list("name", flat=True))) or "none"
