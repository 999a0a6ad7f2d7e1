"""Image files into MEDIA_ROOT, and thumbnails of them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from annotate import image_files
from annotate.errors import DomainError
from annotate.image_files import BrokenImage, Picture
from annotate.models import Image, ImageSource

BATCH = 200
# The fields that a file decides.
FILE_FIELDS = ["file", "width", "height"]


class BrokenFile(NamedTuple):
    name: str
    reason: str


@dataclass
class FileCounts:
    """What became of a folder's files."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    # Files that are named after no image of the split.
    strangers: int = 0
    broken: list[BrokenFile] = field(default_factory=list)


def files_below(folder: Path) -> list[Path]:
    """A folder's files, also those in folders of it, in order; raises DomainError."""
    if not folder.is_dir():
        raise DomainError(f"{folder} is no folder.")
    return sorted(path for path in folder.rglob("*") if path.is_file())


def import_files(
    *, folder: Path, split: str, progress: Callable[[int], object] = lambda files: None
) -> FileCounts:
    """Copy image files, named by their images' ids, into MEDIA_ROOT and note their sizes.

    A broken file is listed and leaves its image as it was. Each batch of files is written down on
    its own, so a run that was cut short has done a part, and the next one does the rest.
    """
    counts = FileCounts()
    images = {image.key: image for image in Image.objects.filter(split=split)}
    if not images:
        raise DomainError(f"The split {split!r} has no images; import their metadata first.")
    waiting: list[Image] = []
    taken: dict[str, Path] = {}
    for path in files_below(folder):
        image = _image_of(path, images)
        if image is None:
            counts.strangers += 1
        elif image.key in taken:
            reason = f"{image.key} has a file already, {taken[image.key].relative_to(folder)}"
            counts.broken.append(BrokenFile(str(path.relative_to(folder)), reason))
        else:
            try:
                if _take_in(path, image, counts):
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
    """The image that a file is named after; COCO's files end in the image's number."""
    if image := images.get(path.stem):
        return image
    number = re.search(r"[0-9]+$", path.stem)
    image = images.get(str(int(number[0]))) if number else None
    return image if image and image.source == ImageSource.COCO else None


def _take_in(path: Path, image: Image, counts: FileCounts) -> bool:
    """Copy one file and note it in the image, which the caller saves if this is true."""
    kept = image_files.file_path(image) if image.file else None
    if kept and kept.is_file() and kept.read_bytes() == path.read_bytes():
        counts.unchanged += 1
        return False
    picture = image_files.read_picture(path)
    name = image_files.file_name(image, picture.suffix)
    if kept and kept.is_file() and kept.read_bytes() == picture.content:
        counts.unchanged += 1
        return False
    if image.file:
        counts.changed += 1
    else:
        counts.new += 1
    _write(image, name, picture)
    return True


def _write(image: Image, name: str, picture: Picture) -> None:
    image.file, image.width, image.height = name, picture.width, picture.height
    image_files.write_atomically(image_files.file_path(image), picture.content)
    # A thumbnail of the file's predecessor would stay for ever.
    image_files.thumbnail_path(image).unlink(missing_ok=True)


def make_thumbnails() -> Iterator[tuple[Image, str]]:
    """Make each thumbnail that is missing; yields the image and, if it failed, the reason."""
    for image in Image.objects.exclude(file="").order_by("pk").iterator():
        if image_files.thumbnail_path(image).is_file():
            continue
        try:
            image_files.write_thumbnail(image)
        except BrokenImage as error:
            yield image, str(error)
        else:
            yield image, ""
