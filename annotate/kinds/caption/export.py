"""The files and tables of a caption release; the files are in the format of the published nocaps
captions.

All data come from the release's own rows, in order, so the same release always gives the same
bytes. Files are written in chunks, so a large release needs little memory.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from django.db.models import F, Value
from django.db.models.expressions import Combinable

from annotate.exports.files import Files, describe
from annotate.exports.images import image_tables, released
from annotate.exports.provenance import import_keys, imports_of, license_name
from annotate.exports.tables import Asked, Column, Extra, Row, Table, Type
from annotate.models import Release, ReleasedCaption, Role
from corpora.language.languages import is_english
from corpora.writing.json_text import CHUNK, dump, json_array


def captions_file(
    release: Release,
    *,
    hidden: bool = False,
    domains: Mapping[int, str | None] | None = None,
) -> Iterator[str]:
    """`captions.json`: info, licenses, images, and the references as annotations.

    With `hidden`, this and the other files also have the captions that the release hides.
    `domains` are the images' domains by number, in place of the release's own.
    """
    records = release.images.values_list("number", "record")
    licenses = sorted({record["license_url"] for _, record in records if record["license_url"]})
    ids = {url: number for number, url in enumerate(licenses, start=1)}
    what = f"{release.campaign.config.references} reference captions per image"
    if release.languages:
        what += f" in each of {len(release.languages)} languages"
    yield '{"info": ' + dump(describe(release, what))
    yield ', "licenses": ' + dump(
        [{"id": ids[url], "name": license_name(url), "url": url} for url in licenses]
    )
    yield ', "images": '
    yield from json_array(
        _image(number, record, ids) | ({"domain": domains[number]} if domains else {})
        for number, record in records
    )
    yield ', "annotations": '
    yield from json_array(
        {"id": number, "image_id": image, "caption": text, **language, **imported}
        for number, (image, text, language, imported) in enumerate(
            _captions(release, Role.REFERENCE, "text", hidden=hidden)
        )
    )
    yield "}\n"


def baseline_file(release: Release, *, hidden: bool = False) -> Iterator[str]:
    """`baseline.json`: the human baseline in COCO's results format."""
    yield from json_array(
        {"image_id": image, "caption": text, **language, **imported}
        for image, text, language, imported in _captions(
            release, Role.BASELINE, "text", hidden=hidden
        )
    )
    yield "\n"


def language_key(release: Release) -> dict[str, str]:
    """The `language` of each caption of a release in one language, as Crossmodal-3600 has it
    (Thapliyal et al. 2022). The files of English captions have the keys of the published nocaps
    files alone."""
    return {} if is_english(release.language) else {"language": release.language}


def workers_file(release: Release, *, hidden: bool = False) -> Iterator[str]:
    """`workers.json`: the worker of each caption, with numbers that are valid in this release
    only."""
    yield '{"release": ' + dump(release.name) + ", "
    yield from _by_caption(release, hidden=hidden, worker="worker_number")


def seconds_file(release: Release) -> Iterator[str]:
    """`seconds.json`: the seconds that each caption's worker spent on it."""
    yield '{"release": ' + dump(release.name) + ", "
    yield from _by_caption(release, seconds="seconds")


def keywords_file(release: Release) -> Iterator[str]:
    """`keywords.json`: the keywords of each image, and whether each caption's worker saw them."""
    yield '{"release": ' + dump(release.name) + ', "images": '
    yield from json_array(
        {"image_id": image.number, "keywords": image.details["keywords"]}
        for image in released(release)
    )
    yield ", "
    yield from _by_caption(release, primed="primed")


def _by_caption(release: Release, *, hidden: bool = False, **fields: str) -> Iterator[str]:
    """The rest of an object: a field of each reference and each baseline, by its key."""
    [(key, field)] = fields.items()
    yield '"annotations": '
    yield from json_array(
        {"id": number, "image_id": image, key: value}
        for number, (image, value, *_) in enumerate(
            _captions(release, Role.REFERENCE, field, hidden=hidden)
        )
    )
    yield ', "baseline": '
    yield from json_array(
        # One baseline of an image in each language.
        {"image_id": image, key: value, **(language if release.languages else {})}
        for image, value, language, _ in _captions(release, Role.BASELINE, field, hidden=hidden)
    )
    yield "}\n"


