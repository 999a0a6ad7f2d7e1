"""Draw the images of a campaign from a split, and store the parameters of the draw."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, QuerySet

from annotate.errors import DomainError
from annotate.models import (
    Box,
    ClassRelation,
    Image,
    ImageSource,
    ObjectClass,
    Procedure,
    SelectedImage,
    Selection,
    Team,
)
from annotate.queries.keywords import hidden_class_numbers
from annotate.selection import choose as selection
from annotate.services import names
from annotate.services.teams import first_team

SLUG = re.compile(r"[A-Za-z0-9_-]{1,100}")
# Classes that are too broad to describe an image, as listed in the paper. Parts are ignored too.
BROAD_CLASSES = ("Auto part", "Home appliance", "Sports equipment")


class Summary(NamedTuple):
    """Number of images by their number of classes, and the entropy over classes in nats."""

    by_classes: dict[int, int]
    entropy: float


class Drawn(NamedTuple):
    selection: Selection
    pool: Summary
    chosen: Summary
    # Number of images with more than MOST_CLASSES classes that did not fit. Normally all are taken.
    rich_left_out: int


def find_selection(
    *,
    name: str,
    split: str,
    count: int,
    sample: int,
    seed: int,
    ignore: Iterable[str] = (),
    team: Team | None = None,
) -> Selection | None:
    """The existing selection of this name, or None; raises DomainError if its parameters differ,
    or if it belongs to another team."""
    found = Selection.objects.filter(name=name).first()
    if found is None:
        return None
    _check_owner(found, team)
    asked = {
        "procedure": Procedure.NOCAPS,
        "split": split,
        "count": count,
        "sample": sample,
        "seed": seed,
        "ignored_classes": ignored_names(ignore),
    }
    different = [field for field, value in asked.items() if getattr(found, field) != value]
    if different:
        raise DomainError(
            f"The selection {name!r} already exists with another {' and '.join(different)}; "
            "choose another name."
        )
    return found


def check_draw(
    *, name: str, split: str, count: int, sample: int, seed: int, team: Team | None = None
) -> None:
    """Raise DomainError if it is known already that these images cannot be drawn."""
    _check_name(name)
    find_selection(name=name, split=split, count=count, sample=sample, seed=seed, team=team)
    number = _images_to_draw_from(split, team).filter(rotation=0).count()
    if number < count:
        raise DomainError(
            f"{count:,} images were requested, but the split {split!r} has only {number:,} that "
            "are known to be upright."
        )


@transaction.atomic
def draw_selection(
    *,
    name: str,
    split: str,
    count: int,
    at: datetime,
    sample: int = selection.DEFAULT_SAMPLE,
    seed: int = 0,
    ignore: Iterable[str] = (),
    team: Team | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> Drawn:
    """Choose images of a split and store them as a new selection of the team, or else of the first
    team; raises DomainError.

    `sample` is the number of images compared at each step of the draw. `progress` is called with
    the number of images chosen since the last call.
    """
    if count < 1 or sample < 1:
        raise DomainError("The count and the sample must be 1 or more.")
    _check_name(name)
    ignored = ignored_names(ignore)
    team = team or first_team(at=at)
    numbers, candidates = candidates_of(split=split, ignored=ignored, team=team)
    try:
        chosen = selection.choose(
            candidates, count=count, sample=sample, seed=seed, progress=progress
        )
    except selection.TooFewImages as error:
        raise DomainError(
            f"{count} images were requested, but the split {split!r} has only {error.available} "
            f"that are upright and have at least {selection.FEWEST_CLASSES} classes."
        ) from error
    drawn = Selection.objects.create(
        team=team,
        name=name,
        split=split,
        count=count,
        sample=sample,
        seed=seed,
        ignored_classes=ignored,
        created_at=at,
    )
    _store(drawn, (numbers[candidate.key] for candidate in chosen))
    return Drawn(drawn, summary(candidates), summary(chosen), _rich(candidates) - _rich(chosen))


@transaction.atomic
def select_all(*, name: str, split: str, at: datetime, team: Team | None = None) -> Selection:
    """Select every image of a split, by file name, for the team; raises DomainError.

    If the selection exists already with the same images, it is returned unchanged.
    """
    team = team or first_team(at=at)
    return _select(Procedure.ALL, team, name, split, _in_order(split, team), at)


@transaction.atomic
def select_random(
    *, name: str, split: str, count: int, at: datetime, seed: int = 0, team: Team | None = None
) -> Selection:
    """Draw images of a split with a seed, whatever their classes; raises DomainError."""
    team = team or first_team(at=at)
    images = _in_order(split, team)
    if not 1 <= count <= len(images):
        raise DomainError(
            f"{count:,} images cannot be drawn from the split {split!r}, which has "
            f"{len(images):,}. Give a number from 1 to {len(images):,}."
        )
    chosen = random.Random(seed).sample(images, count)
    return _select(Procedure.RANDOM, team, name, split, chosen, at, seed=seed)


@transaction.atomic
def select_picked(
    *, name: str, images: Sequence[int], at: datetime, team: Team | None = None
) -> Selection:
    """Select these images, by primary key and in this order; raises DomainError."""
    team = team or first_team(at=at)
    images = list(dict.fromkeys(images))
    if not images:
        raise DomainError("No image is picked. Pick at least one.")
    found = Image.objects.of_team(team).filter(pk__in=images)
    if found.count() < len(images):
        raise DomainError("Some of the picked images do not exist. Pick the images again.")
    splits = sorted(set(found.values_list("split", flat=True)))
    if len(splits) > 1:
        raise DomainError(
            f"The picked images belong to several splits ({', '.join(splits)}). A selection has "
            "images of one split."
        )
    return _select(Procedure.PICKED, team, name, splits[0], images, at)


def _in_order(split: str, team: Team) -> list[int]:
    """Primary keys of a split's images by name, in the same order in every database."""
    own = Image.objects.of_team(team).filter(split=split)
    rows = own.values_list("file_name", "key", "pk")
    if not (found := sorted(rows)):
        raise DomainError(f"The split {split!r} has no images. Import some first.")
    return [image for _, _, image in found]


