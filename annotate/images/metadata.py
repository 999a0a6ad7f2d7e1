"""Remove metadata from image files: EXIF with place, time and camera, XMP, IPTC and comments.

The pixels of JPEG, PNG, WebP, GIF, BMP and PPM files stay as they are, byte by byte, and so do
colour profiles and the orientation. AVIF, JPEG 2000 and TIFF files are encoded again.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import ImageOps

from annotate.images.files import EXIF_ORIENTATION, BrokenImage, opened

# A marker. In compressed data, the byte FF is followed by 00 or a restart marker.
NEXT_MARKER = re.compile(rb"\xff+[^\x00\xd0-\xd7\xff]")
START_OF_SCAN, END_OF_IMAGE, COMMENT = 0xDA, 0xD9, 0xFE
APPLICATION_DATA = range(0xE0, 0xF0)
# Application data that say how to decode the pixels.
KEPT_IN_JPEG = ((0xE2, b"ICC_PROFILE\0"), (0xEE, b"Adobe"))
JFIF_DATA, JFIF = 0xE0, b"JFIF\0"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_END = struct.pack(">I4sI", 0, b"IEND", zlib.crc32(b"IEND"))
# Chunks that say how to show the pixels, beside those whose names begin with a capital letter.
KEPT_IN_PNG = {
    b"tRNS", b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB", b"cICP", b"mDCV", b"mDCv", b"cLLI",
    b"cLLi", b"bKGD", b"hIST", b"pHYs", b"sPLT", b"acTL", b"fcTL", b"fdAT",
}  # fmt: skip
KEPT_IN_WEBP = {b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP"}
# The flags of the chunk VP8X that announce EXIF and XMP.
WEBP_FLAGS = 0b0000_1100
GIF_EXTENSION, GIF_IMAGE, GIF_END = 0x21, 0x2C, 0x3B
GIF_TEXT, GIF_CONTROL, GIF_APPLICATION = 0x01, 0xF9, 0xFF
# How often an animation runs, and the colour profile.
KEPT_IN_GIF = (b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012")
# Two ways to compress pixels, and the sign of a colour profile in the file.
BMP_RLE8, BMP_RLE4, BMP_PROFILE = 1, 2, b"DEBM"
# Offsets in a BMP file, and the sizes of the oldest and the newest header after the first 14 bytes,
# from which the profile's place is counted.
BMP_HEADER, BMP_STARTS, BMP_SIZES, BMP_COLOUR_SPACE, BMP_PROFILE_PLACE = 14, 10, 18, 70, 126
BMP_OLDEST, BMP_NEWEST = 12, 124
ENCODED_AGAIN: dict[str, dict[str, Any]] = {
    ".avif": {"format": "AVIF", "quality": 95},
    ".jp2": {"format": "JPEG2000"},
    ".ppm": {"format": "PPM"},  # without compression, so the pixels stay as they are
    ".tif": {"format": "TIFF", "compression": "tiff_deflate"},
}


def without_metadata(path: Path) -> bytes:
    """The content of an image file without its metadata; raises BrokenImage."""
    suffix = path.suffix.lower()
    try:
        if suffix in ENCODED_AGAIN:
            return _encoded_again(path, suffix)
        content = path.read_bytes()
        return _oriented(content, path) or _others(content)
    except (BrokenImage, IndexError, ValueError, struct.error) as error:
        raise BrokenImage(f"{path.name} is damaged, so its metadata cannot be removed") from error


def _oriented(content: bytes, path: Path) -> bytes:
    """A file whose EXIF says how to turn it; empty for formats without EXIF."""
    if content.startswith(b"\xff\xd8"):
        return b"".join(_jpeg(content, _orientation(path)))
    if content.startswith(PNG_SIGNATURE):
        return b"".join(_png(content, _orientation(path)))
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return _webp(content, _orientation(path))
    return b""


def _others(content: bytes) -> bytes:
    if content.startswith((b"GIF87a", b"GIF89a")):
        return b"".join(_gif(content))
    if content.startswith(b"BM"):
        return _bmp(content)
    raise ValueError("the format is not known")


def _orientation(path: Path) -> int:
    with opened(path) as picture:
        return int(picture.getexif().get(EXIF_ORIENTATION, 1))


def _exif(orientation: int) -> bytes:
    """EXIF with the orientation alone; empty if the image is upright."""
    if not 1 < orientation <= 8:
        return b""
    entry = struct.pack(">HHIHH", EXIF_ORIENTATION, 3, 1, orientation, 0)
    return struct.pack(">2sHIH", b"MM", 42, 8, 1) + entry + bytes(4)


def _jpeg(content: bytes, orientation: int) -> Iterator[bytes]:
    """The parts of the JPEG file up to its end; what follows it, such as a film, is dropped."""
    yield content[:2]
    if exif := _exif(orientation):
        yield struct.pack(">HH6s", 0xFFE1, len(exif) + 8, b"Exif\0\0") + exif
    at = 2
    while True:
        at = _next_marker(content, at)
        marker = content[at + 1]
        if marker == END_OF_IMAGE:
            yield content[at : at + 2]
            return
        end = at + 2 + struct.unpack_from(">H", content, at + 2)[0]
        if marker == START_OF_SCAN:
            end = _next_marker(content, end)
        if content[at + 4 : end].startswith(JFIF) and marker == JFIF_DATA:
            # Version and density; not the small picture that may follow, perhaps of more than the
            # image shows.
            yield struct.pack(">BBH", 0xFF, marker, 16) + content[at + 4 : at + 16] + bytes(2)
        elif _is_kept(marker, content[at + 4 : at + 16]):
            yield content[at:end]
        at = end


def _next_marker(content: bytes, start: int) -> int:
    """The place of the next marker, after padding and stray bytes, or after compressed data."""
    marker = NEXT_MARKER.search(content, start)
    if marker is None:
        raise IndexError("the file ends without a marker")
    return marker.end() - 2


def _is_kept(marker: int, data: bytes) -> bool:
    if marker in APPLICATION_DATA:
        return any(marker == kept and data.startswith(name) for kept, name in KEPT_IN_JPEG)
    return marker != COMMENT


def _png(content: bytes, orientation: int) -> Iterator[bytes]:
    yield PNG_SIGNATURE
    at = len(PNG_SIGNATURE)
    name = b""
    while name != b"IEND":
        if at == len(content):  # readers do without the last chunk
            content += PNG_END
        size, name = struct.unpack_from(">I4s", content, at)
        end = at + size + 12
        if name[:1].isupper() or name in KEPT_IN_PNG:
            yield content[at:end]
        if name == b"IHDR" and (exif := _exif(orientation)):
            checksum = zlib.crc32(b"eXIf" + exif)
            yield struct.pack(">I4s", len(exif), b"eXIf") + exif + struct.pack(">I", checksum)
        at = end


def _webp(content: bytes, orientation: int) -> bytes:
    exif = _exif(orientation)
    end = 8 + struct.unpack_from("<I", content, 4)[0]
    chunks = b"".join(_webp_chunks(content[12:end], has_exif=bool(exif)))
    if exif:
        chunks += struct.pack("<4sI", b"EXIF", len(exif)) + exif  # of even length
    return struct.pack("<4sI4s", b"RIFF", 4 + len(chunks), b"WEBP") + chunks


def _webp_chunks(content: bytes, *, has_exif: bool) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        name, size = struct.unpack_from("<4sI", content, at)
        end = at + 8 + size + size % 2
        chunk = content[at:end]
        if name == b"VP8X":
            flags = chunk[8] & ~WEBP_FLAGS | (0b1000 if has_exif else 0)
            chunk = chunk[:8] + bytes([flags]) + chunk[9:]
        if name in KEPT_IN_WEBP:
            yield chunk
        at = end


def _gif(content: bytes) -> Iterator[bytes]:
    """The blocks of the GIF file up to its end, without texts and what other programs added."""
    at = 13 + _colours(content[10])
    yield content[:at]
    # What says how to show the next image, and belongs to a text if one follows.
    control = b""
    while at < len(content) and content[at] != GIF_END:
        start, is_image = at, content[at] == GIF_IMAGE
        if not is_image and content[at] != GIF_EXTENSION:
            at += 1  # a stray byte, as readers take it
            continue
        at += 10 + _colours(content[at + 9]) + 1 if is_image else 2
        while content[at]:
            at += content[at] + 1
        at += 1
        block = content[start:at]
        if is_image:
            yield control + block
            control = b""
        elif block[1] == GIF_CONTROL:
            control = block
        elif block[1] == GIF_TEXT:
            control = b""
        elif block[1] == GIF_APPLICATION and block[3:14] in KEPT_IN_GIF:
            yield block
    yield bytes([GIF_END])


def _colours(flags: int) -> int:
    """The size of the table of colours that these flags announce."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _bmp(content: bytes) -> bytes:
    """The file up to the end of its pixels and of a colour profile that it contains."""
    start, header = struct.unpack_from("<II", content, BMP_STARTS)
    if header == BMP_OLDEST:
        width, height, _planes, bits = struct.unpack_from("<HHHH", content, BMP_SIZES)
        compression = size = 0
    else:
        fields = struct.unpack_from("<iiHHII", content, BMP_SIZES)
        width, height, _planes, bits, compression, size = fields
    if compression not in (BMP_RLE8, BMP_RLE4):
        size = (width * bits + 31) // 32 * 4 * abs(height)
    end = start + size
    colour_space = content[BMP_COLOUR_SPACE : BMP_COLOUR_SPACE + len(BMP_PROFILE)]
    if header >= BMP_NEWEST and colour_space == BMP_PROFILE:
        place, length = struct.unpack_from("<II", content, BMP_PROFILE_PLACE)
        end = max(end, BMP_HEADER + place + length)
    if len(content) < end:
        raise ValueError("the pixels end early")
    return content[:end]


def _encoded_again(path: Path, suffix: str) -> bytes:
    out = BytesIO()
    with opened(path) as picture:
        profile = picture.info.get("icc_profile")
        upright = ImageOps.exif_transpose(picture).copy()
        if suffix == ".jp2" and upright.mode in ("P", "PA"):  # Pillow reads but does not write them
            upright = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
        upright.info = {}
        upright.save(out, **ENCODED_AGAIN[suffix], **({"icc_profile": profile} if profile else {}))
    return out.getvalue()
