"""Keywords of images, and the classes that are hidden from workers."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from accounts.models import Team
from annotate.models import (
    Box,
    ClassName,
    ClassRelation,
    Image,
    ObjectClass,
    Selection,
    Task,
)
from corpora.language.languages import ENGLISH, is_english, tags_from_narrow
from corpora.selection import priming

# Key of a task's payload that has the keywords of its image.
KEYWORDS = "keywords"
# Those of them that are in English since the class has no name in the campaign's language.
ENGLISH_KEYWORDS = "english_keywords"


class Keywords(NamedTuple):
    """The keywords of an image in a language, and those among them that are in English since the
    class has no name in the language."""

    names: list[str]
    in_english: list[str]

    @property
    def payload(self) -> dict[str, list[str]]:
        """The keywords as a task stores them."""
        marked = {ENGLISH_KEYWORDS: self.in_english} if self.in_english else {}
        return {KEYWORDS: self.names, **marked}


def hidden_class_numbers() -> set[int]:
    """Primary keys of the classes that are never shown.

    A part in the shared hierarchy is hidden in every team: a team can have its own class of the
    same label without a hierarchy.
    """
    edges = ClassRelation.objects.values_list("parent_id", "child_id", "kind", "parent__label")
    parts = priming.parts(priming.Edge(*edge) for edge in edges.iterator())
    if not parts:
        return parts
    shared = ObjectClass.objects.filter(team=None, pk__in=parts).values("label")
    same = ObjectClass.objects.filter(team__isnull=False, label__in=shared)
    return parts | set(same.values_list("pk", flat=True))


def hidden_classes() -> list[ObjectClass]:
    """Classes that are never shown as keywords, by name."""
    found = ObjectClass.objects.filter(pk__in=hidden_class_numbers()).order_by("pk")
    return sorted(found, key=lambda one: one.name)


def has_classes(selection: str, team: Team) -> bool:
    """Whether an image of the selection has a class that workers could see as a keyword."""
    own = Selection.objects.of_team(team).filter(name=selection)
    return Box.objects.verified().filter(image__selections__in=own).exists()


def keywords(image: Image) -> list[str]:
    """Names of the classes of an image's verified boxes, without hidden ones, alphabetically."""
    return keywords_of([image])[image.pk]


def keywords_of(images: Iterable[Image]) -> dict[int, list[str]]:
    """The keywords of many images by primary key, in two queries."""
    classes = _classes_by_image([image.pk for image in images])
    return {image: priming.keywords(named.values()) for image, named in classes.items()}


def keywords_in(
    language: str, images: Collection[int], names: Mapping[int, str]
) -> dict[int, Keywords]:
    """The keywords of the images in a language, with the `names_in` it, in two queries."""
    return {
        image: _translated(classes, names, marks_english=not is_english(language))
        for image, classes in _classes_by_image(images).items()
    }


def names_in(language: str) -> dict[int, str]:
    """The names of classes in a language by the class's primary key, in one query.

    A class without a name in `pt-BR` has its name in `pt`.
    """
    tags = tags_from_narrow(language)
    rows = ClassName.objects.filter(language__in=tags)
    names = rows.values_list("language", "object_class_id", "name")
    # Narrower tags come last, so that their names win.
    ordered = sorted(names, key=lambda row: -tags.index(row[0]))
    return {object_class: name for _, object_class, name in ordered}


def _translated(
    classes: Mapping[int, str], names: Mapping[int, str], *, marks_english: bool
) -> Keywords:
    shown = {number: names.get(number, english) for number, english in classes.items()}
    missing = [english for number, english in classes.items() if number not in names]
    return Keywords(
        priming.keywords(shown.values()), priming.keywords(missing) if marks_english else []
    )


def _classes_by_image(images: Collection[int]) -> dict[int, dict[int, str]]:
    """Primary keys and English names of the classes that each image may show, in two queries."""
    hidden = hidden_class_numbers()
    classes: dict[int, dict[int, str]] = {image: {} for image in images}
    rows = (
        Box.objects.verified()
        .filter(image__in=classes)
        .values_list("image_id", "object_class_id", "object_class__name")
        .distinct()
    )
    for image, object_class, name in rows.iterator():
        if object_class not in hidden:
            classes[image][object_class] = name
    return classes


def task_keywords(task: Task) -> list[str]:
    """The keywords of a task about an image.

    Task types that take text fix them when the campaign is created. Otherwise they are those of the
    image's boxes now.
    """
    stored = stored_keywords(task)
    return keywords(task.image) if stored is None else stored


def stored_keywords(task: Task) -> list[str] | None:
    """The keywords that were fixed for a task; None if there are none of them."""
    stored: list[str] | None = (task.payload or {}).get(KEYWORDS)
    return stored


def english_keywords(task: Task) -> list[str]:
    """Those of a task's keywords that have no name in the campaign's language."""
    return list((task.payload or {}).get(ENGLISH_KEYWORDS, ()))


def keywords_with_language(task: Task, language: str) -> list[tuple[str, str]]:
    """The keywords of a task, each with its language; the campaign is in this one."""
    if (stored := stored_keywords(task)) is None:
        return [(name, ENGLISH) for name in keywords(task.image)]
    english = english_keywords(task)
    return [(name, ENGLISH if name in english else language) for name in stored]
