"""The tables of a caption release for the formats of `export`."""

from collections.abc import Iterator
from functools import partial

from django.db.models import F, Value
from django.db.models.expressions import Combinable

from annotate.exports.images import image_tables
from annotate.exports.tables import CHUNK, Column, Extra, Row, Table, Type
from annotate.language.languages import is_english
from annotate.models import Release, ReleasedCaption, Role

COLUMNS = {
    Column("image_id", Type.INTEGER, "id of the image", refers_to="images.image_id"): (
        "image__number"
    ),
    Column("caption", Type.TEXT, "the caption as the worker wrote it"): "text",
    Column(
        "worker", Type.INTEGER, "number of the worker in this release", Extra.WORKERS
    ): "worker_number",
    Column(
        "seconds", Type.INTEGER, "seconds that the worker spent on it", Extra.SECONDS
    ): "seconds",
    Column("primed", Type.BOOLEAN, "whether the worker saw the keywords", Extra.KEYWORDS): (
        "primed"
    ),
}
LANGUAGE = Column("language", Type.TEXT, "BCP 47 tag of the caption's language")
NUMBER = Column("id", Type.INTEGER, "id of the caption, as in captions.json")


def tables(release: Release) -> list[Table]:
    """`images`, `boxes`, `captions` with the references, and `baselines`."""
    # As in captions.json, English captions have no such column.
    language = [LANGUAGE] if _languages(release) else []
    return [
        *image_tables(release),
        Table(
            "captions",
            "One row for each reference caption, image by image in the order of submission.",
            [NUMBER, *COLUMNS, *language],
            partial(_references, release),
            listed="caption",
        ),
        Table(
            "baselines",
            "The human baseline: one further caption of each image, to be scored like a model's.",
            [*COLUMNS, *language],
            partial(_captions, release, Role.BASELINE),
            listed="caption",
        ),
    ]


def _references(release: Release) -> Iterator[Row]:
    for number, row in enumerate(_captions(release, Role.REFERENCE)):
        yield (number, *row)


def _captions(release: Release, role: Role) -> Iterator[Row]:
    rows = ReleasedCaption.objects.filter(image__release=release, role=role).order_by("pk")
    return rows.values_list(*COLUMNS.values(), *_languages(release)).iterator(CHUNK)


def _languages(release: Release) -> list[Combinable]:
    """The value of the column with the language; empty if there is none."""
    if release.languages:
        return [F("language")]
    return [] if is_english(release.language) else [Value(release.language)]
