"""Image files as they were imported, under MEDIA_ROOT. Pages show copies of them (copies.py)."""

import struct
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, urljoin

import numpy as np
import PIL.Image
import PIL.ImageFile
from django.conf import settings
from PIL import ImageOps
from PIL.TiffImagePlugin import TiffImageFile

from annotate.models import Image
from corpora.errors import DomainError

IMAGES = "images"
# Formats that browsers show are stored unchanged, with the suffix of their content, not of their
# name. The other formats are converted to PNG. Formats for which Pillow starts another program are
# refused.
SHOWN_FORMATS = {
    "JPEG": ".jpg",
    "MPO": ".jpg",
    "PNG": ".png",
    "GIF": ".gif",
    "WEBP": ".webp",
    "AVIF": ".avif",
}
CONVERTED_FORMATS = ("BMP", "TIFF", "PPM", "JPEG2000", "TGA")
# Formats of own files, which are kept unchanged. TGA files have no signature, so that many other
# files would be taken for one.
OWN_FORMATS = {
    **SHOWN_FORMATS,
    "BMP": ".bmp",
    "TIFF": ".tif",
    "PPM": ".ppm",
    "JPEG2000": ".jp2",
}
# What PNG can store of the modes that the converted formats can have.
PNG_MODES = {"1", "L", "LA", "P", "RGB", "RGBA"}
# Modes of variants of PPM that only Pillow knows (PyP, PyRGBA, PyCMYK, P0CMYK) and does not write.
NO_PPM_MODES = {"P", "RGBA", "CMYK"}
HEIC = (b"ftypheic", b"ftypheix", b"ftypmif1", b"ftyphevc")
EXIF_ORIENTATION = 0x0112
# The TIFF tag with the value of pixels without data, and a bound that only such values exceed, such
# as the smallest float of 32 bits.
GDAL_NO_DATA, EXTREME = 42_113, 1e30
# EXIF orientations that turn the image by 90 degrees, so that width and height swap.
LYING = frozenset({5, 6, 7, 8})


class BrokenImage(DomainError):
    """An image file cannot be used; the message gives the reason."""


class Picture(NamedTuple):
    """A valid image file: its size as shown, in pixels, and the content and suffix to store."""

    width: int
    height: int
    suffix: str
    content: bytes


def original_url(image: Image) -> str:
    """URL of the imported file, for signed-in users; without a file the original URL or empty."""
    return urljoin(settings.MEDIA_URL, quote(image.file)) if image.file else image.url


def file_path(image: Image) -> Path:
    return Path(settings.MEDIA_ROOT) / image.file


def file_name(image: Image, suffix: str) -> str:
    """Path under MEDIA_ROOT for an image's file."""
    return str(PurePosixPath(IMAGES, image.split, f"{image.key}{suffix}"))


