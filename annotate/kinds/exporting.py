"""Export a release of any task type in any format, into a folder or a ZIP archive.

An export has the files of the format, the dataset card, credits, images, and a manifest.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.contrib.auth.models import User

from annotate.exports.card import card
from annotate.exports.files import documents
from annotate.exports.formats import Format
from annotate.exports.formats.base import Pipe
from annotate.exports.images import (
    ImageFile,
    attribution,
    copies,
    image_files,
    licences_of,
    released,
)
from annotate.exports.provenance import about_release, collection_of
from annotate.exports.tables import Asked, Content, Extra, Table
from annotate.kinds import KINDS
from annotate.models import HiddenExport, Release
from annotate.queries.releases import domains_of_images
from corpora.errors import DomainError
from corpora.selection.domains import DomainTable
from corpora.writing import MANIFEST, Digest, File, Progress, dump, encoded, write_folder


def extras_of(release: Release) -> list[Extra]:
    """The extras that a release of this task type has."""
    tables = KINDS[release.campaign.kind].tables(release)
    in_tables = {column.extra for table in tables for column in table.columns}
    return [extra for extra in Extra if extra in in_tables]


def content_of(
    release: Release, extras: Collection[Extra] = (), table: DomainTable | None = None
) -> Content:
    """The content of a release, with domains by another table if one is given.

    Raises DomainError if the release cannot have one of the extras, or domains by another table.
    """
    kind = KINDS[release.campaign.kind]
    domains = domains_of_images(release, table) if table else None
    asked = Asked(_known(release, extras), domains)
    images, *others = [table.with_extras(asked.extras) for table in kind.tables(release)]
    if domains is not None:
        images = _with_domains(images, domains, release)
    return Content(
        release=release,
        about=about_release(release, kind.about_release, kind.answers_name),
        tables=[images, *others],
        own_files=partial(kind.own_files, release, asked),
        licences=licences_of(release),
        extras=list(asked.extras),
        domains=table.reference if table else None,
        collection=[*collection_of(release)],
    )


def _known(release: Release, extras: Collection[Extra]) -> list[Extra]:
    """The extras in their order; raises DomainError if the release cannot have one."""
    possible = extras_of(release)
    if unknown := [extra for extra in Extra if extra in extras and extra not in possible]:
        raise DomainError(
            f"{release} has no {' and no '.join(unknown)}, because it is a release of "
            f"{KINDS[release.campaign.kind].answers_name}. It has: {', '.join(possible) or 'none'}."
        )
    return [extra for extra in possible if extra in extras]


def _with_domains(images: Table, domains: Mapping[int, str | None], release: Release) -> Table:
    def values() -> Iterator[str | None]:
        return (domains[image.number] for image in released(release, once=True))

    return images.with_values("domain", values)


def write_export(
    content: Content,
    chosen: Format,
    out: Path,
    *,
    with_images: bool = False,
    progress: Progress = lambda _: None,
) -> list[str]:
    """Write an export into a folder, all files or none, and return their names.

    Replaces an earlier export of the same release in the same format. Raises DomainError, also if
    a package or an image file is missing.
    """
    chosen.check_packages()
    images = image_files(content.release, content.images) if with_images else []
    content = replace(content, has_images=with_images)
    ours = about(content, chosen)

    def is_same(earlier: Mapping[str, Any]) -> bool:
        return all(earlier[key] == ours[key] for key in ("release", "created_at", "format"))

    return write_folder(bundle(content, chosen, images), out, replaces=is_same, progress=progress)


def export_archive(
    content: Content, chosen: Format, images: Iterable[ImageFile] | None = None
) -> Iterator[bytes]:
    """A ZIP archive with an export, and with these image files, in chunks; raises DomainError if a
    package is missing."""
    chosen.check_packages()
    release, content = content.release, replace(content, has_images=images is not None)
    files = bundle(content, chosen, images or ())
    return zipped(files, folder=release.name, at=release.created_at)


def write_with_hidden(*, release: Release, out_dir: Path, actor: User, at: datetime) -> list[Path]:
    """Log that this person exports the captions that the release hides, and write its files with
    them; return the files' paths.

    Raises DomainError if the release hides nothing, or if a file cannot be written.
    """
    if release.hidden is None:
        raise DomainError(f"Release {release} hides no captions. Export it without --hidden.")
    HiddenExport.objects.create(release=release, actor=actor, at=at)
    return KINDS[release.campaign.kind].write(release, out_dir, hidden=True)


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


def bundle(content: Content, chosen: Format, images: Iterable[ImageFile]) -> Iterator[File]:
    """The files of an export; the manifest, which has their digests, is the last one."""
    entries: list[dict[str, Any]] = []
    for file in _files(content, chosen, images):
        digest = Digest()
        yield File(file.name, digest.of(file.chunks))
        entries.append({"name": file.name, "bytes": digest.size, "sha256": digest.sha256})
    manifest = about(content, chosen) | {"images": content.has_images, "files": entries}
    yield File(MANIFEST, encoded(_lines(manifest)))


def about(content: Content, chosen: Format) -> dict[str, Any]:
    """The fields of a manifest besides the files."""
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
        (
            File(name, encoded(chunks(content.release)))
            for name, chunks in documents(content.release).items()
        ),
        copies(images),
    )


def _lines(manifest: dict[str, Any]) -> Iterator[str]:
    """The manifest as JSON, with a line for each key and each file."""
    files = manifest.pop("files")
    yield "{\n"
    for key, value in manifest.items():
        yield f"  {dump(key)}: {dump(value)},\n"
    yield '  "files": [\n    ' + ",\n    ".join(map(dump, files)) + "\n  ]\n}\n"
