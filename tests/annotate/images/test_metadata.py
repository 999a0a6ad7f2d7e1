"""Image files without their metadata."""

import struct
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Picture
from PIL import ImageChops, ImageOps
from PIL.PngImagePlugin import PngInfo

from annotate.images.files import BrokenImage
from annotate.images.metadata import without_metadata

ORIENTATION, PLACE, CAMERA = 0x0112, 0x8825, 0x010F
SECRET = b"a secret garden"


def exif(orientation: int) -> Picture.Exif:
    found = Picture.Exif()
    found[ORIENTATION], found[CAMERA] = orientation, SECRET.decode()
    found.get_ifd(PLACE).update({1: "N", 2: (52.0, 30.0, 0.0)})
    return found


def saved(path: Path, orientation: int = 1, **options: object) -> Path:
    picture = Picture.radial_gradient("L").resize((64, 48)).convert("RGB")
    picture.save(path, exif=exif(orientation), **options)
    assert SECRET in path.read_bytes()
    return path


def shown(content: bytes | Path) -> Picture.Image:
    with Picture.open(BytesIO(content) if isinstance(content, bytes) else content) as picture:
        return ImageOps.exif_transpose(picture)


@pytest.mark.parametrize("orientation", [1, 6])
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".tif", ".jp2", ".avif"])
def test_metadata_is_removed_and_the_image_looks_the_same(tmp_path, suffix, orientation):
    if suffix == ".jp2":
        path = tmp_path / "a.jp2"
        Picture.radial_gradient("L").convert("RGB").save(path, comment=SECRET)
    else:
        path = saved(tmp_path / f"a{suffix}", orientation)

    content = without_metadata(path)

    assert SECRET not in content
    found = Picture.open(BytesIO(content)).getexif()
    assert CAMERA not in found
    assert not found.get_ifd(PLACE)
    difference = ImageChops.difference(shown(content).convert("RGB"), shown(path).convert("RGB"))
    most = max(high for _, high in difference.getextrema())
    assert most <= (8 if suffix == ".avif" else 0)


def test_a_jpeg_2000_image_with_a_palette_keeps_its_colours(tmp_path):
    def box(name, data):
        return struct.pack(">I4s", 8 + len(data), name) + data

    path = tmp_path / "a.jp2"
    Picture.linear_gradient("L").resize((8, 8)).point(lambda grey: grey > 127).save(path)
    content = path.read_bytes()
    start = content.index(b"jp2h") - 4
    end = start + int.from_bytes(content[start : start + 4])
    # Pillow writes no palettes: one of red and blue, for a file in sRGB (16), not in grey (17).
    colour = content[start + 8 : end].replace(struct.pack(">I", 17), struct.pack(">I", 16))
    palette = struct.pack(">HB3B", 2, 3, 7, 7, 7) + b"\xff\0\0" + b"\0\0\xff"
    mapping = b"".join(struct.pack(">HBB", 0, 1, channel) for channel in range(3))
    header = box(b"jp2h", colour + box(b"pclr", palette) + box(b"cmap", mapping))
    path.write_bytes(content[:start] + header + content[end:])

    found = shown(without_metadata(path))

    assert [found.getpixel((0, y)) for y in (0, 7)] == [(255, 0, 0), (0, 0, 255)]


def test_comments_and_texts_are_removed_and_the_colour_profile_is_kept(tmp_path):
    profile = b"a profile of colours"
    texts = PngInfo()
    texts.add_text("Author", SECRET.decode())
    jpeg = saved(tmp_path / "a.jpg", comment=SECRET, icc_profile=profile, progressive=True)
    png = saved(tmp_path / "a.png", pnginfo=texts, icc_profile=profile)
    webp = saved(tmp_path / "a.webp", icc_profile=profile, xmp=SECRET)

    for path in (jpeg, png, webp):
        content = without_metadata(path)
        assert SECRET not in content
        assert Picture.open(BytesIO(content)).info["icc_profile"] == profile


