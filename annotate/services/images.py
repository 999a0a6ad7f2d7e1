"""Import image files into MEDIA_ROOT, and make the copies of them that pages show."""

import logging
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from annotate.errors import DomainError
from annotate.images import copies as image_copies
from annotate.images import files as image_files
from annotate.images.files import BrokenImage, Picture
from annotate.models import Image, ImageSource
from annotate.services.places import batches

logger = logging.getLogger(__name__)

BATCH = 200
# Seconds after which all images are checked for missing copies again.
LOOK_EVERY = 300.0
# Fields of Image that depend on its file.
FILE_FIELDS = ["file", "width", "height"]


class BrokenFile(NamedTuple):
    name: str
    reason: str


@dataclass
class FileCounts:
    """Result of importing a folder: numbers of files, and the broken ones with the reason."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    # Files whose names match no image of the split.
    unmatched: int = 0
    broken: list[BrokenFile] = field(default_factory=list)


def files_below(folder: Path) -> list[Path]:
    """All files in a folder and its subfolders, sorted; raises DomainError."""
    if not folder.is_dir():
        raise DomainError(f"{folder} is not a folder.")
    return sorted(path for path in folder.rglob("*") if path.is_file())


def import_files(
    *, folder: Path, split: str, progress: Callable[[int], object] = lambda _: None
) -> FileCounts:
    """Copy image files, named by their images' ids, into MEDIA_ROOT and store their sizes.

    A broken file is listed in the result and its image is not changed. Each batch of files is saved
    on its own: if a run is interrupted, the next run imports the rest. `progress` is called with 1
    after each file. Raises DomainError if the split has no images.
    """
    counts = FileCounts()
    images = {image.key: image for image in Image.objects.filter(split=split)}
    if not images:
        raise DomainError(f"The split {split!r} has no images. Import their metadata first.")
    waiting: list[Image] = []
    taken: dict[str, Path] = {}
    for path in files_below(folder):
        image = _image_of(path, images)
        if image is None:
            counts.unmatched += 1
        elif image.key in taken:
            reason = f"{image.key} already has a file, {taken[image.key].relative_to(folder)}"
            counts.broken.append(BrokenFile(str(path.relative_to(folder)), reason))
        else:
            try:
                if _import_file(path, image, counts):
                    waiting.append(image)
                taken[image.key] = path
            except BrokenImage as error:
                counts.broken.append(BrokenFile(str(path.relative_to(folder)), str(error)))
        if len(waiting) == BATCH:
            Image.objects.bulk_update(waiting, FILE_FIELDS)
            waiting.clear()
        progress(1)
    Image.objects.bulk_update(waiting, FILE_FIELDS)
    return counts


def _image_of(path: Path, images: dict[str, Image]) -> Image | None:
    """The image that a file is named after. COCO's file names end in the image's number."""
    if image := images.get(path.stem):
        return image
    number = re.search(r"[0-9]+$", path.stem)
    image = images.get(str(int(number[0]))) if number else None
    return image if image and image.source == ImageSource.COCO else None


def _import_file(path: Path, image: Image, counts: FileCounts) -> bool:
    """Copy one file into MEDIA_ROOT; return whether the caller must save the image."""
    kept = _content_of(image_files.file_path(image)) if image.file else None
    content = image_files.read_content(path)
    if kept == content:
        counts.unchanged += 1
        return _note_size(image, *image_files.read_size(path))
    picture = image_files.read_picture(path)
    name = image_files.file_name(image, picture.suffix)
    if kept == picture.content:
        counts.unchanged += 1
        return _note_size(image, picture.width, picture.height)
    if image.file:
        counts.changed += 1
    else:
        counts.new += 1
    _write(image, name, picture)
    return True


def _content_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _note_size(image: Image, width: int, height: int) -> bool:
    """Set the size of an image whose file is unchanged; return whether it differs from before."""
    before, image.width, image.height = (image.width, image.height), width, height
    return before != (width, height)


def _write(image: Image, name: str, picture: Picture) -> None:
    image.file, image.width, image.height = name, picture.width, picture.height
    image_files.write_atomically(image_files.file_path(image), picture.content)
    image_copies.drop_copies(image)


def make_copies() -> Iterator[tuple[Image, str]]:
    """Make missing copies; yield each image that lacked one, with the reason if this failed."""
    made: dict[str, set[str]] = {}
    keys = list(Image.objects.exclude(file="").order_by("pk").values_list("pk", flat=True))
    for batch in batches(keys):
        for image in Image.objects.exclude(file="").filter(pk__in=batch).order_by("pk"):
            if image.split not in made:
                made[image.split] = image_copies.names_of_copies(image.split)
            if image_copies.has_copies(image, among=made[image.split]):
                continue
            if not image_copies.missing_copies(image):  # made since the names were listed
                continue
            try:
                image_copies.make_copies(image)
            except BrokenImage as error:
                logger.warning("No copy of the image %s: its file %s.", image.key, error)
                yield image, str(error)
            else:
                yield image, ""


class CopyMaker:
    """Makes missing copies in short steps, for a process that also has other work."""

    def __init__(self) -> None:
        self._making: Iterator[object] | None = None
        self._next_look = 0.0

    def work(self, *, seconds: float) -> bool:
        """Make copies for about `seconds`; return whether more may be missing.

        When no copy is missing, all images are checked again after LOOK_EVERY.
        """
        end = time.monotonic() + seconds
        if self._making is None and time.monotonic() >= self._next_look:
            self._making = make_copies()
        while self._making is not None and time.monotonic() < end:
            if next(self._making, None) is None:
                self._making, self._next_look = None, time.monotonic() + LOOK_EVERY
        return self._making is not None
