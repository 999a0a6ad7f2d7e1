"""Image files as they were imported, under MEDIA_ROOT. Pages show copies (image_copies.py)."""

import os
import struct
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, urljoin

import PIL.Image
from django.conf import settings
from PIL import ImageOps

from annotate.errors import DomainError
from annotate.models import Image

IMAGES = "images"
# What browsers show goes in as it is, by its content's suffix and not by its name's; the other
# formats become PNG. Formats that Pillow reads by starting another program are not opened.
SHOWN_FORMATS = {
    "JPEG": ".jpg",
    "MPO": ".jpg",
    "PNG": ".png",
    "GIF": ".gif",
    "WEBP": ".webp",
    "AVIF": ".avif",
}
CONVERTED_FORMATS = ("BMP", "TIFF", "PPM", "JPEG2000", "TGA")
EXIF_ORIENTATION = 0x0112
# EXIF orientations that turn the image on its side.
LYING = frozenset({5, 6, 7, 8})


class BrokenImage(DomainError):
    """A file that cannot be shown; the message is the reason."""


class Picture(NamedTuple):
    """A sound image file: its size as shown, and the bytes and suffix to keep it by."""

    width: int
    height: int
    suffix: str
    content: bytes


def original_url(image: Image) -> str:
    """Where a signed-in researcher finds the image as it was imported; its address where there is
    no file here, empty without either."""
    return urljoin(settings.MEDIA_URL, quote(image.file)) if image.file else image.url


def file_path(image: Image) -> Path:
    return Path(settings.MEDIA_ROOT) / image.file


def file_name(image: Image, suffix: str) -> str:
    """The path under MEDIA_ROOT that an image's file gets."""
    return str(PurePosixPath(IMAGES, image.split, f"{image.key}{suffix}"))


def read_content(path: Path) -> bytes:
    """A file's bytes; raises BrokenImage where they cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BrokenImage(f"cannot be read ({error.strerror})") from error


def read_picture(path: Path) -> Picture:
    """A file's picture, decoded to its end to be sure of it; raises BrokenImage."""
    with opened(path) as picture:
        width, height = _shown_size(picture)
        suffix = SHOWN_FORMATS.get(picture.format or "")
        if suffix:
            # JPEG decodes at an eighth of its size, which finds a cut file just as well.
            picture.draft(None, (1, 1))
            picture.load()
            return Picture(width, height, suffix, path.read_bytes())
        return Picture(width, height, ".png", _encoded(ImageOps.exif_transpose(picture), "PNG"))


def read_size(path: Path) -> tuple[int, int]:
    """A file's width and height as shown, without decoding it; raises BrokenImage."""
    with opened(path) as picture:
        return _shown_size(picture)


def _shown_size(picture: PIL.Image.Image) -> tuple[int, int]:
    width, height = picture.size
    return (height, width) if picture.getexif().get(EXIF_ORIENTATION) in LYING else (width, height)


@contextmanager
def opened(path: Path) -> Iterator[PIL.Image.Image]:
    """The file as Pillow opens it; whatever is wrong with it is raised as BrokenImage."""
    PIL.Image.init()
    # Not every build of Pillow has every format, and MPO is opened as JPEG.
    formats = [name for name in (*SHOWN_FORMATS, *CONVERTED_FORMATS) if name in PIL.Image.OPEN]
    try:
        with warnings.catch_warnings():
            # Pillow warns of images of more pixels than anybody shows; here they are refused.
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            warnings.simplefilter("ignore", UserWarning)
            with PIL.Image.open(path, formats=formats) as picture:
                yield picture
    except PIL.UnidentifiedImageError as error:
        raise BrokenImage("is no image in a known format") from error
    except (PIL.Image.DecompressionBombWarning, PIL.Image.DecompressionBombError) as error:
        raise BrokenImage("has more pixels than an image to be shown can have") from error
    # Pillow's decoders let errors of many kinds through on damaged files.
    except (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        LookupError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RuntimeError,
        MemoryError,
        struct.error,
    ) as error:
        raise BrokenImage(f"is damaged ({error})") from error


def _encoded(picture: PIL.Image.Image, format_name: str) -> bytes:
    out = BytesIO()
    picture.save(out, format_name)
    return out.getvalue()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that no reader ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        new.chmod(0o644)
        new.replace(path)
    except BaseException:
        new.unlink()
        raise
