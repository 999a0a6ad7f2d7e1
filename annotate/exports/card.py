"""The dataset card of an export, `README.md`: YAML for programs, then text for people."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from annotate.exports.content import MANIFEST, Content
from annotate.exports.formats import Format
from annotate.exports.images import IMAGES
from annotate.exports.json_text import dump
from annotate.exports.tables import Table
from annotate.models import Release

# The classes of sizes that dataset cards know, with the number of images below which they apply.
SIZES = {
    1_000: "n<1K",
    10_000: "1K<n<10K",
    100_000: "10K<n<100K",
    1_000_000: "100K<n<1M",
    10_000_000: "1M<n<10M",
}


def card(content: Content, chosen: Format, *, has_images: bool) -> Iterator[str]:
    """The text of `README.md`."""
    sizes = {table.name: sum(1 for _ in table.rows()) for table in content.tables}
    yield _front_matter(content, chosen, sizes["images"], has_images=has_images)
    yield f"\n# {content.release.name}\n\n{content.about}\n"
    yield from _missing(content.missing)
    yield from _collection(content)
    yield from _licences(content)
    yield from _files(chosen, content, has_images=has_images)
    for table in content.tables:
        yield from _table(table, sizes[table.name])


def _front_matter(content: Content, chosen: Format, images: int, *, has_images: bool) -> str:
    """YAML, of which JSON's texts are a part."""
    identifiers = sorted({licence.identifier for licence in content.licences}) or ["unknown"]
    size = next((name for most, name in SIZES.items() if images < most), "10M<n<100M")
    lines = [
        "---",
        f"pretty_name: {dump(content.release.name)}",
        *_listing("language", _languages(content.release)),
        *_listing("license", identifiers),
        *_listing("size_categories", [size]),
        *_listing("annotations_creators", ["crowdsourced"]),
        *_configs(chosen.data_files(content, has_images)),
        "---",
    ]
    return "\n".join(lines) + "\n"


def _languages(release: Release) -> list[str]:
    """The languages without their regions, each once."""
    tags = release.languages or [release.language]
    return list(dict.fromkeys(tag.split("-")[0] for tag in tags))


def _listing(key: str, values: Iterable[str]) -> list[str]:
    return [f"{key}:", *(f"- {dump(value)}" for value in values)]


def _configs(files: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """Names under which the package `datasets` loads the tables, each with its files."""
    if files:
        yield "configs:"
    for number, (name, paths) in enumerate(files):
        yield f"- config_name: {dump(name)}"
        if number == 0:
            yield "  default: true"
        yield "  data_files:"
        yield from (f"  - {dump(path)}" for path in paths)


def _missing(sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield "\n## What this release does not have\n\n"
        yield "An earlier version of the software made this release, which did not keep:\n\n"
        yield from (f"- {sentence}\n" for sentence in sentences)


def _collection(content: Content) -> Iterator[str]:
    yield "\n## How the data were collected\n\n"
    release = content.release
    what = "Campaigns" if release.languages else "Campaign"
    yield f"{what} `{release.source}`, released on {release.created_at:%Y-%m-%d} "
    yield f"with the seed {release.seed}."
    yield " Incomplete tasks are left out.\n" if release.is_partial else "\n"
    facts = dict(content.collection)
    if facts:
        yield "\n| | |\n|---|---|\n"
        yield from (f"| {_cell(name)} | {_cell(value)} |\n" for name, value in facts.items())


def _licences(content: Content) -> Iterator[str]:
    yield "\n## Licences\n\n"
    if content.licences:
        yield "Licences of the images:\n\n"
        yield from (
            f"- {each.url}\n" if each.name == each.url else f"- {each.name}: {each.url}\n"
            for each in content.licences
        )
    else:
        yield "The licences of the images are not known.\n"
    yield "\n`ATTRIBUTION.csv` has the credit of each image. Cells that a spreadsheet would take "
    yield "for a formula begin with an apostrophe there. "
    yield "The licence of the answers is up to those who publish them.\n"


def _files(chosen: Format, content: Content, *, has_images: bool) -> Iterator[str]:
    yield f"\n## Files\n\nFormat: {chosen.title}, {chosen.about}. "
    yield f"`{MANIFEST}` has the size and the SHA-256 of each file. "
    if has_images:
        yield f"`{IMAGES}/` has the image files, unchanged.\n"
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
