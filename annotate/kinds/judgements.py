"""People's ratings of captions in a release, and the references of the same images."""

from pathlib import Path

from django.db.models import Count

from annotate.exports.files import stored
from annotate.kinds import KINDS
from annotate.models import Release, ReleasedCaption, Role
from annotate.queries.releases import language_in, references_of_release
from corpora.errors import DomainError
from corpora.evaluation.judgements import Caption, captions_in
from corpora.evaluation.references import References, make_references
from corpora.language.languages import language_of
from corpora.reading.json_files import parse_json


def judged_captions(release: Release) -> list[Caption]:
    """The captions that people rated; raises DomainError if it is a release of something else."""
    name = KINDS[release.campaign.kind].judgements
    if not name:
        raise DomainError(
            f"{release} has no ratings of captions. Name a release of ratings or of comparisons."
        )
    return captions_in(Path(name), parse_json("".join(stored(release, name=name))))


def numbers_in(other: Release, release: Release) -> dict[int, int]:
    """The number that each image of the release has in another one; -1 if it is not there."""
    numbers = dict(other.images.values_list("task__image", "number"))
    rows = release.images.values_list("number", "task__image")
    return {number: numbers.get(image, -1) for number, image in rows}


def references_in(release: Release, language: str) -> References:
    """The release's references, also hidden ones; raises DomainError if it has none of whole
    images."""
    chosen = language_in(release, language if release.languages else None)
    texts = references_of_release(release, chosen)
    if release.images.exclude(task__serial=0).exists():
        raise DomainError(f"{release} describes regions. Name references of whole images.")
    return make_references(texts, {}, name=release.name, language=chosen or release.language)


def described(judged: Release, language: str) -> Release | None:
    """The team's release with references of all judged images in a language, if there is one;
    raises DomainError if there are several."""
    captions = ReleasedCaption.with_hidden.filter(
        role=Role.REFERENCE,
        image__task__image__in=judged.images.values("task__image"),
        image__task__serial=0,  # of the whole image
        language__in=["", language],  # empty in releases of one campaign
    )
    images = Count("image__task__image", distinct=True)
    covering = captions.order_by().values("image__release").annotate(images=images)
    wanted = judged.images.values("task__image").distinct().count()
    releases = Release.objects.of_team(judged.campaign.team).filter(
        pk__in=covering.filter(images=wanted).values("image__release")
    )
    described_by = [
        release
        for release in releases.select_related("campaign").order_by("name")
        if language_of(language).code in {language_of(tag).code for tag in release.all_languages}
    ]
    if len(described_by) > 1:
        names = ", ".join(release.name for release in described_by)
        raise DomainError(
            f"Several releases have references of these images. Choose one with --references: "
            f"{names}."
        )
    return described_by[0] if described_by else None