def read_content(path: Path) -> bytes:
    """The content of a file; raises BrokenImage if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BrokenImage(f"cannot be read ({error.strerror})") from error


def read_picture(path: Path) -> Picture:
    """The picture in a file; raises BrokenImage. Decodes the whole file to detect damage."""
    with opened(path) as picture:
        width, height = _shown_size(picture)
        suffix = SHOWN_FORMATS.get(picture.format or "")
        if suffix:
            # Decoding at an eighth of the size detects a truncated file just as well, and is
            # faster.
            picture.draft(None, (1, 1))
            picture.load()
            return Picture(width, height, suffix, path.read_bytes())
        upright = ImageOps.exif_transpose(with_eight_bits(picture))
        if upright.mode not in PNG_MODES:
            upright = upright.convert("RGB")
            upright.info.pop("icc_profile", None)  # of other colours than these
        return Picture(width, height, ".png", _encoded(upright, "PNG"))


def read_original(path: Path, content: bytes) -> Picture:
    """The picture in an own file, with its content unchanged; raises BrokenImage.

    `content` is that of the file.
    """
    if content[4:12] in HEIC:
        raise BrokenImage("is a HEIC photograph; export it as JPEG, then import it")
    with opened(path, OWN_FORMATS) as picture:
        width, height = _shown_size(picture)
        picture.draft(None, (1, 1))
        picture.load()
        return Picture(width, height, OWN_FORMATS[picture.format or ""], content)


def read_size(path: Path) -> tuple[int, int]:
    """Width and height of a file as shown, in pixels, without decoding it; raises BrokenImage."""
    with opened(path) as picture:
        return _shown_size(picture)


def _shown_size(picture: PIL.Image.Image) -> tuple[int, int]:
    width, height = picture.size
    return (height, width) if picture.getexif().get(EXIF_ORIENTATION) in LYING else (width, height)


@contextmanager
def opened(
    path: Path, known: Iterable[str] = (*SHOWN_FORMATS, *CONVERTED_FORMATS)
) -> Iterator[PIL.Image.Image]:
    """Open an image file with Pillow; errors inside the block are raised as BrokenImage."""
    PIL.Image.init()
    PIL.Image.MAX_IMAGE_PIXELS = settings.IMAGE_MAX_PIXELS
    # Not every build of Pillow supports every format. Pillow opens MPO files as JPEG.
    formats = [name for name in known if name in PIL.Image.OPEN]
    try:
        with warnings.catch_warnings():
            # Pillow only warns about images with too many pixels. Refuse them.
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            warnings.simplefilter("ignore", UserWarning)
            with PIL.Image.open(path, formats=formats) as picture:
                if picture.format == "PPM" and picture.mode in NO_PPM_MODES:
                    raise BrokenImage("is not a PPM file but Pillow's variant; save it as PNG")
                _fit_clear_colour(picture)
                yield picture
    except PIL.UnidentifiedImageError as error:
        raise BrokenImage("is not an image in a supported format") from error
    except (PIL.Image.DecompressionBombWarning, PIL.Image.DecompressionBombError) as error:
        raise BrokenImage(
            f"has too many pixels (at most {settings.IMAGE_MAX_PIXELS:,} are allowed)"
        ) from error
    # On damaged files, Pillow's decoders raise many types of errors.
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


def _fit_clear_colour(picture: PIL.ImageFile.ImageFile) -> None:
    """Give the transparent colour eight bits where Pillow reads eight of the pixels' sixteen."""
    clear = picture.info.get("transparency")
    if isinstance(clear, tuple) and picture.tile and picture.tile[0].args == "RGB;16B":
        picture.info["transparency"] = tuple(value >> 8 for value in clear)


def with_eight_bits(picture: PIL.Image.Image) -> PIL.Image.Image:
    """A grey picture of 16 or 32 bits, or of floats, with eight bits; others unchanged.

    `convert` would clip the values, so that almost everything becomes white or black.
    """
    if picture.mode not in {"I", "F"} and not picture.mode.startswith("I;16"):
        return picture
    # Pillow converts I;16 to nothing but I. It scales the values of PGM files to 16 bits.
    deep = picture if picture.mode == "F" else picture.convert("I")
    has_16_bits = picture.mode.startswith("I;16") or picture.format == "PPM" and picture.mode == "I"
    if not has_16_bits:
        deep = _measured(deep, _no_data(picture))
    low, high = (0, 65_535) if has_16_bits else _range(deep)
    scale = 255 / (high - low)
    grey = deep.point(lambda value: value * scale - low * scale).convert("L")
    transparent = picture.info.get("transparency")
    if not has_16_bits or not isinstance(transparent, int):
        return grey
    opaque = deep.point([255 * (value != transparent) for value in range(65_536)], "L")
    return PIL.Image.merge("LA", (grey, opaque))


def _no_data(picture: PIL.Image.Image) -> float | None:
    """The value of pixels without a measurement, as GDAL notes it in TIFF files."""
    if not isinstance(picture, TiffImageFile):
        return None
    try:
        return float(picture.tag_v2.get(GDAL_NO_DATA, ""))
    except (TypeError, ValueError):
        return None


def _measured(picture: PIL.Image.Image, no_data: float | None) -> PIL.Image.Image:
    """A picture with 0 for each value that is missing, infinite or stands for no measurement, which
    would hide the others."""
    values = np.asarray(picture)
    known = np.isfinite(values) & (values > -EXTREME) & (values < EXTREME)
    if no_data is not None and abs(no_data) < EXTREME:
        known &= values != no_data
    return (
        picture
        if known.all()
        else PIL.Image.fromarray(np.where(known, values, values.dtype.type(0)))
    )


def _range(picture: PIL.Image.Image) -> tuple[float, float]:
    """The values to show as black and white, as the values in the picture suggest."""
    low, high = (float(edge) for edge in picture.getextrema())  # type: ignore[arg-type]
    if low == high == 0:
        return 0, 255
    for most in (1, 255) if picture.mode == "F" else (255,):
        # Below, nothing would be lighter than black.
        if low >= 0 and most / 255 <= high <= most:
            return 0, most
    return min(low, 0), max(high, 0)


def _encoded(picture: PIL.Image.Image, format_name: str) -> bytes:
    out = BytesIO()
    picture.save(out, format_name)
    return out.getvalue()
