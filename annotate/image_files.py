"""Image files: what is under MEDIA_ROOT, the addresses that pages show it by, and thumbnails."""

import os
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

IMAGES, THUMBNAILS = "images", "thumbnails"
THUMBNAIL_WIDTH = 400
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


def display_url(image: Image) -> str:
    """Where a page finds the image: its file here, or else its address; empty if there is none."""
    return _media_url(image.file) if image.file else image.url


def thumbnail_url(image: Image) -> str:
    """Where a page finds the image made small; the image itself while there is no thumbnail."""
    if image.file and thumbnail_path(image).is_file():
        return _media_url(_thumbnail_name(image))
    return display_url(image)


def file_path(image: Image) -> Path:
    return Path(settings.MEDIA_ROOT) / image.file


def thumbnail_path(image: Image) -> Path:
    return Path(settings.MEDIA_ROOT) / _thumbnail_name(image)


def file_name(image: Image, suffix: str) -> str:
    """The path under MEDIA_ROOT that an image's file gets."""
    return str(PurePosixPath(IMAGES, image.split, f"{image.key}{suffix}"))


def _thumbnail_name(image: Image) -> str:
    return str(PurePosixPath(THUMBNAILS, image.split, f"{image.key}.jpg"))


def _media_url(name: str) -> str:
    return urljoin(settings.MEDIA_URL, quote(name))


def read_picture(path: Path) -> Picture:
    """A file's picture, decoded to its end to be sure of it; raises BrokenImage."""
    with opened(path) as picture:
        width, height = picture.size
        if picture.getexif().get(EXIF_ORIENTATION) in LYING:
            width, height = height, width
        suffix = SHOWN_FORMATS.get(picture.format or "")
        if suffix:
            # JPEG decodes at an eighth of its size, which finds a cut file just as well.
            picture.draft(None, (1, 1))
            picture.load()
            return Picture(width, height, suffix, path.read_bytes())
        return Picture(width, height, ".png", _encoded(ImageOps.exif_transpose(picture), "PNG"))


def write_thumbnail(image: Image) -> None:
    """Make an image's thumbnail, upright and at most THUMBNAIL_WIDTH wide; raises BrokenImage."""
    with opened(file_path(image)) as picture:
        # Decoding at a size near the wanted one is much faster; only JPEG can.
        picture.draft("RGB", (2 * THUMBNAIL_WIDTH, 2 * THUMBNAIL_WIDTH))
        upright = ImageOps.exif_transpose(picture)
        height = max(1, round(upright.height * THUMBNAIL_WIDTH / upright.width))
        if upright.width > THUMBNAIL_WIDTH:
            upright = upright.resize((THUMBNAIL_WIDTH, height), PIL.Image.Resampling.LANCZOS)
        content = _encoded(_on_white(upright), "JPEG")
    write_atomically(thumbnail_path(image), content)


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
        IndexError,
        TypeError,
        MemoryError,
    ) as error:
        raise BrokenImage(f"is damaged ({error})") from error


def _on_white(picture: PIL.Image.Image) -> PIL.Image.Image:
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        picture = PIL.Image.alpha_composite(PIL.Image.new("RGBA", picture.size, "white"), picture)
    return picture.convert("RGB")


def _encoded(picture: PIL.Image.Image, format_name: str) -> bytes:
    out = BytesIO()
    picture.save(out, format_name)
    return out.getvalue()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that no reader ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
