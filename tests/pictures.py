"""Pictures for tests of files."""

import io
import struct
import zlib

from PIL import Image as Picture


def picture(size=(60, 40), mode="RGB"):
    """A picture whose left half is red and right half is blue."""
    found = Picture.new("RGB", size, "red")
    found.paste("blue", (size[0] // 2, 0, *size))
    return found.convert(mode)


def saved(found, format_name="JPEG", **options):
    out = io.BytesIO()
    found.save(out, format_name, **options)
    return out.getvalue()


def photograph(color="red", form="PNG", size=(6, 4)) -> bytes:
    return saved(Picture.new("RGB", size, color), form)


def exif(orientation):
    tags = Picture.Exif()
    tags[0x0112] = orientation
    return tags


def bomb():
    """A PNG that claims to be 30,000 pixels wide and high."""

    def chunk(name, body):
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(1000))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )
