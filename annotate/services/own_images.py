"""Import one's own photographs as a split, with or without a table of facts: those of a folder, or
those at addresses, each of which is fetched once."""

import hashlib
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F

from accounts.models import Team
from annotate.images import files as image_files
from annotate.images.files import BrokenImage
from annotate.models import Box, Image, ImageSource, ObjectClass
from annotate.services.bulk import take_turns
from annotate.services.class_names import take_names
from annotate.services.images import BrokenFile, files_below
from annotate.services.imports import check_owner, check_split
from annotate.services.published import published_kept
from background.outgoing.buckets import BucketFile, bucket_of, files_in, read_file
from background.outgoing.exchange import RequestFailed, fetch
from corpora.datasets.sidecar import Facts, Sidecar, StatedBox, comparable, read_sidecar
from corpora.errors import DomainError
from corpora.reading.files import decoded
from corpora.wording import counted
from corpora.writing import write_atomically

BATCH = 50
LONGEST_NAME = 500
KEY_LENGTH = 20
# Files that systems add to folders and archives.
SYSTEM_FILES = {"thumbs.db", "desktop.ini"}
SYSTEM_FOLDER = "__MACOSX"
NAME_TAKEN = (
    "has the name of another image of this split; rename it, or import it into another split"
)


class OwnFile(NamedTuple):
    """A file to import, the name that its image gets, and where it was fetched from: if another
    image has the name, the host of this address comes before it."""

    path: Path
    name: str
    url: str = ""


class KnownFile(NamedTuple):
    """A file that was fetched and imported before."""

    name: str


class Duplicate(NamedTuple):
    """A file with the content of another file or image of the split."""

    name: str
    same_as: str


Found = OwnFile | KnownFile | BrokenFile


@dataclass
class OwnCounts:
    """Result of importing a folder: numbers of images and boxes, and files that were left out."""

    new: int = 0
    unchanged: int = 0
    duplicates: list[Duplicate] = field(default_factory=list)
    broken: list[BrokenFile] = field(default_factory=list)
    # Of the table of facts.
    described: int = 0
    boxes: int = 0
    # File names in the table that no image of the split has.
    unmatched: list[str] = field(default_factory=list)
    ignored_columns: list[str] = field(default_factory=list)


