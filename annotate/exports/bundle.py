"""All files of an export: those of its format, the dataset card, credits, images, manifest."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from annotate.exports.card import card
from annotate.exports.formats import Format
from annotate.exports.images import ImageFile, attribution, copies
from annotate.exports.pipe import Pipe
from annotate.exports.tables import Content
from corpora.writing.files import MANIFEST, Digest, File, encoded
from corpora.writing.json_text import dump

MODE = 0o100644 << 16


def zipped(files: Iterable[File], *, folder: str, at: datetime) -> Iterator[bytes]:
    """An archive of the files in a folder, in chunks; the same files give the same bytes."""
    pipe = Pipe()
    with ZipFile(pipe, "w") as archive:
        for file in files:
            about = ZipInfo(f"{folder}/{file.name}", at.timetuple()[:6])
            about.compress_type, about.external_attr = ZIP_DEFLATED, MODE
            with archive.open(about, "w", force_zip64=True) as entry:
                for chunk in file.chunks:
                    entry.write(chunk)
                    yield pipe.take()
            yield pipe.take()
    yield pipe.take()


def bundle(content: Content, chosen: Format, images: Iterable[ImageFile] = ()) -> Iterator[File]:
    """The files of an export; the manifest, which has their digests, is the last one."""
    entries: list[dict[str, Any]] = []
    for file in _files(content, chosen, images):
        digest = Digest()
        yield File(file.name, digest.of(file.chunks))
        entries.append({"name": file.name, "bytes": digest.size, "sha256": digest.sha256})
    manifest = about(content, chosen) | {"images": content.has_images, "files": entries}
    yield File(MANIFEST, encoded(_lines(manifest)))


def about(content: Content, chosen: Format) -> dict[str, Any]:
    """What a manifest says of the export besides its files."""
    return {
        "release": content.release.name,
        "campaign": content.release.source,
        "created_at": content.release.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "format": chosen.name,
        "with": list(content.extras),
        "domains": content.domains,
    }


def _files(content: Content, chosen: Format, images: Iterable[ImageFile]) -> Iterable[File]:
    texts = {
        "README.md": card(content, chosen),
        "ATTRIBUTION.csv": attribution(content.images),
    }
    return chain(
        chosen.files(content),
        (File(name, encoded(text)) for name, text in texts.items()),
        copies(images),
    )


def _lines(manifest: dict[str, Any]) -> Iterator[str]:
    """The manifest as JSON, with a line for each key and each file."""
    files = manifest.pop("files")
    yield "{\n"
    for key, value in manifest.items():
        yield f"  {dump(key)}: {dump(value)},\n"
    yield '  "files": [\n    ' + ",\n    ".join(map(dump, files)) + "\n  ]\n}\n"
