"""The files and tables of a caption release; the files are in the format of the published nocaps
captions.

All data come from the release's own rows, in order, so the same release always gives the same
bytes. Files are written in chunks, so a large release needs little memory.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from django.db.models import F, Value
from django.db.models.expressions import Combinable

from annotate.exports.files import WORKER, Files, describe, language_key, without_workers
from annotate.exports.images import image_tables, ordered, released
from annotate.exports.provenance import import_keys, imports_of, license_name
from annotate.exports.tables import Asked, Column, Extra, Row, Table, Type
from annotate.models import Release, ReleasedCaption, Role
from corpora.wording import counted
from corpora.writing import CHUNK, json_array, json_file


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
    ids = licence_ids(record for _, record in records)
    numbers = {config.references for config in release.configs}
    content = f"{counted(max(numbers), 'reference caption')} per image"
    content = f"at most {content}" if len(numbers) > 1 else content
    if release.languages:
        content += f" in each of {counted(len(release.languages), 'language')}"
    reasons = _reasons(release, hidden=hidden)
    yield from json_file(
        {
            "info": describe(release, content),
            "licenses": licences(ids),
            "images": (
                image_entry(number, record, ids)
                | ({"domain": domains[number]} if domains else {})
                | ({"cannot_describe": reasons[number]} if offers_reasons(release) else {})
                for number, record in records
            ),
            "annotations": (
                {"id": number, "image_id": image, "caption": text, **language, **imported}
                for number, (image, text, language, imported) in enumerate(
                    captions_of(release, Role.REFERENCE, "text", hidden=hidden)
                )
            ),
        }
    )


def licence_ids(records: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The number of each licence of the images, by its URL."""
    urls = sorted({record["license_url"] for record in records if record["license_url"]})
    return {url: number for number, url in enumerate(urls, start=1)}


def licences(ids: Mapping[str, int]) -> list[dict[str, Any]]:
    """The licences as files in COCO's form have them."""
    return [{"id": ids[url], "name": license_name(url), "url": url} for url in ids]


def baseline_file(release: Release, *, hidden: bool = False) -> Iterator[str]:
    """`baseline.json`: the human baseline in COCO's results format."""
    yield from json_array(
        {"image_id": image, "caption": text, **language, **imported}
        for image, text, language, imported in captions_of(
            release, Role.BASELINE, "text", hidden=hidden
        )
    )
    yield "\n"


def vizwiz_file(release: Release, *, hidden: bool = False) -> Iterator[str]:
    """`vizwiz.json`: the references and the reasons in the form of the VizWiz-Captions annotations
    (Gurari et al. 2020), in which a reason is a caption that `is_precanned`.

    Nothing `is_rejected`, because discarded responses are not released. Whether an image contains
    text is not known, so there is no `text_detected`.
    """
    records = release.images.values_list("number", "record")
    said = (
        (role, image, text, language)
        for role in (Role.REFERENCE, Role.REASON)
        for image, text, language, _ in captions_of(release, role, "text", hidden=hidden)
    )
    yield from json_file(
        {
            "info": describe(release, "captions and reasons"),
            "images": (
                {"id": number, "file_name": record["file_name"]} for number, record in records
            ),
            "annotations": (
                {
                    "id": number,
                    "image_id": image,
                    "caption": text,
                    "is_precanned": role == Role.REASON,
                    "is_rejected": False,
                    **language,
                }
                for number, (role, image, text, language) in enumerate(said)
            ),
        }
    )


def offers_reasons(release: Release) -> bool:
    """Whether workers could say that an image cannot be described."""
    return any(config.captions.cannot_describe for config in release.configs)


def has_baselines(release: Release) -> bool:
    return any(config.baselines for config in release.configs)


def rates_first(release: Release) -> bool:
    """Whether workers rated given captions before they wrote."""
    return any(config.captions.rate_first for config in release.configs)


def _reasons(release: Release, *, hidden: bool) -> defaultdict[int, Counter[str]]:
    """How often each reason was chosen, by the image's number."""
    reasons = defaultdict[int, Counter[str]](Counter)
    for image, reason, *_ in captions_of(release, Role.REASON, "text", hidden=hidden):
        reasons[image][reason] += 1
    return reasons


def workers_file(release: Release, *, hidden: bool = False, item: str = "image") -> Iterator[str]:
    """`workers.json`: the worker of each caption, with numbers that are valid in this release
    only. `item` is what a caption is about."""
    by_caption = _by_caption(release, item, "worker", "worker_number", hidden=hidden)
    yield from json_file({"release": release.name, **by_caption})


