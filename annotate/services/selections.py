"""Draw the images of a campaign from a split, and store the parameters of the draw."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, QuerySet

from accounts.models import Team
from accounts.services.teams import first_team
from annotate.models import (
    Box,
    ClassRelation,
    Image,
    ImageSource,
    ObjectClass,
    Procedure,
    SelectedImage,
    Selection,
    SplitPools,
)
from annotate.queries.images import count_by_classes, names_of_images
from annotate.queries.keywords import hidden_class_numbers
from annotate.services import names
from annotate.services.bulk import Counts
from corpora.datasets.image_names import image_names
from corpora.errors import DomainError
from corpora.reading.files import short
from corpora.selection import choose as selection
from corpora.wording import counted

IDS_NAMED = 5
# Classes that are too broad to describe an image, as listed in the paper. Parts are ignored too.
BROAD_CLASSES = ("Auto part", "Home appliance", "Sports equipment")


class NameTaken(DomainError):
    """Another selection has the name."""


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
    selection = Selection.objects.filter(name=name).first()
    if selection is None:
        return None
    _check_owner(selection, team)
    asked = {
        "procedure": Procedure.NOCAPS,
        "split": split,
        "count": count,
        "sample": sample,
        "seed": seed,
        "ignored_classes": ignored_names(ignore, team=selection.team),
    }
    different = [field for field, value in asked.items() if getattr(selection, field) != value]
    if different:
        raise NameTaken(
            f"The selection {name!r} already exists with another {' and '.join(different)}; "
            "choose another name."
        )
    return selection


def check_draw(
    *, name: str, split: str, count: int, sample: int, seed: int, team: Team | None = None
) -> None:
    """Raise DomainError if it is known already that these images cannot be drawn."""
    names.check(name, "selection")
    find_selection(name=name, split=split, count=count, sample=sample, seed=seed, team=team)
    number = _images_to_draw_from(split, team).filter(rotation=0).count()
    if number < count:
        raise DomainError(
            f"{count:,} images were requested, but the split {split!r} has only {number:,} that "
            "are known to be upright."
        )


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

    Choosing can take a minute, so it comes before the transaction that stores the result. `sample`
    is the number of images compared at each step of the draw. `progress` is called with the number
    of images chosen since the last call.
    """
    if count < 1 or sample < 1:
        raise DomainError("The count and the sample must be 1 or more.")
    names.check(name, "selection")
    team = team or first_team(at=at)
    ignored = ignored_names(ignore, team=team)
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
    drawn = _select(
        Procedure.NOCAPS,
        team,
        name,
        split,
        [numbers[candidate.key] for candidate in chosen],
        at,
        seed=seed,
        sample=sample,
        ignored_classes=ignored,
    )
    pool = summary(candidates, without_boxes=len(numbers) - len(candidates))
    return Drawn(drawn, pool, summary(chosen), _rich(candidates) - _rich(chosen))


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
    """Draw images of a split with a seed, regardless of their classes; raises DomainError."""
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
    picked = Image.objects.of_team(team).filter(pk__in=images)
    if picked.count() < len(images):
        raise DomainError("Some of the picked images do not exist. Pick the images again.")
    splits = sorted(set(picked.values_list("split", flat=True)))
    if len(splits) > 1:
        raise DomainError(
            f"The picked images belong to several splits ({', '.join(splits)}). A selection has "
            "images of one split."
        )
    return _select(Procedure.PICKED, team, name, splits[0], images, at)


def find_listed(*, split: str, ids: Sequence[str], team: Team) -> tuple[list[int], list[str]]:
    """Primary keys of the images of a split that a list names, in its order, and the ids of the
    list that name none. Raises DomainError if none does."""
    images = Image.objects.of_team(team).filter(split=split)
    if not images.exists():
        raise DomainError(f"The split {split!r} has no images. Import some first.")
    if not ids:
        raise DomainError("The list names no image.")
    images_found = names_of_images(images, {name for listed in ids for name in image_names(listed)})
    places = {listed: images_found.find(listed) for listed in ids}
    chosen = [image for image in places.values() if image is not None]
    if not chosen:
        raise DomainError(f"None of the {counted(len(places), 'id')} is in the split {split!r}.")
    return list(dict.fromkeys(chosen)), [
        listed for listed, image in places.items() if image is None
    ]


@transaction.atomic
def select_listed(
    *, name: str, split: str, ids: Sequence[str], at: datetime, team: Team | None = None
) -> tuple[Selection, list[str]]:
    """Select the images of a split that a list of ids or own file names has, in its order.

    Returns the selection and the ids that are not in the split. Raises DomainError if none is.
    """
    team = team or first_team(at=at)
    images, unknown = find_listed(split=split, ids=ids, team=team)
    return _select(Procedure.LISTED, team, name, split, images, at), unknown


def unknown_ids(unknown: Sequence[str], split: str) -> str:
    """A sentence about the ids of a list that are not in the split."""
    few = ", ".join(short(identifier) for identifier in unknown[:IDS_NAMED])
    more = f" and {len(unknown) - IDS_NAMED:,} more" if len(unknown) > IDS_NAMED else ""
    are = "id is" if len(unknown) == 1 else "ids are"
    return f"{len(unknown):,} {are} not in the split {split!r}: {few}{more}."


