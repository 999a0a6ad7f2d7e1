"""Import image files into MEDIA_ROOT, and make the copies of them that pages show."""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from django.db import transaction

from accounts.models import Team
from annotate.images import copies as image_copies
from annotate.images import files as image_files
from annotate.images.files import BrokenImage
from annotate.models import Image, ImageSource
from annotate.services.bulk import take_turns
from annotate.services.imports import check_owner
from annotate.services.published import published_images
from corpora.datasets.sidecar import comparable
from corpora.errors import DomainError
from corpora.reading.files import is_file, is_folder
from corpora.writing import write_atomically
from shared.database.transactions import batches

logger = logging.getLogger(__name__)

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
    if not is_folder(folder):
        raise DomainError(f"{folder} is not a folder.")
    return sorted(path for path in folder.rglob("*") if is_file(path))


def import_files(
    *,
    folder: Path,
    split: str,
    team: Team | None = None,
    change_published: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> FileCounts:
    """Copy image files, named by their images' ids, into MEDIA_ROOT and store their sizes.

    A broken file, or one that would change what a published campaign shows, is listed in the result
    and its image is not changed. Each file is saved on its own: if a run is interrupted, the next
    run imports the rest. `progress` is called with 1 after each file. Raises DomainError if the
    split has no images, or is another owner's.
    """
    counts = FileCounts()
    check_owner(split, team)
    images = {image.key: image for image in Image.objects.filter(split=split)}
    if not images:
        raise DomainError(f"The split {split!r} has no images. Import their metadata first.")
    stated = _by_stated_name(images.values())
    taken: dict[str, Path] = {}
    for path in files_below(folder):
        name = comparable(path.relative_to(folder).as_posix())
        image = stated.get(name) or stated.get(PurePosixPath(name).name) or _image_of(path, images)
        if image is None:
            counts.unmatched += 1
        elif image.key in taken:
            reason = f"{image.key} already has a file, {taken[image.key].relative_to(folder)}"
            counts.broken.append(BrokenFile(str(path.relative_to(folder)), reason))
        else:
            try:
                _import_file(path, image, counts, change_published)
                taken[image.key] = path
            except BrokenImage as error:
                counts.broken.append(BrokenFile(str(path.relative_to(folder)), str(error)))
        progress(1)
    return counts


def _by_stated_name(images: Iterable[Image]) -> dict[str, Image]:
    """COCO's images by the names of their files in the instances file, and by the names without
    folders that no other image has."""
    of_coco = (image for image in images if image.source == ImageSource.COCO and image.file_name)
    stated = {comparable(image.file_name): image for image in of_coco}
    often = Counter(PurePosixPath(name).name for name in stated)
    alone = {PurePosixPath(name).name: image for name, image in stated.items()}
    return {name: image for name, image in alone.items() if often[name] == 1} | stated


def _image_of(path: Path, images: Mapping[str, Image]) -> Image | None:
    """The image that a file is named after. COCO's file names end in the image's number."""
    if image := images.get(path.stem):
        return image
    image = images.get(_number_in(path.name))
    if image is None or image.source != ImageSource.COCO:
        return None
    # The names of another dataset may end in another number than the id.
    is_like_coco = path.stem.isdecimal() or _number_in(image.file_name) in {"", image.key}
    return image if is_like_coco else None


def _number_in(name: str) -> str:
    """The number at the end of a file's name; empty if there is none."""
    number = re.search(r"[0-9]+$", PurePosixPath(name).stem)
    return str(int(number[0])) if number else ""


def _import_file(path: Path, image: Image, counts: FileCounts, change_published: bool) -> None:
    """Copy one file into MEDIA_ROOT and save its image; raises BrokenImage."""
    stored = image_files.file_path(image)
    kept = stored.read_bytes() if image.file and stored.is_file() else None
    content = image_files.read_content(path)
    picture = None
    if kept == content:
        size = image_files.read_size(path)
    else:
        picture = image_files.read_picture(path)
        size = picture.width, picture.height
    is_known = picture is None or kept == picture.content
    if is_known and size == (image.width, image.height):
        counts.unchanged += 1
        return
    is_new = not image.file
    with transaction.atomic():
        # No campaign is published meanwhile.
        take_turns()
        if not change_published and published_images(Image.objects.filter(pk=image.pk)).exists():
            raise BrokenImage(
                "would change what a published campaign shows; to change it nevertheless, use "
                "--change-published"
            )
        image.width, image.height = size
        if picture and not is_known:
            image.file = image_files.file_name(image, picture.suffix)
            write_atomically(image_files.file_path(image), picture.content)
            image_copies.drop_copies(image)
        image.save(update_fields=FILE_FIELDS)
    if is_known:
        counts.unchanged += 1
    elif is_new:
        counts.new += 1
    else:
        counts.changed += 1


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
