"""Export a release of any task type in any format, into a folder or a ZIP archive."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from annotate.exports.bundle import about, bundle, zipped
from annotate.exports.formats import Format
from annotate.exports.images import ImageFile, image_files, licences_of, released
from annotate.exports.provenance import about_release, collection_of
from annotate.exports.tables import Asked, Content, Extra, Table
from annotate.kinds import KINDS
from annotate.models import Release
from annotate.queries.releases import domains_of_release
from corpora.errors import DomainError
from corpora.selection.domains import DomainTable
from corpora.writing.files import Progress, write_folder


def extras_of(release: Release) -> list[Extra]:
    """The extras that a release of this task type has."""
    tables = KINDS[release.campaign.kind].tables(release)
    found = {column.extra for table in tables for column in table.columns}
    return [extra for extra in Extra if extra in found]


def content_of(
    release: Release, extras: Collection[Extra] = (), table: DomainTable | None = None
) -> Content:
    """The content of a release, with domains by another table if one is given.

    Raises DomainError if the release cannot have one of the extras, or domains by another table.
    """
    kind = KINDS[release.campaign.kind]
    domains = domains_of_release(release, table) if table else None
    asked = Asked(_known(release, extras), domains)
    images, *others = [each.with_extras(asked.extras) for each in kind.tables(release)]
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
        collection=collection_of(release),
    )


def _known(release: Release, extras: Collection[Extra]) -> list[Extra]:
    """The extras in their order; raises DomainError if the release cannot have one."""
    known = extras_of(release)
    if unknown := [extra for extra in Extra if extra in extras and extra not in known]:
        raise DomainError(
            f"{release} has no {' and no '.join(unknown)}, because it is a release of "
            f"{KINDS[release.campaign.kind].answers_name}. It has: {', '.join(known) or 'none'}."
        )
    return [extra for extra in known if extra in extras]


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