BASELINE_FILE = "baseline.json"
CAPTION_FILES: Files = {
    "captions.json": captions_file,
    BASELINE_FILE: baseline_file,
    "workers.json": workers_file,
}


def own_files(release: Release, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
    """The names and texts of the files, with what is asked for."""
    yield "captions.json", captions_file(release, hidden=asked.hidden, domains=asked.domains)
    if release.campaign.config.baselines:
        yield BASELINE_FILE, baseline_file(release, hidden=asked.hidden)
    if Extra.WORKERS in asked.extras:
        yield "workers.json", workers_file(release, hidden=asked.hidden)
    if Extra.SECONDS in asked.extras:
        yield "seconds.json", seconds_file(release)
    if Extra.KEYWORDS in asked.extras:
        yield "keywords.json", keywords_file(release)


def _captions(
    release: Release, role: Role, field: str, *, hidden: bool = False
) -> Iterator[tuple[int, Any, dict[str, str], dict[str, str]]]:
    """The image's number, the field, and the keys for the language and the import of each
    caption."""
    usual, imports = language_key(release), import_keys(release)
    captions = ReleasedCaption.with_hidden if hidden else ReleasedCaption.objects
    rows = captions.filter(image__release=release, role=role).order_by("pk")
    columns = rows.values_list("image__number", field, "language", "import_number")
    for image, value, tag, number in columns.iterator(CHUNK):
        yield image, value, {"language": tag} if tag else usual, imports[number]


def _image(number: int, record: dict[str, Any], licenses: dict[str, int]) -> dict[str, Any]:
    rest = {key: value for key, value in record.items() if key != "license_url"}
    return {"id": number, **rest, "license": licenses.get(record["license_url"])}


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
# Only in releases with imported captions.
IMPORTED = [
    Column(
        "imported_from",
        Type.TEXT,
        "name of the file that the caption was imported from; empty if it was collected here",
    ),
    Column("imported_at", Type.TEXT, "when it was imported; empty if it was collected here"),
]
LANGUAGE = Column("language", Type.TEXT, "BCP 47 tag of the caption's language")
NUMBER = Column("id", Type.INTEGER, "id of the caption, as in captions.json")


def tables(release: Release) -> list[Table]:
    """`images`, `boxes`, `captions` with the references, and `baselines`."""
    # As in captions.json, English captions have no such column.
    further = [LANGUAGE] if _languages(release) else []
    further += IMPORTED if imports_of(release) else []
    return [
        *image_tables(release),
        Table(
            "captions",
            "One row for each reference caption, image by image in the order of submission.",
            [NUMBER, *COLUMNS, *further],
            partial(_references, release),
            listed="caption",
        ),
        Table(
            "baselines",
            "The human baseline: one further caption of each image, to be scored like a model's.",
            [*COLUMNS, *further],
            partial(_caption_rows, release, Role.BASELINE),
            listed="caption",
        ),
    ]


def _references(release: Release) -> Iterator[Row]:
    for number, row in enumerate(_caption_rows(release, Role.REFERENCE)):
        yield (number, *row)


def _caption_rows(release: Release, role: Role) -> Iterator[Row]:
    rows = ReleasedCaption.objects.filter(image__release=release, role=role).order_by("pk")
    columns = rows.values_list("import_number", *COLUMNS.values(), *_languages(release))
    imports = import_keys(release)
    names = [column.name for column in IMPORTED] if imports_of(release) else []
    for number, *values in columns.iterator(CHUNK):
        yield (*values, *(imports[number].get(name, "") for name in names))


def _languages(release: Release) -> list[Combinable]:
    """The value of the column with the language; empty if there is none."""
    if release.languages:
        return [F("language")]
    return [] if is_english(release.language) else [Value(release.language)]
