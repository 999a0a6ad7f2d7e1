"""Importing image files, including broken ones."""

import io

import pytest
from django.core.management import call_command
from PIL import Image as Picture

from annotate.images import copies as image_copies
from annotate.images import files as image_files
from annotate.images.files import BrokenImage
from annotate.services import images
from annotate.tasks import make_copies
from corpora.errors import DomainError
from tests.factories import ImageFactory
from tests.pictures import bomb, exif, picture

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "files"
    path.mkdir()
    return path


def import_one(folder, image):
    counts = images.import_files(folder=folder, split=image.split)
    image.refresh_from_db()
    return counts


def test_a_file_is_copied_and_its_size_is_noted(folder):
    image = ImageFactory(key="0001", width=None, height=None)
    picture().save(folder / "0001.jpg")
    original = (folder / "0001.jpg").read_bytes()

    counts = import_one(folder, image)

    assert (counts.new, counts.broken) == (1, [])
    assert (image.file, image.width, image.height) == ("images/validation/0001.jpg", 60, 40)
    assert image_files.file_path(image).read_bytes() == original
    assert (folder / "0001.jpg").read_bytes() == original


@pytest.mark.parametrize(
    ("orientation", "size"),
    [(1, (60, 40)), (3, (60, 40)), (5, (40, 60)), (6, (40, 60)), (7, (40, 60)), (8, (40, 60))],
)
def test_the_size_is_the_one_shown(folder, orientation, size):
    image = ImageFactory(key="0001")
    picture().save(folder / "0001.jpg", exif=exif(orientation))

    import_one(folder, image)

    assert (image.width, image.height) == size


@pytest.mark.parametrize(
    ("suffix", "mode", "kept"),
    [
        (".png", "RGBA", ".png"),
        (".gif", "P", ".gif"),
        (".webp", "RGB", ".webp"),
        (".JPEG", "CMYK", ".jpg"),
        (".tif", "RGB", ".png"),
        (".tif", "CMYK", ".png"),
        (".tif", "YCbCr", ".png"),
        (".bmp", "RGB", ".png"),
        (".ppm", "RGB", ".png"),
    ],
)
def test_every_format_is_kept_as_one_that_browsers_show(folder, suffix, mode, kept):
    image = ImageFactory(key="0001")
    picture(mode=mode).save(folder / f"0001{suffix}")

    import_one(folder, image)

    assert image.file == f"images/validation/0001{kept}"
    with Picture.open(image_files.file_path(image)) as copy:
        assert copy.size == (60, 40)


def test_the_suffix_says_what_the_file_is_and_not_what_it_was_called(folder):
    image = ImageFactory(key="0001")
    picture().save(folder / "0001.html", "PNG")

    import_one(folder, image)

    assert image.file == "images/validation/0001.png"


def test_a_second_run_changes_nothing(folder):
    jpeg, tiff = ImageFactory(key="0001"), ImageFactory(key="0002")
    picture().save(folder / "0001.jpg")
    picture().save(folder / "0002.tif")
    import_one(folder, jpeg)

    counts = import_one(folder, tiff)

    assert (counts.new, counts.changed, counts.unchanged) == (0, 0, 2)


def test_a_file_that_changed_replaces_its_predecessor_and_the_copies(folder):
    image = ImageFactory(key="0001")
    picture().save(folder / "0001.png")
    import_one(folder, image)
    image_copies.make_copies(image)
    picture((80, 40)).save(folder / "0001.png")

    counts = import_one(folder, image)

    assert (counts.changed, image.width) == (1, 80)
    assert image_copies.missing_copies(image) == ["copies", "middle", "thumbnails"]


def test_files_may_lie_in_folders_of_the_folder(folder):
    image = ImageFactory(key="0001")
    (folder / "validation").mkdir()
    picture().save(folder / "validation" / "0001.png")

    assert import_one(folder, image).new == 1


def test_a_broken_file_is_listed_and_the_rest_continues(folder):
    broken, sound = ImageFactory(key="0001", width=None), ImageFactory(key="0002")
    picture((300, 300)).save(folder / "0001.jpg")
    whole = (folder / "0001.jpg").read_bytes()
    (folder / "0001.jpg").write_bytes(whole[: len(whole) // 2])
    picture().save(folder / "0002.jpg")

    counts = import_one(folder, sound)

    broken.refresh_from_db()
    assert counts.new == 1
    assert [one.name for one in counts.broken] == ["0001.jpg"]
    assert counts.broken[0].reason.startswith("is damaged")
    assert (broken.file, broken.width) == ("", None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not an image in a supported format"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is not an image in a supported format"),
        (
            b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
            "is not an image in a supported format",
        ),
        (bomb(), "has too many pixels"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "is not an image|is damaged"),
        (b"PyCMYK\n1 1\n255\n\0\0\0\0", "is not a PPM file but"),
        (b"PyP\n1 1\n255\n\0", "is not a PPM file but"),
    ],
)
def test_a_file_that_cannot_be_shown_is_named_with_its_reason(tmp_path, content, reason):
    path = tmp_path / "0001.png"
    path.write_bytes(content)

    with pytest.raises(BrokenImage, match=reason):
        image_files.read_picture(path)
    with pytest.raises(BrokenImage, match=reason):
        image_files.read_original(path, content)


def test_two_files_for_an_image_are_one_too_many(folder):
    image = ImageFactory(key="0001")
    picture().save(folder / "0001.jpg")
    picture().save(folder / "0001.png")

    counts = import_one(folder, image)

    assert image.file == "images/validation/0001.jpg"
    assert counts.broken == [("0001.png", "0001 already has a file, 0001.jpg")]


def test_files_of_no_image_are_counted(folder):
    image = ImageFactory(key="0001")
    (folder / "README.txt").write_text("About these files.")
    ImageFactory(key="0002", split="test")
    picture().save(folder / "0002.jpg")

    assert import_one(folder, image).unmatched == 2


def test_a_folder_that_is_none_is_named(tmp_path):
    ImageFactory()

    with pytest.raises(DomainError, match="files is not a folder"):
        images.import_files(folder=tmp_path / "files", split="validation")


def test_the_command_lists_twenty_broken_files_and_ends_well(folder):
    for number in range(23):
        ImageFactory(key=f"{number:04}")
        (folder / f"{number:04}.jpg").write_bytes(b"nothing")
    out = io.StringIO()

    call_command("import_openimages", f"--files={folder}", "--split=validation", stdout=out)

    lines = out.getvalue().splitlines()
    assert lines[:3] == [
        "0 image files: 0 new, 0 changed, 0 unchanged.",
        "23 files could not be imported:",
        "  0000.jpg: is not an image in a supported format",
    ]
    assert lines[22:] == ["  and 3 more"]


def test_the_six_photographs_come_in_with_their_sizes(shared_data):
    keys = ["astronaut", "camera", "chelsea", "clock_motion", "coffee", "rocket"]
    for key in keys:
        ImageFactory(key=key, split="photographs", width=None, height=None)

    counts = images.import_files(folder=shared_data / "images", split="photographs")

    assert (counts.new, counts.broken, counts.unmatched) == (6, [], 0)
    assert make_copies() == 6
