"""The dataset card of an export, `README.md`: YAML for programs, then text for people."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotate.exports.files import METHODS, PAGE, documents
from annotate.exports.formats import Format
from annotate.exports.formats.base import DataFiles
from annotate.exports.images import IMAGES
from annotate.exports.provenance import UNKNOWN_LICENCES, has_work_here, imports_of
from annotate.exports.tables import Content, Table
from annotate.models import Release
from corpora.writing import MANIFEST, dump

CREATORS = ["crowdsourced"]
# The classes of sizes that dataset cards know, with the number of images below which they apply.
SIZES = {
    1_000: "n<1K",
    10_000: "1K<n<10K",
    100_000: "10K<n<100K",
    1_000_000: "100K<n<1M",
    10_000_000: "1M<n<10M",
}


def card(content: Content, chosen: Format) -> Iterator[str]:
    """The text of `README.md`."""
    sizes = {table.name: sum(1 for _ in table.rows()) for table in content.tables}
    yield _front_matter(content, chosen, sizes)
    yield f"\n# {content.release.name}\n\n{content.about}\n"
    yield from _collection(content)
    yield from _licences(content)
    yield from _files(chosen, content)
    for table in content.tables:
        yield from _table(table, sizes[table.name])


def _front_matter(content: Content, chosen: Format, sizes: Mapping[str, int]) -> str:
    """YAML, of which JSON's texts are a part."""
    identifiers = sorted({licence.identifier for licence in content.licences}) or ["unknown"]
    size = next((name for most, name in SIZES.items() if sizes["images"] < most), "10M<n<100M")
    lines = [
        "---",
        f"pretty_name: {dump(content.release.name)}",
        *_listing("language", _languages(content.release)),
        *_listing("license", identifiers),
        *_listing("size_categories", [size]),
        # Nobody here knows who wrote captions that were collected elsewhere.
        *([] if imports_of(content.release) else _listing("annotations_creators", CREATORS)),
        # The package refuses a table without rows.
        *_configs([table for table in chosen.data_files(content) if sizes[table.name]]),
        "---",
    ]
    return "\n".join(lines) + "\n"


def _languages(release: Release) -> list[str]:
    """The languages without their regions, each once."""
    tags = release.all_languages
    return list(dict.fromkeys(tag.split("-")[0] for tag in tags))


def _listing(key: str, values: Iterable[str]) -> list[str]:
    return [f"{key}:", *(f"- {dump(value)}" for value in values)]


def _configs(tables: Sequence[DataFiles]) -> Iterator[str]:
    """Names under which the package `datasets` loads the tables, each with its files."""
    if tables:
        yield "configs:"
    for number, table in enumerate(tables):
        yield f"- config_name: {dump(table.name)}"
        if number == 0:
            yield "  default: true"
        yield "  data_files:"
        yield from (f"  - {dump(path)}" for path in table.paths)
        yield from (f"  {name}: {dump(value)}" for name, value in table.options.items())


def _collection(content: Content) -> Iterator[str]:
    yield "\n## How the data were collected\n\n"
    release = content.release
    heading = "Campaigns" if release.languages else "Campaign"
    yield f"{heading} `{release.source}`, released on {release.created_at:%Y-%m-%d} "
    yield f"with the seed {release.seed}."
    yield " Incomplete tasks are left out.\n" if release.is_partial else "\n"
    yield from _imports(release)
    yield "\n| | |\n|---|---|\n"
    yield from (f"| {_cell(name)} | {_cell(value)} |\n" for name, value in content.collection)


def _imports(release: Release) -> Iterator[str]:
    """The files that responses were imported from, and what is not known of these."""
    imports = imports_of(release)
    if not imports:
        return
    yield "\nCollected elsewhere and imported:\n\n"
    for file in imports:
        yield f"- {file['responses']:,} from the file {_cell(file['file'])} on {file['at'][:10]} "
        yield f"(SHA-256 {file['sha256']})\n"
    yield "\nIt is not known who wrote them, by which rules, for which pay, and, unless the file "
    yield "says so, whether keywords were shown."
    if has_work_here(release):
        yield " What the table says of workers, rules and pay holds for the others only."
    yield "\n"


def _licences(content: Content) -> Iterator[str]:
    yield "\n## Licences\n\n"
    if content.licences:
        yield "Licences of the images:\n\n"
        yield from (
            f"- {licence.url}\n"
            if licence.name == licence.url
            else f"- {licence.name}: {licence.url}\n"
            for licence in content.licences
        )
    else:
        yield f"{UNKNOWN_LICENCES}\n"
    yield "\n`ATTRIBUTION.csv` has the credit of each image. Cells that a spreadsheet would take "
    yield "for a formula begin with an apostrophe there. "
    yield "The licence of the answers is up to those who publish them.\n"


def _files(chosen: Format, content: Content) -> Iterator[str]:
    yield f"\n## Files\n\nFormat: {chosen.title}, {chosen.about}. "
    yield f"`{MANIFEST}` has the size and the SHA-256 of each file. "
    names = list(documents(content.release))
    if METHODS in names:
        yield f"`{METHODS}` says how the answers were collected. "
    if any(name.startswith(PAGE) for name in names):
        yield f"The files `{PAGE}…` are the pages that workers read. "
    if content.has_images:
        yield f"`{IMAGES}/` has the image files without metadata.\n"
    else:
        yield "The image files are not included.\n"
    if content.domains:
        yield "\nThe domains of the images follow another table than the release's own: "
        yield f"{content.domains['name']}, SHA-256 {content.domains['sha256']}.\n"
    if not content.extras:
        yield "\nWorkers' numbers, seconds and keywords are not included.\n"
    else:
        yield f"\nIncluded on request: {', '.join(content.extras)}. "
        yield "Workers' numbers are drawn anew for each release.\n"


def _table(table: Table, size: int) -> Iterator[str]:
    yield f"\n### {table.name}\n\n{table.about} Rows: {size:,}.\n\n"
    yield "| column | type | meaning |\n|---|---|---|\n"
    for column in table.columns:
        refers = f"; refers to `{column.refers_to}`" if column.refers_to else ""
        yield f"| `{column.name}` | {column.type} | {_cell(column.about)}{refers} |\n"


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")
