"""Image files without their metadata."""

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


def test_what_follows_the_end_of_a_jpeg_file_is_dropped(tmp_path):
    path = saved(tmp_path / "a.jpg")
    path.write_bytes(path.read_bytes() + b"a film of " + SECRET)

    assert without_metadata(path).endswith(b"\xff\xd9")


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    path = saved(tmp_path / "a.jpg")
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(BrokenImage, match=r"a\.jpg is damaged"):
        without_metadata(path)


def test_a_format_without_exif_is_unchanged(tmp_path):
    path = tmp_path / "a.bmp"
    Picture.new("RGB", (4, 3), "teal").save(path)

    assert without_metadata(path) == path.read_bytes()
