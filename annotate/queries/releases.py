"""Reads of a release by pages, exports and scores: domains, references, withdrawals.

The captions for an evaluation include hidden ones. No page, API answer, report, log or message may
show hidden captions, or a score of a single image. `ReleasedCaption.objects` does not have them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate.models import (
    GivenCaption,
    ObjectClass,
    Release,
    ReleasedAnswer,
    ReleasedCaption,
    Role,
)
from corpora.errors import DomainError
from corpora.selection.domains import PRESETS, DomainTable, LabelledClass, preset
from shared.database.transactions import batches


def domains_of_release(release: Release, table: DomainTable | None = None) -> dict[int, str | None]:
    """The domain of each image by its number, as `domains_of_images` has it; that of a region is
    the one of its own class."""
    domains = domains_of_images(release, table)
    table = table or preset(release.context["domains"]["name"])
    regions = release.images.filter(record__has_key="region")
    columns = ("number", "record__region", "details__boxes")
    for number, region, boxes in regions.values_list(*columns).iterator():
        is_part = any(box["class"] == region["class"] and not box["is_keyword"] for box in boxes)
        shown = set() if is_part else {(region["class"], region["name"])}
        domains[number] = table.of_image(shown)
    return domains


def domains_of_images(release: Release, table: DomainTable | None) -> dict[int, str | None]:
    """The domain of each image by its number; None for an image of no class.

    Without a table they are as the release records them. With one they follow from the classes that
    the release records.
    """
    if table is None:
        records = release.images.values_list("number", "record").iterator()
        return {number: record["domain"] for number, record in records}
    images = release.images.values_list("number", "details").iterator()
    return {number: table.of_image(classes_shown(details["boxes"])) for number, details in images}


def classes_shown(boxes: Iterable[Mapping[str, Any]]) -> set[LabelledClass]:
    """Labels and names of the boxes' classes, without parts, which are never keywords."""
    return {(box["class"], box["name"]) for box in boxes if box["is_keyword"]}


def unknown_classes(table: DomainTable) -> list[str]:
    """Classes of the table that no dataset has which was imported here: perhaps typing errors."""
    if table in map(preset, PRESETS):
        return []
    return table.unknown(ObjectClass.objects.values_list("label", "name"))


def language_in(release: Release, wanted: str | None) -> str:
    """The language of a release of several that somebody wants; empty for other releases.

    Raises DomainError if the release does not have it, or if none is named and there are several.
    """
    languages = ", ".join(release.all_languages)
    if wanted is None and release.languages:
        raise DomainError(f"{release} has captions in {languages}; choose one with --language.")
    if wanted is not None and wanted not in release.all_languages:
        raise DomainError(f"{release} has no captions in {wanted}, but in {languages}.")
    return wanted if wanted and release.languages else ""


def captions_with_hidden(
    release: Release, role: Role, language: str = ""
) -> Iterator[tuple[int, str]]:
    """The image's number and the text of each caption of this role, also of hidden ones.

    A release of several languages has captions of a `language` only.
    """
    rows = ReleasedCaption.with_hidden.filter(image__release=release, role=role, language=language)
    rows = rows.order_by("pk")
    yield from rows.values_list("image__number", "text").iterator()


def references_of_release(release: Release, language: str = "") -> dict[int, list[str]]:
    """The references of each image by its number; raises DomainError if there are none.

    In a partial release, an image may have none.
    """
    texts: dict[int, list[str]] = {
        number: [] for number in release.images.order_by("number").values_list("number", flat=True)
    }
    for image, text in captions_with_hidden(release, Role.REFERENCE, language):
        texts[image].append(text)
    if not any(texts.values()):
        raise DomainError(
            f"Release {release} has no references, which captions are scored against."
        )
    return texts


def baseline_of_release(release: Release, language: str) -> dict[int, str]:
    """The human baseline: a caption of each image by its number."""
    return dict(captions_with_hidden(release, Role.BASELINE, language))


# A mean over fewer images would tell too much of one image's score.
LEAST_IMAGES = 10


def has_few(subsets: Iterable[str | None]) -> bool:
    """Whether one of the subsets, or the rest, has so few images that its mean reveals the scores
    of single images."""
    return any(images < LEAST_IMAGES for images in Counter(subsets).values())


def check_hidden(release: Release, scored: Collection[int]) -> None:
    """Raise DomainError if so few of the scored images, given by their numbers, have hidden
    captions that their mean reveals the scores of single images."""
    hidden = release.images.filter(is_hidden=True).values_list("number", flat=True)
    if has_few(None for _ in {*scored}.intersection(hidden)):
        raise DomainError(
            f"Fewer than {LEAST_IMAGES} of the images of {release} that would be scored have "
            "hidden captions: figures of so few tell too much of each."
        )


def not_withdrawn(captions: QuerySet[GivenCaption]) -> QuerySet[GivenCaption]:
    """Without the captions of releases that were withdrawn since, which no worker is shown."""
    withdrawn = ReleasedCaption.objects.filter(
        image__release=OuterRef("caption_set__release"),
        image__task__image=OuterRef("image"),
        text=OuterRef("text"),
        response__withdrawn_at__isnull=False,
    )
    return captions.exclude(Exists(withdrawn))


def withdrawn_in(release: Release) -> int:
    """The number of the release's responses that have been withdrawn, also of hidden images."""
    return _numbers(Q(image__release=release))[release.name]


def releases_with(responses: Collection[int]) -> dict[str, int]:
    """How many of these withdrawn responses each release has, by the release's name."""
    numbers: Counter[str] = Counter()
    for batch in batches(sorted(responses)):
        numbers += _numbers(Q(response__in=batch))
    return dict(sorted(numbers.items()))


def _numbers(which: Q) -> Counter[str]:
    """The numbers of withdrawn responses by the name of their release."""
    gone = which & Q(response__withdrawn_at__isnull=False)
    columns = ("image__release__name", "response")
    captions = ReleasedCaption.with_hidden.filter(gone).order_by().values_list(*columns)
    answers = ReleasedAnswer.objects.filter(gone).order_by().values_list(*columns)
    return Counter(name for name, _ in {*captions, *answers})