def _in_order(split: str, team: Team) -> list[int]:
    """Primary keys of a split's images by file name, those of a dataset by id, in the same order in
    every database."""
    rows = Image.objects.of_team(team).filter(split=split).only("source", "file_name", "key")
    if not (ordered := sorted((image.own_name, image.key, image.pk) for image in rows)):
        raise DomainError(f"The split {split!r} has no images. Import some first.")
    return [image for _, _, image in ordered]


@transaction.atomic
def _select(
    procedure: Procedure,
    team: Team,
    name: str,
    split: str,
    images: Sequence[int],
    at: datetime,
    **options: Any,
) -> Selection:
    """Store a selection of these images; the existing one of the same name if it is the same."""
    names.check(name, "selection")
    made, is_new = Selection.objects.get_or_create(
        name=name,
        defaults={
            "team": team,
            "procedure": procedure,
            "split": split,
            "count": len(images),
            "created_at": at,
            **options,
        },
    )
    if is_new:
        _store(made, images)
        return made
    _check_owner(made, team)
    asked = {"procedure": procedure, "split": split, "seed": 0, **options}
    is_same = all(getattr(made, field) == value for field, value in asked.items())
    if not is_same or list(made.selected.values_list("image_id", flat=True)) != list(images):
        raise NameTaken(
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


def _check_owner(selection: Selection, team: Team | None) -> None:
    """Raise NameTaken if the selection is not the team's; nothing more is said of it."""
    if team is not None and selection.team_id != team.pk:
        rows = Selection.objects.all()
        raise NameTaken(names.refusal(rows, name=selection.name, team=team, noun="selection"))


def select_whole(*, split: str, team: Team, at: datetime) -> Selection:
    """A selection of all images of the split as they are now: the team's latest, or a new one whose
    name is made from the split's. Raises DomainError."""
    selections = Selection.objects.of_team(team).filter(split=split, procedure=Procedure.ALL)
    latest = selections.order_by("-created_at", "-pk").first()
    if latest and latest.count == Image.objects.of_team(team).filter(split=split).count():
        return latest
    name = names.free_name(Selection.objects.all(), names.address_of(split, "images"))
    return select_all(name=name, split=split, team=team, at=at)


def ignored_names(more: Iterable[str] = (), *, team: Team | None = None) -> list[str]:
    """Sorted names of the ignored classes among those that the team can use; raises DomainError if
    one of `more` is unknown."""
    more, classes = set(more), ObjectClass.objects.of_team(team)
    existing = set(classes.filter(name__in=more).values_list("name", flat=True))
    if unknown := sorted(more - existing):
        raise DomainError(f"Unknown class: {', '.join(unknown)}.")
    hidden = classes.filter(pk__in=hidden_class_numbers())
    return sorted({*BROAD_CLASSES, *hidden.values_list("name", flat=True), *more})


def candidates_of(
    *, split: str, ignored: Iterable[str], team: Team | None = None
) -> tuple[dict[str, int], list[selection.Candidate]]:
    """The split's upright images: their primary keys by image key, and the candidates, which
    are those with boxes.

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
        and not ClassRelation.objects.filter(
            child__in=ObjectClass.objects.of_team(team).values("pk")
        ).exists()
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


def summary(candidates: Iterable[selection.Candidate], *, without_boxes: int = 0) -> Summary:
    by_classes = Counter({0: without_boxes} if without_boxes else {})
    counts = selection.ClassCounts()
    for candidate in candidates:
        by_classes[len(candidate.instances)] += 1
        counts.add(candidate.instances)
    return Summary(dict(sorted(by_classes.items())), counts.entropy())


def _rich(candidates: Iterable[selection.Candidate]) -> int:
    return sum(len(candidate.instances) > selection.MOST_CLASSES for candidate in candidates)


def recount_pools(split: str, *counts: Counts) -> None:
    """Count the pools of a dataset's split again if an import has changed anything.

    Belongs to the import's transaction, in which no other import runs.
    """
    is_counted = SplitPools.objects.filter(split=split).exists()
    if not is_counted or any(count.new or count.changed for count in counts):
        _recount(split)


def recount_all_pools(team: Team | None) -> None:
    """Count the pools of every dataset with this owner's classes again, after a change of them."""
    datasets = Image.objects.exclude(source=ImageSource.OWN).order_by()
    if team:
        datasets = datasets.filter(team=team)
    for split in datasets.values_list("split", flat=True).distinct():
        _recount(split)


def _recount(split: str) -> None:
    images = Image.objects.filter(split=split)
    owner = images.select_related("team").first()
    ignored = ignored_names(team=owner.team if owner else None)
    by_classes = count_by_classes(images, ignored)
    SplitPools.objects.update_or_create(
        split=split, defaults={"ignored_classes": ignored, "by_classes": by_classes}
    )
