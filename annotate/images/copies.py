"""Make copies of image files in the sizes that pages show.

Copies load quickly, are upright and in sRGB, and have none of the original's metadata, which may
reveal where and with what a photograph was taken.

A copy is made once: in the background, or when a browser first requests it. Its name in the storage
(storage.py) consists of its size, the image's split and the image's key. Its URL contains a code
that only this site can make. So copies can be served to workers, who are not signed in, but nobody
can list or guess them.
"""

import threading
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import PIL.Image
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from PIL import ImageCms
from PIL.Image import Transpose

from annotate.images.files import EXIF_ORIENTATION, LYING, file_path, opened, with_eight_bits
from annotate.models import Image
from corpora.errors import DomainError, one_line
from corpora.writing import write_atomically

if TYPE_CHECKING:
    from django.core.files import File

COPIES = "image-copies"


def copy_storage() -> Storage:
    return storages[COPIES]


class WholeFiles(FileSystemStorage):
    """Files in MEDIA_ROOT. Writing replaces a file: readers see the old content or the new one."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:  # noqa: ARG002
        return name

    def _save(self, name: str, content: "File[Any]") -> str:
        write_atomically(Path(self.path(name)), content.read())
        return name


class CopiesUnreachable(DomainError):
    """The bucket with the copies did not answer, or refused the request."""


class Size(NamedTuple):
    """Maximum width and height of a copy, in pixels."""

    width: int
    height: int


# Size by folder name. A task page shows an image at most 1,120 pixels wide; the middle size is for
# phones.
SIZES = {"copies": Size(1600, 1600), "middle": Size(800, 800), "thumbnails": Size(400, 1600)}
SHOWN, MIDDLE, THUMBNAIL = SIZES
QUALITY = 85
CODE_LENGTH = 32
# The operation that makes each EXIF orientation upright; the last four turn it by 90 degrees.
TURNS = {
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_90,
}
LYING_TURNS = {TURNS[orientation] for orientation in LYING}
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
# Decoding an image may need hundreds of megabytes, so a process decodes one at a time.
_making = threading.Lock()


def display_url(image: Image) -> str:
    """URL of the image for any page: of a copy if it has a file, else the original URL or empty."""
    return _copy_url(image, SHOWN) if image.file else image.url


def whole_url(image: Image) -> str:
    """The same URL with the site's address, for programs."""
    url = display_url(image)
    return f"{settings.SITE_URL}{url}" if url.startswith("/") else url


def display_srcset(image: Image) -> str:
    """The `srcset` of the image, by which a browser with a small screen loads a smaller copy; empty
    if there is no smaller one."""
    if not (image.file and image.width and image.height):
        return ""
    whole = Size(image.width, image.height)
    widths = {size: _shrunk_width(whole, SIZES[size]) for size in (MIDDLE, SHOWN)}
    if widths[MIDDLE] == widths[SHOWN]:
        return ""
    return ", ".join(f"{_copy_url(image, size)} {width}w" for size, width in widths.items())


def _shrunk_width(whole: Size, most: Size) -> int:
    scale = min(1, most.width / whole.width, most.height / whole.height)
    return max(1, round(whole.width * scale))


def thumbnail_url(image: Image) -> str:
    """URL of the image for lists: of the small copy if it has a file, else the original URL."""
    return _copy_url(image, THUMBNAIL) if image.file else image.url


def _copy_url(image: Image, size: str) -> str:
    return reverse("image-copy", args=[size, image.pk, code_of(image)])


def code_of(image: Image) -> str:
    """The code in the URLs of an image's copies, which cannot be guessed."""
    made = salted_hmac("annotate.image_copies", f"{image.pk}:{image.file}", algorithm="sha256")
    return made.hexdigest()[:CODE_LENGTH]


def is_code_of(image: Image, code: str) -> bool:
    return constant_time_compare(code, code_of(image))


def copy_name(image: Image, size: str) -> str:
    """The copy's name in the storage."""
    return f"{size}/{image.split}/{image.key}.jpg"


def missing_copies(image: Image) -> list[str]:
    """The sizes for which the image has no copy yet."""
    return [size for size in SIZES if not copy_storage().exists(copy_name(image, size))]


def names_of_copies(split: str) -> set[str]:
    """The names of all copies of a split: a bucket lists a thousand with one request, and
    `missing_copies` makes one for each copy."""
    names: set[str] = set()
    for size in SIZES:
        with suppress(FileNotFoundError):
            _, files = copy_storage().listdir(f"{size}/{split}")
            names.update(f"{size}/{split}/{name}" for name in files)
    return names


