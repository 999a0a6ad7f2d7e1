"""Copies of image files in the sizes that pages show: small enough to load, upright, in sRGB, and
without the metadata of the original, which may say where and with what a photograph was taken.

A copy is made once: in the background, or when a browser first asks for it. It stands under
MEDIA_ROOT by its image's split and key. Its address has a code that only this site can make, so
copies can be served to workers, who are not signed in, without a way to list or guess them.
"""

import threading
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import PIL.Image
from django.conf import settings
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from PIL import ImageCms
from PIL.Image import Transpose

from annotate.images.files import EXIF_ORIENTATION, LYING, file_path, opened, write_atomically
from annotate.models import Image


class Size(NamedTuple):
    """The most that a copy measures, in pixels."""

    width: int
    height: int


# By the folder that holds the copies. On a task page an image is at most 1,120 pixels wide.
SIZES = {"copies": Size(1600, 1600), "thumbnails": Size(400, 1600)}
SHOWN, THUMBNAIL = SIZES
QUALITY = 85
CODE_LENGTH = 32
# What brings each EXIF orientation upright; the latter four stand pictures up that lie.
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
# An image may take hundreds of megabytes while it is decoded, so a process decodes one at a time.
_making = threading.Lock()


def display_url(image: Image) -> str:
    """Where any page finds the image to show: a copy of its file, or else its address; empty if it
    has neither."""
    return _copy_url(image, SHOWN) if image.file else image.url


def thumbnail_url(image: Image) -> str:
    """Where a list finds the image; its address if it has no file."""
    return _copy_url(image, THUMBNAIL) if image.file else image.url


def _copy_url(image: Image, size: str) -> str:
    return reverse("image-copy", args=[size, image.pk, code_of(image)])


def code_of(image: Image) -> str:
    """What the address of a copy has to have; it cannot be guessed."""
    made = salted_hmac("annotate.image_copies", f"{image.pk}:{image.file}", algorithm="sha256")
    return made.hexdigest()[:CODE_LENGTH]


def is_code_of(image: Image, code: str) -> bool:
    return constant_time_compare(code, code_of(image))


def copy_path(image: Image, size: str) -> Path:
    return Path(settings.MEDIA_ROOT, size, image.split, f"{image.key}.jpg")


def missing_copies(image: Image) -> list[str]:
    """The sizes in which there is no copy of the image's file yet."""
    return [size for size in SIZES if not copy_path(image, size).is_file()]


def drop_copies(image: Image) -> None:
    """Remove the copies of a file that is replaced."""
    for size in SIZES:
        copy_path(image, size).unlink(missing_ok=True)


def make_copies(image: Image) -> None:
    """Make the copies that are missing, if any is; raises BrokenImage."""
    if not missing_copies(image):
        return
    with _making:
        # Another request may have made them meanwhile.
        sizes = missing_copies(image)
        contents = _copies_of(file_path(image), sizes) if sizes else {}
        for size, content in contents.items():
            write_atomically(copy_path(image, size), content)


def _copies_of(path: Path, sizes: list[str]) -> dict[str, bytes]:
    """The file's copies in these sizes, decoded once for all; raises BrokenImage."""
    with opened(path) as picture:
        largest = _small(picture, max(SIZES[size] for size in sizes))
        return {size: _encoded(_shrunk(largest, SIZES[size])) for size in sizes}


def _small(picture: PIL.Image.Image, size: Size) -> PIL.Image.Image:
    """The picture in this size at most and as it is seen: turned upright, on white where it is
    clear, in sRGB."""
    profile = picture.info.get("icc_profile")
    turn = TURNS.get(picture.getexif().get(EXIF_ORIENTATION, 1))
    width, height = reversed(size) if turn in LYING_TURNS else size
    # Only JPEG decodes at a smaller size; twice the wanted one, so that shrinking smooths it.
    picture.draft("RGB", (2 * width, 2 * height))
    picture = _in_plain_mode(picture)
    # Before anything else is done with millions of pixels.
    picture.thumbnail((width, height), PIL.Image.Resampling.LANCZOS)
    if turn is not None:
        picture = picture.transpose(turn)
    return _in_srgb(_on_white(picture), profile)


def _in_plain_mode(picture: PIL.Image.Image) -> PIL.Image.Image:
    """The picture in a mode that can be shrunk: without a palette, of eight bits."""
    if picture.has_transparency_data:
        return picture.convert("RGBA")
    if picture.mode.startswith("I;16"):
        # Converting would turn nearly all of it white.
        return picture.convert("I").point(lambda value: value / 256).convert("L")
    return picture if picture.mode in {"RGB", "L", "CMYK"} else picture.convert("RGB")


def _on_white(picture: PIL.Image.Image) -> PIL.Image.Image:
    if picture.mode != "RGBA":
        return picture
    white = PIL.Image.new("RGBA", picture.size, "white")
    return PIL.Image.alpha_composite(white, picture).convert("RGB")


def _in_srgb(picture: PIL.Image.Image, profile: bytes | None) -> PIL.Image.Image:
    """The picture's colours as browsers show a picture without a profile."""
    if profile:
        try:
            source = ImageCms.ImageCmsProfile(BytesIO(profile))
            converted = ImageCms.profileToProfile(picture, source, SRGB, outputMode="RGB")
            return converted or picture.convert("RGB")
        except (ImageCms.PyCMSError, OSError, ValueError):
            # A profile that is damaged, or of another kind of picture, is as good as none.
            pass
    return picture.convert("RGB")


def _shrunk(picture: PIL.Image.Image, size: Size) -> PIL.Image.Image:
    small = picture.copy()
    small.thumbnail(size, PIL.Image.Resampling.LANCZOS)
    return small


def _encoded(picture: PIL.Image.Image) -> bytes:
    # Pillow hands on comments and profiles that it finds here.
    picture.info = {}
    out = BytesIO()
    picture.save(out, "JPEG", quality=QUALITY, optimize=True, progressive=True)
    return out.getvalue()