def test_bytes_after_the_end_of_a_jpeg_file_are_dropped(tmp_path):
    path = saved(tmp_path / "a.jpg")
    path.write_bytes(path.read_bytes() + b"a film of " + SECRET)

    assert without_metadata(path).endswith(b"\xff\xd9")


def test_the_small_picture_in_the_header_of_a_jpeg_file_is_removed(tmp_path):
    """It may show more than the image does. The density stays."""
    path = tmp_path / "a.jpg"
    Picture.new("RGB", (8, 8)).save(path, dpi=(72, 96))
    content, small = path.read_bytes(), bytes(range(100, 112))
    assert content[2:6] == struct.pack(">BBH", 0xFF, 0xE0, 16)
    header = content[6:18] + bytes([2, 2]) + small
    mark = struct.pack(">BBH", 0xFF, 0xE0, 2 + len(header))
    path.write_bytes(content[:2] + mark + header + content[20:])

    assert without_metadata(path) == content


@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_a_file_that_is_cut_off_is_refused(tmp_path, suffix):
    path = saved(tmp_path / f"a.{suffix}")
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(BrokenImage, match=rf"a\.{suffix} is damaged"):
        without_metadata(path)


@pytest.mark.parametrize("suffix", ["jpg", "png", "gif"])
def test_a_file_that_is_shown_despite_stray_bytes_or_no_end_is_mended(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    Picture.radial_gradient("L").save(path, comment=SECRET)
    content = path.read_bytes()
    if suffix == "jpg":  # before the tables of quantization
        changed = content.replace(b"\xff\xdb", b"\0\0" + SECRET + b"\xff\xdb", 1)
    else:
        changed = content[:-12] if suffix == "png" else content[:-1] + b"\0\0"
    path.write_bytes(changed)

    found = without_metadata(path)

    assert SECRET not in found
    assert found.endswith(content[-12:] if suffix == "png" else content[-1:])
    assert shown(found).convert("RGB").tobytes() == shown(path).convert("RGB").tobytes()


def added_to_gif(content: bytes) -> bytes:
    """The GIF file with comments, a text, a program's data, and something after its end."""
    blocks = [
        b"\x21\xfe" + bytes([len(SECRET)]) + SECRET + b"\0",
        b"\x21\xf9\x04\0\0\0\0\0",
        b"\x21\x01\x0c" + bytes(12) + bytes([len(SECRET)]) + SECRET + b"\0",
        b"\x21\xff\x0bXMP DataXMP" + bytes([len(SECRET)]) + SECRET + b"\0",
    ]
    at = 13 + 3 * 2 ** ((content[10] & 7) + 1)
    return content[:at] + b"".join(blocks) + content[at:-1] + blocks[0] + b";" + SECRET


def test_comments_are_removed_from_an_animation_that_moves_as_before(tmp_path):
    path = tmp_path / "a.gif"
    frames = [Picture.radial_gradient("L").resize((60, 40)).rotate(9 * n) for n in range(3)]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=[70, 80, 90], loop=3)
    path.write_bytes(added_to_gif(path.read_bytes()))

    content = without_metadata(path)

    assert SECRET not in content
    with Picture.open(path) as before, Picture.open(BytesIO(content)) as after:
        assert after.n_frames == before.n_frames == 3
        assert after.info["loop"] == 3
        for number in range(3):
            before.seek(number)
            after.seek(number)
            assert after.info["duration"] == before.info["duration"]
            assert after.convert("RGB").tobytes() == before.convert("RGB").tobytes()


PPM_FILES = {
    "P1": b"P1 # a secret garden\n3#a secret garden\n 2\n101 # a secret garden\n010",
    "P2": b"P2\n# a secret garden\n2 2 255\n1 2 # a secret garden\n3 4\n5 a secret garden",
    "P3": b"P3 1 2 15 1 2 3 #a secret garden\n4 5 6 # a secret garden",
    "P4": b"P4\n#a secret garden\n9 2\n\x01\x80\x23\x00a secret garden",
    "P5": b"P5 2 2 #a secret garden\n255\n#12\na secret garden",
    "P5, 16 bits": b"P5\n# a secret garden\n2 1\n65535\n\x01\x23\x02\x23# a secret garden",
    "P6": b"P6\n1 1\n# a secret garden\n255\n#\n\x03a secret garden",
    "Pf": b"Pf\n1 1\n-1.0\n\0\0\x80\x3fa secret garden",
}


