"""Copies of image files for pages and workers."""

import io
import math
import re
import struct
import threading
import zlib
from contextlib import suppress
from itertools import chain
from pathlib import Path

import pytest
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image as Picture
from PIL import ImageCms
from PIL.PngImagePlugin import PngInfo

from annotate.images import copies as image_copies
from annotate.images import files as image_files
from annotate.images.copies import copy_storage
from annotate.images.files import BrokenImage
from annotate.tasks import make_copies
from tests.factories import ImageFactory, UserFactory
from tests.pictures import bomb, exif, picture, saved

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

PLACE = "52 deg 30' N"


@pytest.fixture
def put():
    """Store a file as an image's; return the image."""

    def put_file(content, *, name="images/validation/0001.jpg", **fields):
        image = ImageFactory(**{"key": "0001", "split": "validation", "file": name, **fields})
        path = image_files.file_path(image)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return image

    return put_file


def path_of(image, size):
    return Path(copy_storage().path(image_copies.copy_name(image, size)))


def copy_of(image, size="copies"):
    image_copies.make_copies(image)
    found = Picture.open(path_of(image, size))
    found.load()
    return found


def fetch(client, url):
    answer = client.get(url)
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return answer, content


def test_a_page_shows_a_copy_of_the_file_or_else_the_address():
    here = ImageFactory(key="0001", file="images/validation/0001.jpg")
    there = ImageFactory(key="0002", url="https://images.example/0002.jpg")
    nowhere = ImageFactory(key="0003", url="")

    for find, size in (
        (image_copies.display_url, "copies"),
        (image_copies.thumbnail_url, "thumbnails"),
    ):
        assert re.fullmatch(rf"/media/{size}/{here.pk}-[0-9a-f]{{32}}\.jpg", find(here))
        assert find(there) == "https://images.example/0002.jpg"
        assert find(nowhere) == ""
    assert image_files.original_url(here) == "/media/images/validation/0001.jpg"
    assert image_files.original_url(there) == "https://images.example/0002.jpg"


