"""Importing a folder of one's own photographs, with all kinds of files in it."""

from pathlib import Path

import pytest
from django.core.management import CommandError
from PIL import Image as Picture

from annotate.exports.formats import FORMATS
from annotate.exports.provenance import license_name
from annotate.images.copies import copy_name, copy_storage, make_copies
from annotate.images.files import file_path
from annotate.kinds.exporting import content_of, write_export
from annotate.models import Box, ClassName, Image, ImageSource, ObjectClass, Task
from annotate.services import own_images, selections
from annotate.services.campaigns import create_campaign
from annotate.services.imports import import_coco
from annotate.services.own_images import BrokenFile, import_own_files
from corpora.errors import DomainError
from qualcontrol.services.releasing import release_campaign
from tests.commands import output_of
from tests.factories import (
    NOON,
    ClassFactory,
    ImageFactory,
    ResponseFactory,
    TeamFactory,
    config,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db

ORIENTATION, MAKE = 0x0112, 0x010F


@pytest.fixture(autouse=True)
def media(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "photographs"
    path.mkdir()
    return path


def photograph(path: Path, color="red", form="JPEG", **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Picture.new("RGB", (60, 40), color).save(path, form, **options)


def import_folder(folder, split="mine", table=None, **options):
    files = own_images.own_files_below(folder, table)
    return import_own_files(files=files, split=split, table=table, **options)


def names(split="mine"):
    return set(Image.objects.filter(split=split).values_list("file_name", flat=True))


def test_any_file_name_is_kept(folder):
    wanted = {"صورة.jpg", "🐕 in the park.JPG", "trip/day 1/a&b;c.png", "no suffix"}
    for number, name in enumerate(sorted(wanted)):
        photograph(folder / name, color=(number * 40, 0, 0))

    counts = import_folder(folder)

    assert (counts.new, counts.broken) == (4, [])
    assert names() == wanted


def test_an_image_has_its_size_as_shown_and_its_content(folder):
    tags = Picture.Exif()
    tags[ORIENTATION], tags[MAKE] = 6, "Camera"
    photograph(folder / "a.jpg", exif=tags)

    import_folder(folder)

    image = Image.objects.get()
    assert (image.source, image.rotation) == (ImageSource.OWN, 0)
    assert (image.width, image.height) == (40, 60)
    assert file_path(image).read_bytes() == (folder / "a.jpg").read_bytes()


def test_workers_get_a_copy_that_is_upright_and_has_no_metadata(folder):
    tags = Picture.Exif()
    tags[ORIENTATION], tags[MAKE] = 6, "Camera"
    photograph(folder / "a.jpg", exif=tags)
    import_folder(folder)
    image = Image.objects.get()

    make_copies(image)

    with Picture.open(copy_storage().path(copy_name(image, "copies"))) as copy:
        assert copy.size == (40, 60)
        assert not copy.getexif()


def test_the_stored_name_has_the_suffix_of_the_content(folder):
    photograph(folder / "a.jpg", form="PNG")

    import_folder(folder)

    assert Image.objects.get().file.endswith(".png")
    assert names() == {"a.jpg"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\x7fELF" + bytes(200), "is not an image in a supported format"),
        (b"#!/bin/sh\nrm -r everything\n", "is not an image in a supported format"),
        (bytes(4) + b"ftypheic" + bytes(100), "is a HEIC photograph"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "is "),
    ],
)
def test_files_that_are_not_images_are_named_and_left_out(folder, content, reason):
    (folder / "bad.jpg").write_bytes(content)
    photograph(folder / "good.jpg")

    counts = import_folder(folder)

    assert counts.new == 1
    assert [one.name for one in counts.broken] == ["bad.jpg"]
    assert reason in counts.broken[0].reason


def test_a_truncated_file_is_named(folder):
    photograph(folder / "a.png", form="PNG")
    content = (folder / "a.png").read_bytes()
    (folder / "a.png").write_bytes(content[: len(content) // 2])

    assert "is damaged" in import_folder(folder).broken[0].reason


def test_too_many_pixels_and_too_many_bytes_are_named(folder, settings):
    photograph(folder / "wide.png", form="PNG")
    (folder / "big.png").write_bytes(bytes(1_500_000))
    settings.IMAGE_MAX_PIXELS, settings.IMAGE_MAX_MB = 60 * 40 - 1, 1

    counts = import_folder(folder)

    reasons = {one.name: one.reason for one in counts.broken}
    assert reasons["wide.png"] == "has too many pixels (at most 2,399 are allowed)"
    assert reasons["big.png"] == "is larger than 1 MB"


def test_hidden_files_and_files_of_the_system_are_no_fault(folder):
    photograph(folder / "a.jpg")
    for name in (".DS_Store", "Thumbs.db", "__MACOSX/a.jpg", ".git/config"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")

    counts = import_folder(folder)

    assert (counts.new, counts.broken) == (1, [])


def test_the_same_content_is_imported_once_and_named(folder, tmp_path):
    photograph(folder / "a.jpg")
    photograph(folder / "b.jpg")
    import_folder(folder)
    photograph(tmp_path / "later" / "c.jpg")

    counts = import_folder(tmp_path / "later")

    assert names() == {"a.jpg"}
    assert (counts.new, counts.duplicates) == (0, [("c.jpg", "a.jpg")])
    assert "1 duplicate left out:" in own_images.report_lines(counts, most=5)


def test_a_second_run_changes_nothing(folder):
    photograph(folder / "a.jpg")
    import_folder(folder)

    counts = import_folder(folder)

    assert (counts.new, counts.unchanged, counts.duplicates) == (0, 1, [])


def test_another_content_of_the_same_name_does_not_replace_an_image(folder):
    photograph(folder / "a.jpg")
    import_folder(folder)
    sha256 = Image.objects.get().sha256
    photograph(folder / "a.jpg", color="blue")

    counts = import_folder(folder)

    assert "has the name of another image" in counts.broken[0].reason
    assert Image.objects.get().sha256 == sha256


def test_a_copy_of_a_file_whose_name_is_taken_is_imported(folder):
    photograph(folder / "a.jpg")
    import_folder(folder)
    photograph(folder / "a.jpg", color="blue")
    photograph(folder / "b.jpg", color="blue")

    counts = import_folder(folder)

    assert (counts.new, counts.duplicates, len(counts.broken)) == (1, [], 1)
    assert names() == {"a.jpg", "b.jpg"}


def test_the_same_file_may_be_in_two_splits(folder):
    photograph(folder / "a.jpg")
    import_folder(folder)

    assert import_folder(folder, split="other").new == 1
    assert len(set(Image.objects.values_list("key", "file"))) == 2


def test_an_interrupted_import_continues(folder, monkeypatch):
    monkeypatch.setattr(own_images, "BATCH", 2)
    for number in range(5):
        photograph(folder / f"{number}.jpg", color=(number * 40, 0, 0))

    class Killed(Exception):
        pass

    def stop(_, seen=[]):  # noqa: B006
        seen.append(1)
        if len(seen) == 3:
            raise Killed

    with pytest.raises(Killed):
        import_folder(folder, progress=stop)
    assert Image.objects.count() == 2

    counts = import_folder(folder)

    assert (counts.new, counts.unchanged, Image.objects.count()) == (3, 2, 5)


@pytest.mark.parametrize("split", ["../up", "", "a/b", "صور"])
def test_a_split_needs_a_name_that_can_be_a_folder(folder, split):
    with pytest.raises(DomainError, match="cannot be the name of a split"):
        import_folder(folder, split=split)


def test_a_split_of_another_dataset_is_refused(folder):
    ImageFactory(split="mine")

    with pytest.raises(DomainError, match="has images of Open Images"):
        import_folder(folder)


def test_a_dataset_is_not_imported_into_a_split_of_own_files(folder, tmp_path):
    photograph(folder / "a.jpg")
    import_folder(folder)
    file = tmp_path / "instances.json"
    file.write_text('{"images": [], "annotations": [], "categories": []}')

    with pytest.raises(DomainError, match="has files of your own"):
        import_coco(path=file, split="mine")


# The table of facts


def table(folder, text):
    path = folder / "facts.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_adds_credits_classes_and_boxes(folder):
    photograph(folder / "trip" / "a.jpg")
    dog = ClassFactory(name="Dog")
    path = table(
        folder,
        "file_name,license,author,title,source_page,classes,class,x_min,x_max,y_min,y_max\n"
        "trip/a.jpg,CC BY 4.0,Ada,Walk,https://photos.example/1,Park;Tree,,,,,\n"
        "trip/a.jpg,,,,,,dog,0.1,0.5,0.2,1\n"
        "trip/a.jpg,,,,,,Ball,30,60,0,20\n",
    )

    counts = import_folder(folder, table=path)

    image = Image.objects.get()
    assert (counts.new, counts.described, counts.boxes, counts.broken) == (1, 1, 4, [])
    assert image.license_url == "https://creativecommons.org/licenses/by/4.0/"
    assert (image.author, image.title, image.landing_url) == (
        "Ada",
        "Walk",
        "https://photos.example/1",
    )
    boxes = {
        box.object_class.name: (box.x_min, box.x_max, box.y_min, box.y_max)
        for box in image.boxes.select_related("object_class")
    }
    assert boxes == {
        "Park": (0, 1, 0, 1),
        "Tree": (0, 1, 0, 1),
        "Dog": (0.1, 0.5, 0.2, 1),
        "Ball": (0.5, 1, 0, 0.5),
    }
    assert image.boxes.get(object_class__name="Dog").object_class == dog


@pytest.mark.parametrize(
    "url",
    [
        "https://creativecommons.org/publicdomain/mark/1.0/",
        "http://creativecommons.org/licenses/by/2.0",
        "https://licence.example/",
    ],
)
def test_a_licence_may_be_named_beside_its_address_as_exports_have_it(folder, url):
    photograph(folder / "a.jpg")
    path = table(folder, f"file_name,license,license_url\na.jpg,{license_name(url)},{url}\n")

    import_folder(folder, table=path)

    assert Image.objects.get().license_url == url


def test_a_table_twice_adds_nothing(folder):
    photograph(folder / "a.jpg")
    path = table(folder, "file_name,classes\na.jpg,Park;Tree\n")
    import_folder(folder, table=path)

    assert import_folder(folder, table=path).boxes == 0
    assert (Box.objects.count(), ObjectClass.objects.count()) == (2, 2)


def test_a_table_again_adds_nothing_after_a_class_of_the_same_name_was_imported(folder):
    photograph(folder / "a.jpg")
    facts = table(folder, "file_name,classes\na.jpg,dog\n")
    import_folder(folder, table=facts)
    ClassFactory(label="coco:18", name="Dog")

    counts = import_folder(folder, table=facts)

    assert counts.boxes == 0
    assert Box.objects.count() == 1


def test_a_class_that_another_team_has_named_too_has_its_names_in_other_languages(folder):
    photograph(folder / "a.jpg")
    facts = table(folder, "file_name,class\na.jpg,Kettle\n")
    import_folder(folder, split="theirs", table=facts, team=TeamFactory())
    ClassName.objects.create(object_class=ObjectClass.objects.get(), language="de", name="Kessel")
    mine = TeamFactory()

    import_folder(folder, table=facts, team=mine)

    assert [named.name for named in mine.object_classes.get().names.all()] == ["Kessel"]


def test_the_table_may_have_the_backslashes_of_windows(folder):
    photograph(folder / "trip" / "a.jpg")
    path = table(folder, "file_name,author\ntrip\\a.jpg,Ada\n")

    counts = import_folder(folder, table=path)

    assert (counts.described, counts.unmatched) == (1, [])


def test_file_names_are_compared_whatever_way_accents_are_written(folder):
    photograph(folder / "cafe\u0301.jpg")

    counts = import_folder(folder, table=table(folder, "file_name,author\ncaf\u00e9.jpg,Ada\n"))

    assert (counts.described, counts.unmatched) == (1, [])


def test_names_that_no_file_has_and_columns_without_use_are_reported(folder):
    photograph(folder / "a.jpg")

    counts = import_folder(folder, table=table(folder, "file_name,camera\nb.jpg,x\n"))

    assert (counts.unmatched, counts.ignored_columns) == (["b.jpg"], ["camera"])


def test_a_box_outside_its_image_is_named(folder):
    photograph(folder / "a.jpg")
    path = table(folder, "file_name,class,x_min,x_max,y_min,y_max\na.jpg,Dog,0,61,0,10\n")

    counts = import_folder(folder, table=path)

    assert (counts.new, Box.objects.count()) == (1, 0)
    assert "60 × 40 pixels" in counts.broken[0].reason


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a.jpg,my licence,,,,,", "the licence 'my licence' is not known"),
        ("a.jpg,,Dog,0.5,0.1,0,1", "x_min < x_max"),
        ("a.jpg,,Dog,nan,1,0,1", "x_min < x_max"),
        ("a.jpg,,Dog,left,1,0,1", "must be four numbers"),
        ("a.jpg,,Dog,0.5,1.0001,0,1", "a fraction is at most 1"),
        ("a.jpg,,,0,1,0,1", "a box needs a class"),
        (",,,,,,", None),
        (",CC0,,,,,", "file_name is empty"),
        ("a.jpg,,,,,,,,", "7 fields are expected, there are 9"),
    ],
)
def test_nothing_is_imported_with_a_malformed_table(folder, row, reason):
    photograph(folder / "a.jpg")
    path = table(folder, f"file_name,license,class,x_min,x_max,y_min,y_max\n{row}\n")

    if reason is None:
        assert import_folder(folder, table=path).new == 1
        return
    with pytest.raises(DomainError, match=reason):
        import_folder(folder, table=path)
    assert not Image.objects.exists()


def test_a_table_may_be_json_lines(folder):
    photograph(folder / "a.jpg")
    path = table(
        folder,
        '{"file_name": "a.jpg", "license": "CC0", "classes": ["Park"], "boxes": '
        '[{"class": "Dog", "x_min": 0, "x_max": 0.5, "y_min": 0, "y_max": 1}]}\n',
    )

    counts = import_folder(folder, table=path)

    assert (counts.described, counts.boxes, counts.broken) == (1, 2, [])
    assert Image.objects.get().license_url.endswith("/zero/1.0/")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ('"classes": 3', "classes must be a list"),
        ('"classes": [{}]', "must be a text"),
        ('"boxes": [3]', "boxes must be a list"),
        ('"boxes": [{"class": "Dog", "xmin": 0, "xmax": 9}]', "boxes must be a list"),
        ('"author": ["Ada"]', "must be a text"),
        ('"author": true', "must be a text"),
        ('"title": "\\u0000"', "NUL character"),
    ],
)
def test_json_of_another_form_is_refused(folder, values, reason):
    photograph(folder / "a.jpg")
    path = table(folder, f'{{"file_name": "a.jpg", {values}}}\n')

    with pytest.raises(DomainError, match=reason):
        import_folder(folder, table=path)


# The command, and what follows


def test_the_command_reports_what_it_left_out(folder):
    photograph(folder / "a.jpg")
    photograph(folder / "copy.jpg")
    (folder / "notes.txt").write_text("notes")

    out = output_of("import_images", folder, "--split", "mine")

    assert "1 image imported, 0 were there already." in out
    assert "  copy.jpg: same content as a.jpg" in out
    assert "  notes.txt: is not an image in a supported format" in out


def test_the_command_needs_a_folder(tmp_path):
    with pytest.raises(CommandError, match="is not a folder"):
        output_of("import_images", tmp_path / "none", "--split", "mine")


def test_all_images_of_a_split_are_selected_by_name(folder):
    for name, color in (("b.jpg", "red"), ("a.jpg", "blue"), ("c.jpg", "green")):
        photograph(folder / name, color=color)
    import_folder(folder)

    out = output_of("select_images", "--split", "mine", "--all", "--name", "trip")

    assert "trip: 3 images selected." in out
    selected = selections.Selection.objects.get(name="trip").selected
    assert list(selected.values_list("image__file_name", flat=True)) == ["a.jpg", "b.jpg", "c.jpg"]


def test_a_campaign_on_own_files_shows_no_keywords_and_its_export_has_their_names(folder):
    wanted = ["trip/صورة.jpg", "other/صورة.jpg"]
    photograph(folder / wanted[0])
    photograph(folder / wanted[1], color="blue")
    import_folder(folder)
    selections.select_all(name="trip", split="mine", at=NOON)
    file = config(name="trip", selection="trip", references=1, baselines=0)
    campaign = create_campaign(config=file, endpoint="local", at=NOON)
    for task in Task.objects.filter(campaign=campaign):
        ResponseFactory(task=task)

    release = release_campaign(campaign=campaign, name="trip-1", seed=0, at=NOON)

    assert set(campaign.tasks.values_list("shows_keywords", flat=True)) == {False}
    records = release.images.values_list("record", flat=True)
    assert {record["file_name"] for record in records} == set(wanted)
    assert {record["domain"] for record in records} == {None}
    out = folder.parent / "export"
    content = content_of(release)
    write_export(content, FORMATS["coco"], out, with_images=True)
    for name in wanted:
        assert (out / "images" / name).read_bytes() == (folder / name).read_bytes()


def test_a_table_describes_no_images_that_another_team_has_imported_meanwhile(folder, tmp_path):
    mine, theirs = TeamFactory(), TeamFactory()
    table = tmp_path / "facts.csv"
    table.write_text("file_name,author\nsea.jpg,Nobody\n", encoding="utf-8")

    def files():
        photograph(folder / "sea.jpg")
        import_folder(folder, split="shared", team=theirs)
        yield BrokenFile("sky.jpg", "is damaged")

    with pytest.raises(DomainError, match="is taken"):
        import_own_files(files=files(), split="shared", table=table, team=mine)

    assert Image.objects.get(split="shared").author == ""


FILES = 12


@pytest.mark.django_db(transaction=True)
def test_two_imports_of_a_folder_at_once_take_each_file_once(tmp_path, settings, monkeypatch):
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setattr(own_images, "BATCH", 5)
    folder = tmp_path / "photographs"
    folder.mkdir()
    for number in range(FILES):
        Picture.new("RGB", (8, 8), (number * 20, 0, 0)).save(folder / f"{number}.png")

    def take_in(_: int) -> own_images.OwnCounts:
        files = own_images.own_files_below(folder)
        return own_images.import_own_files(files=files, split="mine")

    results = at_once(take_in, range(3))

    assert sum(counts.new for counts in results) == FILES
    assert all(counts.new + counts.unchanged == FILES for counts in results)
    assert all(not counts.broken and not counts.duplicates for counts in results)
    assert Image.objects.count() == FILES
