"""All files of an export: those of its format, the dataset card, credits, images, manifest."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from annotate.exports.card import card
from annotate.exports.content import MANIFEST, Content, Digest, File, encoded
from annotate.exports.formats import Format
from annotate.exports.images import ImageFile, attribution, copies
from annotate.exports.json_text import dump


def bundle(content: Content, chosen: Format, images: Sequence[ImageFile] = ()) -> Iterator[File]:
    """The files of an export; the manifest, which has their digests, is the last one."""
    entries: list[dict[str, Any]] = []
    for file in _files(content, chosen, images):
        digest = Digest()
        yield File(file.name, digest.of(file.chunks))
        entries.append({"name": file.name, "bytes": digest.size, "sha256": digest.sha256})
    manifest = about(content, chosen) | {"images": bool(images), "files": entries}
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
        "missing": list(content.missing),
    }


def _files(content: Content, chosen: Format, images: Sequence[ImageFile]) -> Iterable[File]:
    texts = {
        "README.md": card(content, chosen, has_images=bool(images)),
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