def has_copies(image: Image, *, among: set[str]) -> bool:
    """Whether copies in all sizes are among these names."""
    return among.issuperset(copy_name(image, size) for size in SIZES)


def read_copy(image: Image, size: str) -> bytes:
    """The copy, which is made now if it is missing. Raises BrokenImage, CopiesUnreachable."""
    name = copy_name(image, size)
    try:
        try:
            return _content_of(name)
        except FileNotFoundError:
            make_copies(image)
            return _content_of(name)
    except (BotoCoreError, ClientError) as error:
        raise CopiesUnreachable(one_line(error)) from error


def _content_of(name: str) -> bytes:
    with copy_storage().open(name) as file:
        content: bytes = file.read()
    return content


def drop_copies(image: Image) -> None:
    """Delete the image's copies, because its file is replaced."""
    for size in SIZES:
        copy_storage().delete(copy_name(image, size))


def make_copies(image: Image) -> None:
    """Make the missing copies of an image; raises BrokenImage."""
    if not missing_copies(image):
        return
    with _making:
        # Another thread may have made them while this one waited for the lock.
        sizes = missing_copies(image)
        contents = _copies_of(file_path(image), sizes) if sizes else {}
        for size, content in contents.items():
            copy_storage().save(copy_name(image, size), ContentFile(content))


def _copies_of(path: Path, sizes: list[str]) -> dict[str, bytes]:
    """Encoded copies in these sizes, from decoding the file once; raises BrokenImage."""
    with opened(path) as picture:
        largest = _small(picture, max(SIZES[size] for size in sizes))
        return {size: _encoded(_shrunk(largest, SIZES[size])) for size in sizes}


def _small(picture: PIL.Image.Image, size: Size) -> PIL.Image.Image:
    """The picture as seen and at most this large: upright, on white if transparent, in sRGB."""
    profile = picture.info.get("icc_profile")
    turn = TURNS.get(picture.getexif().get(EXIF_ORIENTATION, 1))
    width, height = reversed(size) if turn in LYING_TURNS else size
    # Decode JPEG at a smaller size. Twice the final size leaves enough detail for smooth shrinking.
    picture.draft("RGB", (2 * width, 2 * height))
    picture = _in_plain_mode(picture)
    # Shrink first, so that the following steps work on fewer pixels.
    picture.thumbnail((width, height), PIL.Image.Resampling.LANCZOS)
    if turn is not None:
        picture = picture.transpose(turn)
    return _in_srgb(_on_white(picture), profile)


def _in_plain_mode(picture: PIL.Image.Image) -> PIL.Image.Image:
    """The picture in a mode that can be shrunk: eight bits per channel and no palette."""
    picture = with_eight_bits(picture)
    if picture.has_transparency_data:
        return picture.convert("RGBA")
    return picture if picture.mode in {"RGB", "L", "CMYK"} else picture.convert("RGB")


def _on_white(picture: PIL.Image.Image) -> PIL.Image.Image:
    if picture.mode != "RGBA":
        return picture
    white = PIL.Image.new("RGBA", picture.size, "white")
    return PIL.Image.alpha_composite(white, picture).convert("RGB")


def _in_srgb(picture: PIL.Image.Image, profile: bytes | None) -> PIL.Image.Image:
    """The picture in sRGB, which browsers assume for images without a colour profile."""
    if profile:
        try:
            source = ImageCms.ImageCmsProfile(BytesIO(profile))
            converted = ImageCms.profileToProfile(picture, source, SRGB, outputMode="RGB")
            return converted or picture.convert("RGB")
        except (ImageCms.PyCMSError, OSError, ValueError):
            # Ignore a damaged profile or one for another kind of picture.
            pass
    return picture.convert("RGB")


def _shrunk(picture: PIL.Image.Image, size: Size) -> PIL.Image.Image:
    small = picture.copy()
    small.thumbnail(size, PIL.Image.Resampling.LANCZOS)
    return small


def _encoded(picture: PIL.Image.Image) -> bytes:
    # Pillow would write the comments and profiles in `info` into the copy.
    picture.info = {}
    out = BytesIO()
    picture.save(out, "JPEG", quality=QUALITY, optimize=True, progressive=True)
    return out.getvalue()