def _select(
    procedure: Procedure,
    team: Team,
    name: str,
    split: str,
    images: Sequence[int],
    at: datetime,
    *,
    seed: int = 0,
) -> Selection:
    """Store a selection of these images; the existing one of the same name if it is the same."""
    _check_name(name)
    made, is_new = Selection.objects.get_or_create(
        name=name,
        defaults={
            "team": team,
            "procedure": procedure,
            "split": split,
            "count": len(images),
            "seed": seed,
            "created_at": at,
        },
    )
    if is_new:
        _store(made, images)
        return made
    _check_owner(made, team)
    if (made.procedure, made.split, made.seed) != (procedure, split, seed) or list(
        made.selected.values_list("image_id", flat=True)
    ) != list(images):
        raise DomainError(
            f"The selection {name!r} already exists with other images or options: "
            f"{made.count:,} of the split {made.split!r}. Choose another name."
        )
    return made


def _store(selection: Selection, images: Iterable[int]) -> None:
    SelectedImage.objects.bulk_create(
        (
            SelectedImage(selection=selection, image_id=image, position=position)
            for position, image in enumerate(images, start=1)
        ),
        batch_size=1_000,
    )


def _check_owner(found: Selection, team: Team | None) -> None:
    """Raise DomainError if the selection is not the team's; nothing more is said of it."""
    if team is not None and found.team_id != team.pk:
        rows = Selection.objects.all()
        raise DomainError(names.refusal(rows, name=found.name, team=team, noun="selection"))


def _check_name(name: str) -> None:
    if not SLUG.fullmatch(name):
        raise DomainError(
            f"{name!r} cannot be the name of a selection: use up to 100 letters, digits, hyphens "
            "and underscores."
        )


def ignored_names(more: Iterable[str] = ()) -> list[str]:
    """Sorted names of the ignored classes; raises DomainError if one of `more` is unknown."""
    more = set(more)
    known = set(ObjectClass.objects.filter(name__in=more).values_list("name", flat=True))
    if unknown := sorted(more - known):
        raise DomainError(f"Unknown class: {', '.join(unknown)}.")
    hidden = ObjectClass.objects.filter(pk__in=hidden_class_numbers())
    return sorted({*BROAD_CLASSES, *hidden.values_list("name", flat=True), *more})


def candidates_of(
    *, split: str, ignored: Iterable[str], team: Team | None = None
) -> tuple[dict[str, int], list[selection.Candidate]]:
    """The split's upright images: their primary keys by image key, and the candidates.

    Raises DomainError if the split has no images, or if the class hierarchy was not imported.
    """
    images = _images_to_draw_from(split, team)
    keys = dict(images.filter(rotation=0).values_list("pk", "key"))
    left_out = set(ObjectClass.objects.filter(name__in=ignored).values_list("pk", flat=True))
    candidates = [
        selection.Candidate(keys[image], instances)
        for image, instances in _instances(split, left_out)
        if image in keys
    ]
    return {key: image for image, key in keys.items()}, candidates


def _images_to_draw_from(split: str, team: Team | None) -> QuerySet[Image]:
    own = Image.objects.of_team(team) if team else Image.objects.all()
    images = own.filter(split=split)
    if not images.exists():
        raise DomainError(f"The split {split!r} has no images. Import their metadata first.")
    if (
        images.filter(source=ImageSource.OPEN_IMAGES).exists()
        and not ClassRelation.objects.exists()
    ):
        raise DomainError(
            "The class hierarchy, which says which classes are parts, is missing. Import it with "
            "`manage.py import_openimages --hierarchy`."
        )
    return images


def _instances(split: str, left_out: set[int]) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    """Each image's primary key with its classes and the number of boxes of each.

    A box around a group counts as one instance.
    """
    rows = (
        Box.objects.verified()
        .filter(image__split=split)
        .order_by("image_id", "object_class_id")
        .values_list("image_id", "object_class_id")
        .annotate(number=Count("pk"))
    )
    # The same pairs occur many times. Sharing one tuple for each saves memory with a large pool.
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    for image, group in groupby(rows.iterator(10_000), key=lambda row: row[0]):
        yield (
            image,
            tuple(
                pairs.setdefault((object_class, number), (object_class, number))
                for _, object_class, number in group
                if object_class not in left_out
            ),
        )


def summary(candidates: Iterable[selection.Candidate]) -> Summary:
    by_classes: Counter[int] = Counter()
    counts = selection.ClassCounts()
    for candidate in candidates:
        by_classes[len(candidate.instances)] += 1
        counts.add(candidate.instances)
    return Summary(dict(sorted(by_classes.items())), counts.entropy())


def _rich(candidates: Iterable[selection.Candidate]) -> int:
    return sum(len(candidate.instances) > selection.MOST_CLASSES for candidate in candidates)
