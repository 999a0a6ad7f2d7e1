"""Store the numbers that the page *Pools* shows, after each import that may change them."""

from annotate.models import Image, ImageSource, SplitPools
from annotate.queries.pools import count_by_classes
from annotate.services.bulk import Counts
from annotate.services.selections import ignored_names


def recount_pools(split: str, *counts: Counts) -> None:
    """Count the pools of a dataset's split again if an import has changed anything.

    Belongs to the import's transaction, in which no other import runs.
    """
    is_counted = SplitPools.objects.filter(split=split).exists()
    if not is_counted or any(each.new or each.changed for each in counts):
        _recount(split)


def recount_all_pools() -> None:
    """Count the pools of every dataset again, after a change of the classes."""
    datasets = Image.objects.exclude(source=ImageSource.OWN).order_by()
    for split in datasets.values_list("split", flat=True).distinct():
        _recount(split)


def _recount(split: str) -> None:
    ignored = ignored_names()
    by_classes = count_by_classes(Image.objects.filter(split=split), ignored)
    SplitPools.objects.update_or_create(
        split=split, defaults={"ignored_classes": ignored, "by_classes": by_classes}
    )
