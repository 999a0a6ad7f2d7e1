"""The files of a caption release, in the format of the published nocaps captions.

All data come from the release's own rows, in order, so the same release always gives the same
bytes. Files are written in chunks, so a large release needs little memory.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from annotate.exports.files import Files, describe, write_files
from annotate.exports.images import released
from annotate.exports.json_text import CHUNK, dump, json_array
from annotate.exports.licences import license_name
from annotate.exports.tables import Asked, Extra
from annotate.language.languages import is_english
from annotate.models import Release, ReleasedCaption, Role
from annotate.services.hidden_exports import log_hidden_export


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
        {"id": number, "image_id": image, "caption": text, **language}
        for number, (image, text, language) in enumerate(
            _captions(release, Role.REFERENCE, "text", hidden=hidden)
        )
    )
    yield "}\n"


def baseline_file(release: Release, *, hidden: bool = False) -> Iterator[str]:
    """`baseline.json`: the human baseline in COCO's results format."""
    yield from json_array(
        {"image_id": image, "caption": text, **language}
        for image, text, language in _captions(release, Role.BASELINE, "text", hidden=hidden)
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
        {"image_id": image.number, "keywords": image.details.get("keywords")}
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
        for number, (image, value, _) in enumerate(
            _captions(release, Role.REFERENCE, field, hidden=hidden)
        )
    )
    yield ', "baseline": '
    yield from json_array(
        # One baseline of an image in each language.
        {"image_id": image, key: value, **(language if release.languages else {})}
        for image, value, language in _captions(release, Role.BASELINE, field, hidden=hidden)
    )
    yield "}\n"


CAPTION_FILES: Files = {
    "captions.json": captions_file,
    "baseline.json": baseline_file,
    "workers.json": workers_file,
}


# Files that a published export has only if they are asked for.
EXTRA_FILES = {
    Extra.WORKERS: ("workers.json", workers_file),
    Extra.SECONDS: ("seconds.json", seconds_file),
    Extra.KEYWORDS: ("keywords.json", keywords_file),
}


def own_files(release: Release, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
    """The names and texts of the files, with what is asked for."""
    yield "captions.json", captions_file(release, domains=asked.domains)
    yield "baseline.json", baseline_file(release)
    for extra, (name, chunks) in EXTRA_FILES.items():
        if extra in asked.extras:
            yield name, chunks(release)


FILES_WITH_HIDDEN: Files = {
    "captions.json": partial(captions_file, hidden=True),
    "baseline.json": partial(baseline_file, hidden=True),
    "workers.json": partial(workers_file, hidden=True),
}


def write_captions(release: Release, out_dir: Path) -> list[Path]:
    """Write the files of a caption release into a folder and return their paths.

    Raises DomainError if the release is of another task type.
    """
    return write_files(release, CAPTION_FILES, out_dir, kind="caption")


def write_captions_with_hidden(
    release: Release, out_dir: Path, *, actor: User, at: datetime
) -> list[Path]:
    """Write the files with the captions that the release hides, and log who did so.

    Raises DomainError like write_captions, and if the release hides nothing.
    """
    log_hidden_export(release=release, actor=actor, at=at)
    return write_files(release, FILES_WITH_HIDDEN, out_dir, kind="caption")


def _captions(
    release: Release, role: Role, field: str, *, hidden: bool = False
) -> Iterator[tuple[int, Any, dict[str, str]]]:
    """The image's number, the field and the key for the language of each caption."""
    usual = language_key(release)
    captions = ReleasedCaption.with_hidden if hidden else ReleasedCaption.objects
    rows = captions.filter(image__release=release, role=role).order_by("pk")
    for image, value, tag in rows.values_list("image__number", field, "language").iterator(CHUNK):
        yield image, value, {"language": tag} if tag else usual


def _image(number: int, record: dict[str, Any], licenses: dict[str, int]) -> dict[str, Any]:
    rest = {key: value for key, value in record.items() if key != "license_url"}
    return {"id": number, **rest, "license": licenses.get(record["license_url"])}
