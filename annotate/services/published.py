"""The images and boxes that published campaigns show, which imports do not change."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.models import Q, QuerySet

from annotate.models import Box, Campaign, CampaignStatus, Image, Task
from annotate.queries.keywords import hidden_class_numbers
from corpora.errors import DomainError
from corpora.wording import counted
from shared.database.transactions import batches

NAMED = 3
ABOUT_IMAGE = (
    *("file", "url", "width", "height", "rotation", "title"),
    *("landing_url", "author", "author_url", "license_url"),
)
ABOUT_BOX = (
    *("pk", "object_class__label", "object_class__name", "x_min", "x_max", "y_min", "y_max"),
    *("is_occluded", "is_truncated", "is_group", "is_depiction", "is_inside"),
)


class IsPublished(DomainError):
    """A published campaign, or a release, would show something else than before."""


def published_images(images: QuerySet[Image]) -> QuerySet[Image]:
    """Those of the images that a published or released campaign shows."""
    campaigns = _published().values("pk")
    practised = Campaign.practice_images.through.objects.filter(campaign__in=campaigns)
    return images.filter(
        Q(pk__in=Task.objects.filter(campaign__in=campaigns).values("image_id"))
        | Q(pk__in=practised.values("image_id"))
    )


def _published() -> QuerySet[Campaign]:
    is_published = ~Q(status=CampaignStatus.DRAFT) | Q(releases__isnull=False)
    return Campaign.objects.filter(is_published).order_by("slug").distinct()


@contextmanager
def published_kept(images: QuerySet[Image], *, change_published: bool) -> Iterator[None]:
    """Raise IsPublished if the block changes what a published campaign shows of the images.

    Belongs to the transaction of an import, during which no campaign is published.
    """
    before = {} if change_published else _shown(images)
    yield
    if not before:
        return
    after = _shown(images)
    if changed := [image for image, shown in before.items() if after.get(image) != shown]:
        raise IsPublished(_refusal(changed))


def _shown(images: QuerySet[Image]) -> dict[int, int]:
    """A hash of what pages show of each published image: file, credit, boxes and their classes."""
    images = published_images(images).order_by()
    shown = {row[0]: hash(row) for row in images.values_list("pk", *ABOUT_IMAGE).iterator()}
    hidden = hidden_class_numbers() if shown else set()
    # By keys, so that no database reads the boxes of all images.
    for batch in batches(list(shown)):
        boxes = Box.objects.verified().filter(image__in=batch)
        for image, object_class, *about in boxes.values_list(
            "image_id", "object_class_id", *ABOUT_BOX
        ):
            # A sum, because the rows have no order.
            shown[image] += hash((object_class in hidden, *about))
    return shown


def _refusal(changed: list[int]) -> str:
    images = changed[:NAMED]
    names = Image.objects.filter(pk__in=images).order_by("pk")
    shows = Q(tasks__image__in=images) | Q(practice_images__in=images)
    campaigns = _published().filter(shows)
    more = ", …" if len(changed) > NAMED else ""
    return (
        f"This would change {counted(len(changed), 'image')} "
        f"({', '.join(image.shown_name for image in names)}{more}) of published campaigns "
        f"({', '.join(campaign.slug for campaign in campaigns)}), which keep showing what they "
        "were published with, so nothing was imported. To change them nevertheless, an operator "
        "imports the file by a command with --change-published."
    )
