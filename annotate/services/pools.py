"""Store the numbers that the page *Pools* shows, after each import that may change them."""

from accounts.models import Team
from annotate.models import Image, ImageSource, SplitPools
from annotate.queries.images import count_by_classes
from annotate.services.bulk import Counts
from annotate.services.selections import ignored_names


def recount_pools(split: str, *counts: Counts) -> None:
    """Count the pools of a dataset's split again if an import has changed anything.

    Belongs to the import's transaction, in which no other import runs.
    """
    is_counted = SplitPools.objects.filter(split=split).exists()
    if not is_counted or any(each.new or each.changed for each in counts):
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
