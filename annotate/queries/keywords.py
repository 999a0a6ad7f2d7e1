"""Keywords of images, and the classes that are hidden from workers."""

from collections.abc import Collection, Iterable

from django.db.models import Exists, OuterRef

from annotate.models import Box, ClassRelation, Image, ImageSource, ObjectClass, Selection, Task
from annotate.selection import hierarchy, priming

# Key of a task's payload that has the keywords of its image.
KEYWORDS = "keywords"


def hidden_class_numbers() -> set[int]:
    """Primary keys of the classes that are never shown."""
    edges = ClassRelation.objects.values_list("parent_id", "child_id", "kind", "parent__label")
    return hierarchy.parts(hierarchy.Edge(*edge) for edge in edges.iterator())


def hidden_classes() -> list[ObjectClass]:
    """Classes that are never shown as keywords, by name."""
    return list(ObjectClass.objects.filter(pk__in=hidden_class_numbers()).order_by("name"))


def own_without_classes(selection: Selection) -> set[int]:
    """Primary keys of the selection's own files that have no class, so that no keyword is shown."""
    own = Image.objects.filter(selected__selection=selection, source=ImageSource.OWN)
    boxes = Box.objects.verified().filter(image=OuterRef("pk"))
    return set(own.filter(~Exists(boxes)).values_list("pk", flat=True))


def keywords(image: Image) -> list[str]:
    """Names of the classes of an image's verified boxes, without hidden ones, alphabetically."""
    return keywords_of([image])[image.pk]


def keywords_of(images: Iterable[Image]) -> dict[int, list[str]]:
    """The keywords of many images by primary key, in two queries."""
    return keywords_by_key([image.pk for image in images])


def keywords_by_key(images: Collection[int]) -> dict[int, list[str]]:
    """The keywords of the images with these primary keys, in two queries."""
    hidden = hidden_class_numbers()
    names: dict[int, list[str]] = {image: [] for image in images}
    rows = (
        Box.objects.verified()
        .filter(image__in=names)
        .values_list("image_id", "object_class_id", "object_class__name")
        .distinct()
    )
    for image, object_class, name in rows.iterator():
        if object_class not in hidden:
            names[image].append(name)
    return {image: priming.keywords(found) for image, found in names.items()}


def task_keywords(task: Task) -> list[str]:
    """The keywords of a task about an image.

    They are fixed when the campaign is created. Campaigns of earlier versions did not store them:
    there they are those of the image's boxes now.
    """
    stored: list[str] | None = (task.payload or {}).get(KEYWORDS)
    return keywords(task.image) if stored is None else stored
