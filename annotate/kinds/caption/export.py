"""The files of a caption release, in the format of the published nocaps captions.

All data come from the release's own rows, in order, so the same release always gives the same
bytes. Files are written in chunks, so a large release needs little memory.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotate.exports.files import Files, describe, write_files
from annotate.exports.json_text import CHUNK, dump, json_array
from annotate.models import Release, ReleasedCaption, Role


def captions_file(release: Release) -> Iterator[str]:
    """`captions.json`: info, licenses, images, and the references as annotations."""
    records = release.images.values_list("number", "record")
    licenses = sorted({record["license_url"] for _, record in records if record["license_url"]})
    ids = {url: number for number, url in enumerate(licenses, start=1)}
    references = release.campaign.config.references
    yield '{"info": ' + dump(describe(release, f"{references} reference captions per image"))
    yield ', "licenses": ' + dump(
        [{"id": ids[url], "name": _license_name(url), "url": url} for url in licenses]
    )
    yield ', "images": '
    yield from json_array(_image(number, record, ids) for number, record in records)
    yield ', "annotations": '
    yield from json_array(
        {"id": number, "image_id": image, "caption": text}
        for number, (image, text) in enumerate(_captions(release, Role.REFERENCE, "text"))
    )
    yield "}\n"


def baseline_file(release: Release) -> Iterator[str]:
    """`baseline.json`: the human baseline in COCO's results format."""
    yield from json_array(
        {"image_id": image, "caption": text}
        for image, text in _captions(release, Role.BASELINE, "text")
    )
    yield "\n"


def workers_file(release: Release) -> Iterator[str]:
    """`workers.json`: the worker of each caption, with numbers that are valid in this release
    only."""
    yield '{"release": ' + dump(release.name) + ', "annotations": '
    yield from json_array(
        {"id": number, "image_id": image, "worker": worker}
        for number, (image, worker) in enumerate(
            _captions(release, Role.REFERENCE, "worker_number")
        )
    )
    yield ', "baseline": '
    yield from json_array(
        {"image_id": image, "worker": worker}
        for image, worker in _captions(release, Role.BASELINE, "worker_number")
    )
    yield "}\n"


CAPTION_FILES: Files = {
    "captions.json": captions_file,
    "baseline.json": baseline_file,
    "workers.json": workers_file,
}


def write_captions(release: Release, out_dir: Path) -> list[Path]:
    """Write the files of a caption release into a folder and return their paths.

    Raises DomainError if the release is of another task type.
    """
    return write_files(release, CAPTION_FILES, out_dir, kind="caption")


def _captions(release: Release, role: Role, field: str) -> Iterator[tuple[int, Any]]:
    rows = ReleasedCaption.objects.filter(image__release=release, role=role).order_by("pk")
    return rows.values_list("image__number", field).iterator(CHUNK)


def _image(number: int, record: dict[str, Any], licenses: dict[str, int]) -> dict[str, Any]:
    rest = {key: value for key, value in record.items() if key != "license_url"}
    return {"id": number, **rest, "license": licenses.get(record["license_url"])}


def _license_name(url: str) -> str:
    """`CC BY 2.0` for a Creative Commons URL, as in Open Images, else the URL."""
    if "creativecommons.org/licenses/" not in url:
        return url
    parts = url.split("creativecommons.org/licenses/")[1].strip("/").split("/")
    return " ".join(["CC", *(part.upper() for part in parts[:2])])