def test_a_worker_gets_a_copy_that_is_made_when_it_is_first_asked_for(put, client):
    image = put(saved(picture((4000, 2700)), quality=95))
    assert image_copies.missing_copies(image) == ["copies", "middle", "thumbnails"]

    answer, content = fetch(client, image_copies.display_url(image))

    assert (answer.status_code, answer["Content-Type"]) == (200, "image/jpeg")
    assert "public" in answer["Cache-Control"]
    assert Picture.open(io.BytesIO(content)).size == (1600, 1080)
    assert image_copies.missing_copies(image) == []
    made = path_of(image, "copies").stat().st_mtime_ns
    assert fetch(client, image_copies.display_url(image))[1] == content
    assert path_of(image, "copies").stat().st_mtime_ns == made
    again = client.get(image_copies.display_url(image), headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_browser_with_a_small_screen_is_offered_a_smaller_copy(put, client):
    image = put(saved(picture((4000, 2700))), width=4000, height=2700)

    offered = image_copies.display_srcset(image).split(", ")

    sizes = []
    for address, width in (each.split() for each in offered):
        _, content = fetch(client, address)
        sizes.append(Picture.open(io.BytesIO(content)).size)
        assert width == f"{sizes[-1][0]}w"
    assert sizes == [(800, 540), (1600, 1080)]


@pytest.mark.parametrize(
    "fields", [{"width": 700, "height": 500}, {"width": None, "height": None}, {"file": ""}]
)
def test_an_image_without_a_smaller_copy_offers_none(fields):
    image = ImageFactory(**{"file": "images/validation/0001.jpg", "width": 4000, **fields})

    assert image_copies.display_srcset(image) == ""


def test_the_original_is_for_the_signed_in_alone(put, client):
    image = put(saved(picture()))
    url = image_files.original_url(image)

    refused = client.get(url)
    client.force_login(UserFactory())
    _, content = fetch(client, url)

    assert refused.status_code == 302
    assert refused.url.startswith("/sign-in/")
    assert content == image_files.file_path(image).read_bytes()


def test_copies_are_found_by_nobody_who_was_not_given_their_address(put, client):
    image, other = put(saved(picture())), put(saved(picture()), key="0002")
    code, others = image_copies.code_of(image), image_copies.code_of(other)

    def status(size, pk, code):
        return fetch(client, reverse("image-copy", args=[size, pk, code]))[0].status_code

    assert status("copies", image.pk, code) == 200
    assert status("copies", image.pk, others) == 404
    assert status("copies", other.pk, code) == 404
    assert status("copies", image.pk, code[:-1]) == 404
    assert status("originals", image.pk, code) == 404
    assert status("copies", 10**9, code) == 404
    assert client.get("/media/copies/validation/0001.jpg").status_code == 302


def test_nothing_of_the_originals_metadata_is_in_a_copy(put):
    tags = exif(6)
    tags[0x010F], tags[0x013B] = "Camera Maker", "Anna"
    tags.get_ifd(0x8825)[1] = PLACE
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    jpeg = put(
        saved(
            picture((60, 40)),
            exif=tags,
            comment=b"made at home",
            xmp=b"<x:xmpmeta>home</x:xmpmeta>",
            icc_profile=profile,
        )
    )
    text = PngInfo()
    text.add_text("Author", "Anna")
    png = put(
        saved(picture(), "PNG", pnginfo=text, exif=tags),
        name="images/validation/0002.png",
        key="0002",
    )
    webp = put(
        saved(picture(), "WEBP", exif=tags, xmp=b"home", icc_profile=profile),
        name="images/validation/0003.webp",
        key="0003",
    )

    for image in (jpeg, png, webp):
        for size in image_copies.SIZES:
            copy = copy_of(image, size)
            content = path_of(image, size).read_bytes()
            assert copy.format == "JPEG"
            assert set(copy.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"} | {
                "progressive",
                "progression",
            }
            assert not dict(copy.getexif())
            for secret in (b"Exif", b"home", b"Anna", b"Camera", b"ICC_PROFILE", PLACE.encode()):
                assert secret not in content


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_copy_stands_upright(put, orientation):
    upright = Picture.new("RGB", (90, 60), "red")
    upright.paste("blue", (0, 30, 90, 60))
    upright.paste("white", (0, 0, 45, 30))
    turns = {
        2: Picture.Transpose.FLIP_LEFT_RIGHT,
        3: Picture.Transpose.ROTATE_180,
        4: Picture.Transpose.FLIP_TOP_BOTTOM,
        5: Picture.Transpose.TRANSPOSE,
        6: Picture.Transpose.ROTATE_90,
        7: Picture.Transpose.TRANSVERSE,
        8: Picture.Transpose.ROTATE_270,
    }
    stored = upright.transpose(turns[orientation]) if orientation in turns else upright
    image = put(saved(stored, exif=exif(orientation), quality=100, subsampling=0))

    copy = copy_of(image)

    assert copy.size == (90, 60)
    assert min(copy.getpixel((10, 10))) > 240
    assert copy.getpixel((80, 10))[0] > 200 > 60 > copy.getpixel((80, 10))[2]
    assert copy.getpixel((10, 50))[2] > 200 > 60 > copy.getpixel((10, 50))[0]


def test_a_lying_photograph_is_as_large_as_a_standing_one(put):
    image = put(saved(picture((4000, 3000)), exif=exif(6)))

    assert copy_of(image).size == (1200, 1600)
    assert copy_of(image, "thumbnails").size == (400, 533)


def test_a_small_image_stays_as_it_is_and_white_where_it_is_clear(put):
    image = put(
        saved(Picture.new("RGBA", (50, 30), (0, 0, 0, 0)), "PNG"), name="images/validation/1.png"
    )

    for size in image_copies.SIZES:
        copy = copy_of(image, size)
        assert copy.size == (50, 30)
        assert min(copy.getpixel((5, 5))) > 250


def deep(mode, highest):
    """A grey picture with more than eight bits, from black on the left to white on the right."""
    grey = Picture.linear_gradient("L").rotate(90)
    scale = highest / 255
    picture = grey.convert("F" if mode == "F" else "I").point(lambda value: value * scale)
    return picture if mode in {"F", "I"} else picture.convert(mode)


def has_its_shades(copy):
    """Whether the copy of a `deep` picture is black, grey and white where the picture is."""
    return all(abs(copy.getpixel((column, 128)) - column) < 6 for column in (2, 128, 253))


@pytest.mark.parametrize(
    ("format_name", "mode", "highest"),
    [
        ("PPM", "I", 65_535),
        ("TIFF", "I;16", 65_535),
        ("TIFF", "I", 2**31 - 256),
        ("TIFF", "I", 65_535),
        ("TIFF", "I", 255),
        ("TIFF", "F", 1),
        ("TIFF", "F", 255),
        ("TIFF", "F", 1e6),
        ("TIFF", "F", 1e-4),
        ("PNG", "I;16", 65_535),
    ],
)
def test_a_picture_with_more_than_eight_bits_is_neither_white_nor_black(
    put, tmp_path, format_name, mode, highest
):
    content = saved(deep(mode, highest), format_name)
    path = tmp_path / "picture"
    path.write_bytes(content)
    imported = image_files.read_picture(path)

    own = put(content, name=f"images/validation/1.{format_name.lower()}")
    other = put(imported.content, name="images/validation/2.png", key="0002")

    for image in (own, other):
        copy = copy_of(image).convert("L")
        assert has_its_shades(copy)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, -3.4028234663852886e38, -3.40282306074e38, 9.96921e36]
)
def test_a_value_that_is_missing_does_not_hide_the_others(put, value):
    picture = deep("F", 1)
    picture.putpixel((0, 0), value)

    copy = copy_of(put(saved(picture, "TIFF"), name="images/validation/1.tif")).convert("L")

    assert has_its_shades(copy)