def seconds_file(release: Release, item: str) -> Iterator[str]:
    """`seconds.json`: the seconds that each caption's worker spent on it."""
    by_caption = _by_caption(release, item, "seconds", "seconds")
    yield from json_file({"release": release.name, **by_caption})


def keywords_file(release: Release, item: str) -> Iterator[str]:
    """`keywords.json`: the keywords of each image, and whether each caption's worker saw them."""
    keywords = (
        {f"{item}_id": image.number, "keywords": image.details["keywords"]}
        for image in released(release)
    )
    by_caption = _by_caption(release, item, "primed", "primed")
    yield from json_file({"release": release.name, f"{item}s": keywords, **by_caption})


def remarks_file(release: Release, item: str) -> Iterator[str]:
    """`remarks.json`: what workers wrote to the researcher, with their captions or reasons."""
    rows = ReleasedCaption.objects.filter(image__release=release).exclude(remark="")
    columns = rows.order_by("image__number", "pk").values_list("image__number", "text", "remark")
    remarks = (
        {f"{item}_id": number, "caption": text, "remark": remark}
        for number, text, remark in columns
    )
    yield from json_file({"release": release.name, "remarks": remarks})


def ratings_file(release: Release, *, hidden: bool = False) -> Iterator[str]:
    """`ratings.json`: the given captions that workers rated before they wrote, with the workers'
    numbers in this release."""
    names = [column.name for column in _rating_columns(release)]
    ratings = (dict(zip(names, row, strict=True)) for row in _ratings(release, hidden=hidden))
    yield from json_file({"release": release.name, "ratings": ratings})


def _ratings(release: Release, *, hidden: bool) -> Iterator[Row]:
    captions = ReleasedCaption.with_hidden if hidden else ReleasedCaption.objects
    rows = captions.filter(image__release=release, ratings__isnull=False)
    columns = ("image__number", "worker_number", "ratings", "language")
    rows = rows.order_by("image__number", "pk")
    for image, worker, ratings, language in rows.values_list(*columns).iterator(CHUNK):
        of_campaign = [language] if release.languages else []
        for rated in ratings:
            yield image, worker, rated["text"], rated["rating"], rated["label"], *of_campaign


def _rating_columns(release: Release) -> list[Column]:
    return [*RATING, RATED_IN] if release.languages else RATING


def _by_caption(
    release: Release, item: str, key: str, field: str, *, hidden: bool = False
) -> dict[str, Iterator[dict[str, Any]]]:
    """The members of a file with a field of each reference and each baseline, by its key."""
    references = captions_of(release, Role.REFERENCE, field, hidden=hidden)
    baselines = captions_of(release, Role.BASELINE, field, hidden=hidden)
    return {
        "annotations": (
            {"id": number, f"{item}_id": image, key: value}
            for number, (image, value, *_) in enumerate(references)
        ),
        "baseline": (
            # One baseline of an image in each language.
            {f"{item}_id": image, key: value, **(language if release.languages else {})}
            for image, value, language, _ in baselines
        ),
    }


BASELINE_FILE, VIZWIZ_FILE, RATINGS_FILE = "baseline.json", "vizwiz.json", "ratings.json"
CAPTION_FILES: Files = {
    "captions.json": captions_file,
    BASELINE_FILE: baseline_file,
    "workers.json": workers_file,
    VIZWIZ_FILE: vizwiz_file,
    RATINGS_FILE: ratings_file,
}


