"""Count the images of a split by their number of classes, as the procedure of nocaps sorts them."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet

from annotate.models import Box, Image, ObjectClass, Procedure, Selection, SplitPools
from annotate.selection.choose import FEWEST_CLASSES, MOST_CLASSES

# The smallest number of classes of an image that the procedure always takes.
RICH = MOST_CLASSES + 1


class Pool(NamedTuple):
    """Images with this number of classes, and how many of them a selection has."""

    title: str
    images: int
    chosen: int


class Pools(NamedTuple):
    """How the procedure of nocaps sorts the images of a split."""

    pools: list[Pool]
    # Images that do not qualify: not known to be upright, or with fewer than two classes.
    turned: int
    poor: int

    @property
    def available(self) -> int:
        return sum(pool.images for pool in self.pools)

    @property
    def images(self) -> int:
        return self.available + self.turned + self.poor


def pools_of(
    split: str, images: QuerySet[Image], ignored: Sequence[str], selection: Selection | None = None
) -> Pools:
    """The pools of a split, without the ignored classes, and what the selection has of them.

    `images` are those of the split that the reader may see: all of them, or none.
    """
    images = images.filter(split=split)
    total = images.aggregate(images=Count("pk"), upright=Count("pk", filter=Q(rotation=0)))
    counts = _stored(split, ignored) if total["images"] else None
    if counts is None:
        counts = count_by_classes(images, ignored)
    chosen = (
        count_by_classes(images.filter(selected__selection=selection), ignored) if selection else {}
    )
    titles = {n: f"{n} classes" for n in counts} | {RICH: f"more than {MOST_CLASSES} classes"}
    pools = [Pool(titles[n], number, chosen.get(n, 0)) for n, number in counts.items()]
    found = Pools(pools, total["images"] - total["upright"], 0)
    return found._replace(poor=total["upright"] - found.available)


def _stored(split: str, ignored: Sequence[str]) -> dict[int, int] | None:
    """The numbers that the last import of the split stored; None if it did not count these."""
    row = SplitPools.objects.filter(split=split).first()
    if row is None or row.ignored_classes != list(ignored):
        return None
    # Keys of JSON are text.
    return {int(n): number for n, number in row.by_classes.items()}


def count_by_classes(images: QuerySet[Image], ignored: Collection[str]) -> dict[int, int]:
    """Numbers of the upright images by number of classes; those of all rich ones together, by
    RICH. Reads every box of the images."""
    left_out = list(ObjectClass.objects.filter(name__in=ignored).values_list("pk", flat=True))
    upright = images.filter(rotation=0)
    boxes = Box.objects.verified().filter(image__in=upright).exclude(object_class__in=left_out)
    by_image = boxes.order_by().values("image_id")
    counted = by_image.annotate(classes=Count("object_class", distinct=True))
    numbers = {f"n{n}": Count("classes", filter=Q(classes=n)) for n in range(FEWEST_CLASSES, RICH)}
    numbers[f"n{RICH}"] = Count("classes", filter=Q(classes__gte=RICH))
    found = counted.aggregate(**numbers)
    return {n: found[f"n{n}"] for n in range(FEWEST_CLASSES, RICH + 1)}


def is_by_nocaps(selection: Selection) -> bool:
    return selection.procedure == Procedure.NOCAPS