@pytest.mark.parametrize("mode", ["F", "I"])
def test_the_value_of_no_data_in_a_tiff_file_does_not_hide_the_others(put, mode):
    picture = deep(mode, 255)
    picture.putpixel((0, 0), -9999)
    content = saved(picture, "TIFF", tiffinfo={42_113: "-9999"})

    copy = copy_of(put(content, name="images/validation/1.tif")).convert("L")

    assert has_its_shades(copy)


@pytest.mark.parametrize("noted", ["none", "nan", "1e999"])
def test_a_note_of_no_data_that_is_no_number_is_ignored(put, noted):
    content = saved(deep("F", 1), "TIFF", tiffinfo={42_113: noted})

    copy = copy_of(put(content, name="images/validation/1.tif")).convert("L")

    assert has_its_shades(copy)


def test_transparent_pixels_of_a_16_bit_picture_become_white(put):
    content = saved(deep("I;16", 65_535), "PNG", transparency=0)

    copy = copy_of(put(content, name="images/validation/1.png")).convert("L")

    shades = [copy.getpixel((column, 128)) for column in (0, 20, 128, 253)]
    assert shades[0] > 200
    assert all(
        abs(shade - wanted) < 12 for shade, wanted in zip(shades[1:], (20, 128, 253), strict=True)
    )


def png_of_16_bits(rows, clear):
    """A PNG file of 16-bit colours, of which one is transparent. Pillow writes none."""

    def chunk(name, data):
        checksum = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 16, 2, 0, 0, 0)
    pixels = b"".join(b"\0" + struct.pack(f">{3 * len(row)}H", *chain(*row)) for row in rows)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (
            chunk(b"IHDR", header),
            chunk(b"tRNS", struct.pack(">HHH", *clear)),
            chunk(b"IDAT", zlib.compress(pixels)),
            chunk(b"IEND", b""),
        )
    )


def test_the_clear_colour_of_a_picture_of_16_bit_colours_becomes_white(put):
    clear, other = (5_000, 100, 30), (100, 100, 30)
    content = png_of_16_bits([[clear] * 20 + [other] * 20] * 40, clear)

    copy = copy_of(put(content, name="images/validation/1.png"))

    assert min(copy.getpixel((4, 20))) > 240
    assert max(copy.getpixel((35, 20))) < 15


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16"])
def test_pictures_of_every_mode_have_a_copy(put, mode):
    if mode == "I;16":
        stored = Picture.new("I;16", (60, 40), 0x9999)
    else:
        stored = Picture.new("RGB", (60, 40), (153, 153, 153)).convert(mode.replace("PA", "P"))
    image = put(saved(stored, "PNG"), name="images/validation/1.png")

    copy = copy_of(image)

    assert (copy.mode, copy.size) == ("RGB", (60, 40))
    if mode not in {"1"}:
        assert all(abs(value - 153) < 12 for value in copy.getpixel((30, 20)))