def own_files(release: Release, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
    """The names and texts of the files, with what is asked for."""
    yield "captions.json", captions_file(release, hidden=asked.hidden, domains=asked.domains)
    if has_baselines(release):
        yield BASELINE_FILE, baseline_file(release, hidden=asked.hidden)
    if offers_reasons(release):
        yield VIZWIZ_FILE, vizwiz_file(release, hidden=asked.hidden)
    if rates_first(release):
        ratings = ratings_file(release, hidden=asked.hidden)
        is_asked = Extra.WORKERS in asked.extras
        yield RATINGS_FILE, ratings if is_asked else without_workers(RATINGS_FILE, ratings)
    yield from extra_files(release, asked)


def extra_files(
    release: Release, asked: Asked, item: str = "image"
) -> Iterator[tuple[str, Iterable[str]]]:
    """The names and texts of the files about workers, seconds and keywords that are asked for."""
    if Extra.WORKERS in asked.extras:
        yield "workers.json", workers_file(release, hidden=asked.hidden, item=item)
    if Extra.SECONDS in asked.extras:
        yield "seconds.json", seconds_file(release, item)
    if Extra.KEYWORDS in asked.extras:
        yield "keywords.json", keywords_file(release, item)
    if Extra.REMARKS in asked.extras:
        yield "remarks.json", remarks_file(release, item)


def captions_of(
    release: Release, role: Role, *fields: str, hidden: bool = False
) -> Iterator[tuple[Any, ...]]:
    """The image's number, the fields, and the keys for the language and the import of each
    caption."""
    usual, imports = language_key(release), import_keys(release)
    captions = ReleasedCaption.with_hidden if hidden else ReleasedCaption.objects
    rows = captions.filter(image__release=release, role=role).order_by("pk")
    columns = rows.values_list("image__number", *fields, "language", "import_number")
    for *values, tag, number in columns.iterator(CHUNK):
        yield (*values, {"language": tag} if tag else usual, imports[number])


def image_entry(
    number: int, record: Mapping[str, Any], licenses: Mapping[str, int]
) -> dict[str, Any]:
    """An image as files in COCO's form have it; `licenses` as `licence_ids` returns them."""
    details = {key: value for key, value in ordered(record).items() if key != "license_url"}
    return {"id": number, **details, "license": licenses.get(record["license_url"])}


IMAGE = {
    Column("image_id", Type.INTEGER, "id of the image", refers_to="images.image_id"): (
        "image__number"
    ),
}
COLUMNS = {
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
REMARK = Column("remark", Type.TEXT, "what the worker wrote to the researcher", Extra.REMARKS)
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
REASON = Column("reason", Type.TEXT, "why the image cannot be described, as the worker chose it")
RATING = [
    *IMAGE,
    WORKER,
    Column("caption", Type.TEXT, "a given caption as the worker saw it"),
    Column("rating", Type.INTEGER, "from 1, bad, to 4, excellent; empty if the worker cannot tell"),
    Column("label", Type.TEXT, "the same in English words"),
]
# Only in releases of several languages. The given caption may be in another one.
RATED_IN = Column("language", Type.TEXT, "BCP 47 tag of the language of the worker's own caption")
NUMBER = Column("id", Type.INTEGER, "id of the caption, as in captions.json")


def tables(release: Release) -> list[Table]:
    """`images`, `boxes`, and those of the captions."""
    return [*image_tables(release), *caption_tables(release, IMAGE)]


def caption_tables(release: Release, item: Mapping[Column, str]) -> list[Table]:
    """`captions` with the references, `baselines`, and `reasons` if workers could choose one.

    `item` are the columns that say what a caption is about, with their fields.
    """
    columns = {**item, **COLUMNS}
    if any(config.captions.remarks for config in release.configs):
        columns[REMARK] = "remark"
    # As in captions.json, English captions have no such column.
    further = [LANGUAGE] if _languages(release) else []
    further += IMPORTED if imports_of(release) else []
    rows = partial(_caption_rows, release, columns.values())
    tables = [
        Table(
            "captions",
            "One row for each reference caption, image by image in the order of submission.",
            [NUMBER, *columns, *further],
            lambda: ((number, *row) for number, row in enumerate(rows(Role.REFERENCE))),
            listed="caption",
        ),
        Table(
            "baselines",
            "The human baseline: one further caption of each image, to be scored like a model's.",
            [*columns, *further],
            partial(rows, Role.BASELINE),
            listed="caption",
        ),
    ]
    if offers_reasons(release):
        tables.append(
            Table(
                "reasons",
                "One row for each worker who said that the image cannot be described.",
                [REASON if column.name == "caption" else column for column in [*columns, *further]],
                partial(rows, Role.REASON),
            )
        )
    if rates_first(release):
        tables.append(
            Table(
                "ratings",
                "One row for each worker and given caption that the worker rated before writing.",
                _rating_columns(release),
                partial(_ratings, release, hidden=False),
            )
        )
    return tables


def _caption_rows(release: Release, fields: Iterable[str], role: Role) -> Iterator[Row]:
    rows = ReleasedCaption.objects.filter(image__release=release, role=role).order_by("pk")
    columns = rows.values_list("import_number", *fields, *_languages(release))
    imports = import_keys(release)
    names = [column.name for column in IMPORTED] if imports_of(release) else []
    for number, *cells in columns.iterator(CHUNK):
        yield (*cells, *(imports[number].get(name, "") for name in names))


def _languages(release: Release) -> list[Combinable]:
    """The value of the column with the language; empty if there is none."""
    if release.languages:
        return [F("language")]
    return [Value(tag) for tag in language_key(release).values()]
