"""The tables of a caption release for the formats of `export`."""

from collections.abc import Iterator
from functools import partial

from annotate.exports.images import image_tables
from annotate.exports.tables import CHUNK, Column, Extra, Row, Table, Type
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
NUMBER = Column("id", Type.INTEGER, "id of the caption, as in captions.json")


def tables(release: Release) -> list[Table]:
    """`images`, `boxes`, `captions` with the references, and `baselines`."""
    return [
        *image_tables(release),
        Table(
            "captions",
            "One row for each reference caption, image by image in the order of submission.",
            [NUMBER, *COLUMNS],
            partial(_references, release),
            listed="caption",
        ),
        Table(
            "baselines",
            "The human baseline: one further caption of each image, to be scored like a model's.",
            list(COLUMNS),
            partial(_captions, release, Role.BASELINE),
            listed="caption",
        ),
    ]


def _references(release: Release) -> Iterator[Row]:
    for number, row in enumerate(_captions(release, Role.REFERENCE)):
        yield (number, *row)


def _captions(release: Release, role: Role) -> Iterator[Row]:
    rows = ReleasedCaption.objects.filter(image__release=release, role=role).order_by("pk")
    return rows.values_list(*COLUMNS.values()).iterator(CHUNK)