@pytest.mark.parametrize("content", PPM_FILES.values(), ids=PPM_FILES)
def test_comments_and_what_follows_are_removed_from_ppm_files(tmp_path, content):
    path = tmp_path / "a.ppm"
    path.write_bytes(content)

    found = without_metadata(path)

    assert SECRET not in found
    with Picture.open(path) as before, Picture.open(BytesIO(found)) as after:
        assert (after.mode, after.size) == (before.mode, before.size)
        assert after.tobytes() == before.tobytes()


@pytest.mark.parametrize("suffix", ["gif", "ppm"])
def test_a_gif_or_ppm_file_that_is_cut_off_is_refused(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    Picture.radial_gradient("L").save(path)
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(BrokenImage, match=rf"a\.{suffix} is damaged"):
        without_metadata(path)


def test_a_format_without_exif_is_unchanged(tmp_path):
    path = tmp_path / "a.bmp"
    Picture.new("RGB", (4, 3), "teal").save(path)

    assert without_metadata(path) == path.read_bytes()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
def test_bytes_after_the_pixels_of_a_bmp_file_are_dropped(tmp_path, mode):
    path = tmp_path / "a.bmp"
    Picture.radial_gradient("L").resize((31, 7)).convert(mode).save(path)
    before = path.read_bytes()
    path.write_bytes(before + SECRET)

    assert without_metadata(path) == before


def test_a_bmp_file_keeps_its_colour_profile_and_loses_the_name_of_one(tmp_path):
    """A profile in a header of version 5, and the path of one on the photographer's disk."""
    path, profile, pixels = tmp_path / "a.bmp", b"a profile of colours", bytes(4 * 2)
    sizes = struct.pack("<IiiHHIIiiII", 124, 1, -2, 1, 24, 0, 0, 0, 0, 0, 0)
    for kind, found in ((b"DEBM", True), (b"KNIL", False)):
        header = sizes + bytes(16) + kind + bytes(52)
        header += struct.pack("<II", 124 + len(pixels), len(profile)) + bytes(4)
        start = struct.pack("<2sIII", b"BM", 0, 0, 14 + len(header))
        path.write_bytes(start + header + pixels + profile + SECRET)

        content = without_metadata(path)

        assert content.endswith(profile if found else pixels)
        assert SECRET not in content
        assert shown(content).size == (1, 2)


def test_a_bmp_file_that_is_cut_off_is_refused(tmp_path):
    path = tmp_path / "a.bmp"
    Picture.radial_gradient("L").save(path)
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(BrokenImage, match=r"a\.bmp is damaged"):
        without_metadata(path)


def test_chunks_that_nobody_knows_are_removed(tmp_path):
    """Such as the credentials that cameras and editors sign, with the author's name."""
    png, webp = saved(tmp_path / "a.png"), saved(tmp_path / "a.webp")
    chunk = b"caBX" + SECRET
    content = png.read_bytes()
    png.write_bytes(
        content[:33]
        + struct.pack(">I", len(SECRET)) + chunk + struct.pack(">I", zlib.crc32(chunk))
        + content[33:]
    )  # fmt: skip
    content = webp.read_bytes()
    added = content[12:] + struct.pack("<4sI", b"C2PA", len(SECRET)) + SECRET + b"\0"
    webp.write_bytes(struct.pack("<4sI4s", b"RIFF", 4 + len(added), b"WEBP") + added)

    for path in (png, webp):
        content = without_metadata(path)
        assert SECRET not in content
        assert shown(content).tobytes() == shown(path).tobytes()
