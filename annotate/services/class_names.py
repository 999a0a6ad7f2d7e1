"""Store the names of classes in other languages."""

from collections import defaultdict
from pathlib import Path

from django.db import transaction
from django.db.models import F, QuerySet

from annotate.models import ClassName, ObjectClass
from annotate.services.bulk import Counts, Target, load, take_turns
from corpora.datasets.openimages import read_class_names
from corpora.errors import DomainError
from corpora.language.languages import checked_tag, is_english
from corpora.reading.files import MalformedFile, Progress, no_progress
from corpora.reading.tables import CsvFile, open_csv

NAMES = Target(ClassName, ["object_class", "language", "name"], ["object_class", "language"])


@transaction.atomic
def import_class_names(*, path: Path, language: str, progress: Progress = no_progress) -> Counts:
    """Import a table of classes and their names in a language; changed names are updated.

    A row names its class by its label or by its English name in any case, and stands for the
    classes of all teams. Rows of classes that were never imported are counted as skipped. Campaigns
    that exist keep their keywords.

    Raises MalformedFile, and DomainError if the language is not a BCP 47 tag or is English, whose
    names come with the classes.
    """
    try:
        tag = checked_tag(language).lower()
    except ValueError as error:
        raise DomainError(f"--language: {error}.") from error
    if is_english(tag):
        raise DomainError("--language: the English names come with the classes themselves.")
    take_turns()
    with open_csv(path, progress) as file:
        names, skipped = _names(file)
    if not names and not skipped:
        raise MalformedFile(path, "the file has no names of classes")
    rows = [(object_class, tag, name) for object_class, name in names.items()]
    new, changed = load(NAMES, lambda: iter(rows))
    return Counts(len(rows) + skipped, new, changed, skipped)


def take_names(classes: QuerySet[ObjectClass]) -> None:
    """Give those of the classes that have no names those that were imported for their labels.

    Of COCO's labels, which are numbers that another file may give to other classes, only if the
    English name is the same.
    """
    new = defaultdict(list)
    for number, label, english in classes.filter(names=None).values_list("pk", "label", "name"):
        new[_identity(label, english)].append(number)
    named = ClassName.objects.filter(object_class__label__in=classes.values("label"))
    # Those of the shared classes come last, and win.
    by_owner = named.order_by(F("object_class__team").desc(nulls_last=True))
    rows = by_owner.values_list("object_class__label", "object_class__name", "language", "name")
    names = {
        (number, language): name
        for label, english, language, name in rows
        for number in new[_identity(label, english)]
    }
    ClassName.objects.bulk_create(
        ClassName(object_class_id=number, language=language, name=name)
        for (number, language), name in names.items()
    )


def _identity(label: str, english: str) -> str:
    """What is the same of classes of several teams that are the same."""
    return label + english.casefold() if label.startswith("coco:") else label


def _names(file: CsvFile) -> tuple[dict[int, str], int]:
    """The names by the class's primary key, and the number of rows of unknown classes."""
    labels, classes = defaultdict(list), defaultdict(list)
    identities: dict[str, str] = {}
    shared_first = ObjectClass.objects.order_by(F("team").asc(nulls_first=True), "pk")
    for number, label, name in shared_first.values_list("pk", "label", "name"):
        identity = _identity(label, name)
        if identities.setdefault(label, identity) == identity:
            labels[label].append(number)
        classes[name.casefold()].append(number)
    names: dict[int, str] = {}
    skipped = 0
    for row in read_class_names(file):
        # Several teams may have the label, and several datasets the name.
        key = row.label_or_name
        numbers = labels.get(key) or classes.get(key.casefold(), [])
        skipped += not numbers
        for number in numbers:
            if names.setdefault(number, row.name) != row.name:
                raise file.wrong(f"{key} was {names[number]!r} before and is {row.name!r} here")
    return names, skipped