def test_cmyk_and_profiles_come_out_in_srgb(put):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    cmyk = put(saved(picture().convert("CMYK")))
    broken = put(saved(picture(), icc_profile=b"not a profile"), key="0002")
    other = put(saved(picture(), icc_profile=profile), key="0003")

    for image in (cmyk, broken, other):
        copy = copy_of(image)
        assert copy.mode == "RGB"
        assert copy.getpixel((5, 5))[0] > 180
        assert copy.getpixel((55, 5))[2] > 180


def wide_gamut() -> bytes:
    """A matrix profile with a larger gamut than sRGB: its red primary is further out."""
    content = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, green = (content.index(tag, 128) for tag in (b"rXYZ", b"gXYZ"))
    place = int.from_bytes(content[red + 4 : red + 8], "big")
    other = int.from_bytes(content[green + 4 : green + 8], "big")
    content[place : place + 20], content[other : other + 20] = (
        content[other : other + 20],
        content[place : place + 20],
    )
    return bytes(content)


def test_colours_are_converted_by_the_profile(put):
    """The profile swaps red and green, so red pixels must become green."""
    image = put(saved(picture(), icc_profile=wide_gamut(), quality=95))

    red, green, _ = copy_of(image).getpixel((5, 5))

    assert green > 200 > 100 > red


@pytest.mark.parametrize(
    "content", [b"", b"not an image", bomb(), saved(picture((600, 400)))[:900]]
)
def test_a_file_that_cannot_be_shown_is_not_found_and_leaves_no_copy(put, client, content, caplog):
    image = put(content, name="images/validation/0001.png")

    answer = client.get(image_copies.display_url(image))

    assert answer.status_code == 404
    assert "No copy of the image 0001" in caplog.text
    assert image_copies.missing_copies(image) == ["copies", "middle", "thumbnails"]
    with pytest.raises(BrokenImage):
        image_copies.make_copies(image)


@given(
    st.sampled_from(["JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP"]),
    st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=6), st.booleans()), max_size=5),
    st.floats(0.1, 1),
)
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
def test_no_file_brings_down_what_reads_images(put, tmp_path, format_name, changes, kept):
    content = saved(picture(), format_name, exif=exif(6))
    for where, what, is_inserted in changes:
        at = round(where * len(content))
        content = content[:at] + what + content[at if is_inserted else at + len(what) :]
    path = tmp_path / "file"
    path.write_bytes(content[: round(kept * len(content))])

    with suppress(BrokenImage):
        image_files.read_size(path)
    with suppress(BrokenImage):
        image_files.read_picture(path)
    with suppress(BrokenImage):
        for copy in image_copies._copies_of(path, list(image_copies.SIZES)).values():
            assert Picture.open(io.BytesIO(copy)).format == "JPEG"


def test_copies_that_are_missing_are_made_in_the_background_and_one_that_fails_stops_no_other(
    put, caplog
):
    gone = ImageFactory(key="0000", file="images/validation/0000.jpg")
    first, second = (put(saved(picture()), key=key) for key in ("0001", "0002"))
    image_copies.make_copies(first)

    made = make_copies()

    assert made == 1
    assert image_copies.missing_copies(second) == []
    assert f"No copy of the image {gone.key}" in caplog.text
    assert make_copies() == 0


@pytest.mark.django_db(transaction=True)
def test_two_browsers_that_ask_at_once_wait_for_one_copy(put, monkeypatch):
    image = put(saved(picture()))
    making, decoded = threading.Event(), []
    opened = image_copies.opened

    def slowly(path):
        decoded.append(path)
        making.set()
        return opened(path)

    monkeypatch.setattr(image_copies, "opened", slowly)
    with image_copies._making:
        threads = [
            threading.Thread(target=image_copies.make_copies, args=[image]) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        assert not making.wait(0.05)
    for thread in threads:
        thread.join()

    assert len(decoded) == 1
    assert image_copies.missing_copies(image) == []