def import_own_files(
    *,
    files: Iterable[Found],
    split: str,
    table: Path | None = None,
    table_name: str | None = None,
    team: Team | None = None,
    change_published: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> OwnCounts:
    """Import image files into a split.

    Content that the split has already is not imported again. Files that cannot be used are listed
    in the result. Each batch of files is saved on its own: if a run is interrupted, the next run
    imports the rest. `progress` is called with 1 after each file. `table_name` is the table's name
    in messages. The images belong to the team; without one, every team sees them. Raises
    DomainError and, for a malformed table, MalformedFile before anything is imported; and
    IsPublished after the files were imported, if the table would change what a published campaign
    shows and `change_published` does not allow it.
    """
    check_own_split(split, team)
    facts = read_sidecar(table, name=table_name) if table else Sidecar({}, [])
    counts = OwnCounts(ignored_columns=facts.ignored)
    importer = _Importer(split, counts, team)
    for file in files:
        if isinstance(file, OwnFile):
            try:
                importer.add(file)
            except BrokenImage as error:
                counts.broken.append(BrokenFile(printable_name(file.name), str(error)))
        elif isinstance(file, KnownFile):
            counts.unchanged += 1
        else:
            counts.broken.append(file)
        progress(1)
    importer.save()
    if facts.facts:
        _describe(split, team, facts.facts, counts, change_published)
    return counts


def check_own_split(split: str, team: Team | None) -> None:
    """Raise DomainError unless the team can import own files into a split of this name."""
    check_split(split)
    check_owner(split, team)
    images = Image.objects.filter(split=split)
    if others := images.exclude(source=ImageSource.OWN).first():
        raise DomainError(
            f"The split {split!r} has images of {others.get_source_display()}. Choose another name "
            "for your own files."
        )


def own_files_below(
    folder: Path, table: Path | None = None, *, within: Path | None = None
) -> list[OwnFile]:
    """The files to import: all of a folder, except hidden ones and those of the system.

    Each is named by its path in the folder. With `within`, links that lead out of that folder are
    left out. Raises DomainError.
    """
    left_out = table.resolve() if table else None
    files = [OwnFile(path, path.relative_to(folder).as_posix()) for path in files_below(folder)]
    return [
        file
        for file in files
        if not is_system_file(file.name)
        and (resolved := file.path.resolve()) != left_out
        and (within is None or resolved.is_relative_to(within))
    ]


def is_system_file(name: str) -> bool:
    """Whether a system added the file to the folder or archive, or hides it."""
    parts = name.split("/")
    hidden = any(part.startswith(".") for part in parts)
    return hidden or SYSTEM_FOLDER in parts or parts[-1].lower() in SYSTEM_FILES


def printable_name(name: str) -> str:
    """The name with question marks in place of bytes that are not text."""
    return name.encode(errors="replace").decode()


class _Importer:
    """Imports files one by one, and saves their images in batches."""

    def __init__(self, split: str, counts: OwnCounts, team: Team | None) -> None:
        self._team = team
        self._split = split
        self._counts = counts
        own = Image.objects.filter(split=split, source=ImageSource.OWN)
        self._names = dict(own.values_list("sha256", "file_name"))
        self._taken = {comparable(name) for name in self._names.values()}
        self._waiting: list[Image] = []

    def add(self, file: OwnFile) -> None:
        """Import a file; raises BrokenImage."""
        _check_name(file.name)
        content = _content_of(file.path)
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 in self._names:
            self._count_known(file.name, self._names[sha256])
            return
        if comparable(file.name) in self._taken and file.url:
            file = file._replace(name=unquote(file.url.partition("://")[2]))
            _check_name(file.name)
        if comparable(file.name) in self._taken:
            raise BrokenImage(NAME_TAKEN)
        self._waiting.append(self._stored(file, content, sha256))
        self._names[sha256] = file.name
        self._taken.add(comparable(file.name))
        if len(self._waiting) == BATCH:
            self.save()

    def save(self) -> None:
        """Save the images that wait for it."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._save(waiting)

    def _stored(self, file: OwnFile, content: bytes, sha256: str) -> Image:
        """The unsaved image of a file whose content is now under MEDIA_ROOT; raises BrokenImage.

        The path follows from the content, so two imports at once write the same bytes to it.
        """
        picture = image_files.read_original(file.path, content)
        image = Image(
            team=self._team,
            source=ImageSource.OWN,
            key=_key(self._split, sha256),
            split=self._split,
            rotation=0,
            width=picture.width,
            height=picture.height,
            file_name=file.name,
            sha256=sha256,
            url=file.url,
        )
        image.file = image_files.file_name(image, picture.suffix)
        write_atomically(image_files.file_path(image), picture.content)
        return image

    @transaction.atomic
    def _save(self, waiting: list[Image]) -> None:
        # Another import may have added the same files since this one began.
        take_turns()
        check_own_split(self._split, self._team)
        own = Image.objects.filter(split=self._split, source=ImageSource.OWN)
        names = dict(
            own.filter(sha256__in=[image.sha256 for image in waiting]).values_list(
                "sha256", "file_name"
            )
        )
        spelled = {way for image in waiting for way in _spellings(image.file_name)}
        stored = own.filter(file_name__in=spelled).values_list("file_name", flat=True)
        taken = {comparable(name) for name in stored}
        new = []
        for image in waiting:
            if image.sha256 in names:
                self._count_known(image.file_name, names[image.sha256])
            elif comparable(image.file_name) in taken:
                self._counts.broken.append(BrokenFile(image.file_name, NAME_TAKEN))
            else:
                new.append(image)
        Image.objects.bulk_create(new)
        self._counts.new += len(new)

    def _count_known(self, name: str, existing: str) -> None:
        if name == existing:
            self._counts.unchanged += 1
        else:
            self._counts.duplicates.append(Duplicate(name, existing))


def _spellings(name: str) -> set[str]:
    """The ways in which systems write the same name."""
    return {name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))}


def _check_name(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise BrokenImage("has a name that is not UTF-8 text; rename it") from error
    if "\0" in name:
        raise BrokenImage("has a name with a NUL character; rename it")
    if len(name) > LONGEST_NAME:
        raise BrokenImage(f"has a name of more than {LONGEST_NAME} characters; rename it")


def _content_of(path: Path) -> bytes:
    """The content of a file of at most IMAGE_MAX_MB; raises BrokenImage."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise BrokenImage(f"cannot be read ({error.strerror})") from error
    if size > settings.IMAGE_MAX_MB * 1_000_000:
        raise BrokenImage(f"is larger than {settings.IMAGE_MAX_MB} MB")
    if not size:
        raise BrokenImage("is empty")
    return image_files.read_content(path)


def _key(split: str, sha256: str) -> str:
    """The image's id. In another split, the same content is another image with another id.

    Split names contain no slash.
    """
    return hashlib.sha256(f"{split}/{sha256}".encode()).hexdigest()[:KEY_LENGTH]


# The table of facts


@transaction.atomic
def _describe(
    split: str,
    team: Team | None,
    facts: Mapping[str, Facts],
    counts: OwnCounts,
    change_published: bool,
) -> None:
    """Store the facts of a table with the split's images. Repeating it changes nothing."""
    take_turns()
    check_owner(split, team)
    with published_kept(Image.objects.filter(split=split), change_published=change_published):
        _store_facts(split, team, facts, counts)


def _store_facts(
    split: str, team: Team | None, facts: Mapping[str, Facts], counts: OwnCounts
) -> None:
    images = {
        comparable(image.file_name): image
        for image in Image.objects.filter(split=split, source=ImageSource.OWN)
    }
    counts.unmatched = [name for name in facts if name not in images]
    described = {name: of_file for name, of_file in facts.items() if name in images}
    named = {box.name for of_file in described.values() for box in of_file.boxes}
    classes = _classes_named(named, split, team)
    boxes: list[Box] = []
    for name, of_file in described.items():
        image = images[name]
        for column, value in of_file.credits.items():
            setattr(image, column, value)
        for box in of_file.boxes:
            try:
                boxes.append(_box(image, classes[box.name.casefold()], box))
            except BrokenImage as error:
                counts.broken.append(BrokenFile(image.file_name, str(error)))
    changed = [images[name] for name in described]
    columns = ["license_url", "author", "author_url", "title", "context", "landing_url"]
    Image.objects.bulk_update(changed, columns, batch_size=500)
    before = Box.objects.filter(image__split=split).count()
    Box.objects.bulk_create(boxes, batch_size=500, ignore_conflicts=True)
    counts.boxes = Box.objects.filter(image__split=split).count() - before
    counts.described = len(described)


def _box(image: Image, object_class: ObjectClass, stated: StatedBox) -> Box:
    """The unsaved box; raises BrokenImage if it is not in the image."""
    assert image.width, "own images have a size"
    assert image.height, "own images have a size"
    width, height = (image.width, image.height) if stated.is_in_pixels else (1, 1)
    x_max, y_max = stated.x_max / width, stated.y_max / height
    if x_max > 1 or y_max > 1:
        raise BrokenImage(
            f"has {image.width} × {image.height} pixels, so the box in line {stated.line} of the "
            "table does not lie in it; the box was left out"
        )
    return Box(
        image=image,
        object_class=object_class,
        x_min=stated.x_min / width,
        x_max=x_max,
        y_min=stated.y_min / height,
        y_max=y_max,
    )


def _classes_named(names: Iterable[str], split: str, team: Team | None) -> dict[str, ObjectClass]:
    """The classes of these names in small letters: those of the split's boxes, so that a table can
    be repeated after another import of classes; else the team's own, or else shared ones. Those
    that neither has are added to the team's."""
    wanted = {name.casefold(): name for name in names}
    by_name: dict[str, ObjectClass] = {}
    if wanted:
        boxes = Box.objects.filter(image__split=split).order_by()
        used = set(boxes.values_list("object_class", flat=True).distinct())
        usable = ObjectClass.objects.of_team(team).order_by(F("team").asc(nulls_last=True), "label")
        for object_class in sorted(usable, key=lambda one: one.pk not in used):
            if object_class.name.casefold() in wanted:
                by_name.setdefault(object_class.name.casefold(), object_class)
    missing = {small: name for small, name in wanted.items() if small not in by_name}
    for small, name in missing.items():
        label = f"own:{hashlib.sha256(small.encode()).hexdigest()[:KEY_LENGTH]}"
        by_name[small] = ObjectClass.objects.create(team=team, label=label, name=name)
    take_names(ObjectClass.objects.filter(pk__in=[by_name[small].pk for small in missing]))
    return by_name


# The report


def report_lines(counts: OwnCounts, *, most: int) -> list[str]:
    """The result in words; of each group of files, the first `most` are named."""
    unchanged = counted(counts.unchanged, "was", "were")
    lines = [f"{counted(counts.new, 'image')} imported, {unchanged} there already."]
    if counts.described:
        boxes = counted(counts.boxes, "box", "boxes")
        lines.append(f"{counted(counts.described, 'image')} described, {boxes} added.")
    duplicates = [
        f"{duplicate.name}: same content as {duplicate.same_as}" for duplicate in counts.duplicates
    ]
    broken = [f"{file.name}: {file.reason}" for file in counts.broken]
    lines += _named("duplicate left out:", "duplicates left out:", duplicates, most)
    lines += _named("file has problems:", "files have problems:", broken, most)
    lines += _named(
        "file of the table is not in the split:",
        "files of the table are not in the split:",
        counts.unmatched,
        most,
    )
    return lines


def _named(one: str, several: str, entries: Sequence[str], most: int) -> list[str]:
    if not entries:
        return []
    more = [f"  and {len(entries) - most:,} more"] if len(entries) > most else []
    return [counted(len(entries), one, several), *[f"  {entry}" for entry in entries[:most]], *more]


# Of an image's column `url`.
LONGEST_URL = 500


class Remote(NamedTuple):
    """An address, the name that its image gets, and the function that fetches the content."""

    url: str
    name: str
    read: Callable[[], bytes]


def fetched(remotes: Iterable[Remote], *, split: str) -> Iterator[Found]:
    """The files at these addresses, each in a temporary file that exists until the next one."""
    own = Image.objects.filter(split=split, source=ImageSource.OWN).exclude(url="")
    urls = set(own.values_list("url", flat=True))
    with tempfile.TemporaryDirectory() as folder:
        for remote in remotes:
            if remote.url in urls:
                yield KnownFile(remote.name)
                continue
            urls.add(remote.url)
            yield _fetched(remote, Path(folder))


def _fetched(remote: Remote, folder: Path) -> Found:
    if len(remote.url) > LONGEST_URL:
        return BrokenFile(remote.url, f"has an address of more than {LONGEST_URL} characters")
    try:
        _check_name(remote.name)
        content = remote.read()
    except BrokenImage as error:
        return BrokenFile(remote.url, str(error))
    except RequestFailed as error:
        return BrokenFile(remote.url, f"could not be fetched. {error}")
    # The suffix may say what the content is.
    path = folder / f"image{Path(remote.name).suffix[:10]}"
    path.write_bytes(content)
    return OwnFile(path, remote.name, remote.url)


def files_at_urls(listing: Path) -> list[Remote]:
    """The images at the URLs in a text file, one in each line; empty lines and lines that begin
    with # are skipped. Raises DomainError."""
    try:
        content = listing.read_bytes()
    except OSError as error:
        raise DomainError(f"{listing}: {error.strerror}") from error
    lines = map(str.strip, re.split("[\r\n]", decoded(listing.name, content)))
    urls = dict.fromkeys(line for line in lines if line and not line.startswith("#"))
    if not urls:
        raise DomainError(f"{listing} has no URL.")
    return [_at_url(url) for url in urls]


def _at_url(url: str) -> Remote:
    def read() -> bytes:
        return fetch(
            url,
            seconds=settings.IMAGE_FETCH_SECONDS,
            most_bytes=settings.IMAGE_MAX_MB * 1_000_000,
            allows_private=settings.IMAGES_FROM_PRIVATE_NETWORKS,
        )

    return Remote(url, _name(url), read)


def _name(url: str) -> str:
    """The path of the URL as a file's name, with the query if it has one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    name = unquote(parts.path).strip("/") + (f"?{parts.query}" if parts.query else "")
    return name or parts.netloc or url


def files_in_bucket(address: str) -> list[Remote]:
    """The images in a folder of a bucket, named by their paths in it. Raises DomainError."""
    _, prefix = bucket_of(address)
    files = [file for file in files_in(address) if not is_system_file(file.key)]
    if not files:
        raise DomainError(f"{address} has no files.")
    most = settings.IMAGE_MAX_MB * 1_000_000

    def remote(file: BucketFile) -> Remote:
        def read() -> bytes:
            if file.size > most:
                raise RequestFailed(f"It is larger than {settings.IMAGE_MAX_MB} MB.")
            return read_file(file)

        return Remote(file.url, file.key.removeprefix(prefix).lstrip("/"), read)

    return [remote(file) for file in files]
