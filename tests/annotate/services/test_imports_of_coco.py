"""Importing COCO's instances files."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from PIL import Image as Picture

from annotate.models import Box, Image, ImageSource, ObjectClass
from annotate.queries.keywords import keywords
from annotate.services import imports, selections
from annotate.services.images import import_files
from corpora.reading.files import MalformedFile
from tests.factories import NOON, BoxFactory, ImageFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def content():
    """The content of a file with one image and two boxes, one of them a crowd."""
    return {
        "info": {},
        "licenses": [{"id": 4, "url": "http://creativecommons.org/licenses/by/2.0/"}],
        "categories": [{"id": 17, "name": "cat"}, {"id": 18, "name": "dog"}],
        "images": [
            {
                "id": 397133,
                "width": 640,
                "height": 480,
                "file_name": "000000397133.jpg",
                "license": 4,
                "coco_url": "http://images.example/000000397133.jpg",
                "flickr_url": "http://photos.example/397133.jpg",
            }
        ],
        "annotations": [
            {"id": 1, "image_id": 397133, "category_id": 18, "bbox": [64, 48, 64, 48]},
            {
                "id": 2,
                "image_id": 397133,
                "category_id": 17,
                "bbox": [0.0, 0.0, 640.5, 480],
                "iscrowd": 1,
            },
        ],
    }


@pytest.fixture
def write(tmp_path):
    def write_content(content):
        path = tmp_path / "instances.json"
        path.write_text(json.dumps(content))
        return path

    return write_content


def test_images_classes_and_boxes_come_in(write, content):
    imports.import_coco(path=write(content), split="val2017")

    image = Image.objects.get()
    assert (image.source, image.key, image.split) == ("COCO", "397133", "val2017")
    assert (image.width, image.height, image.rotation) == (640, 480, 0)
    assert image.url == "http://images.example/000000397133.jpg"
    assert image.file_name == "000000397133.jpg"
    assert image.landing_url == "http://photos.example/397133.jpg"
    assert image.license_url == "http://creativecommons.org/licenses/by/2.0/"
    assert list(ObjectClass.objects.values_list("label", "name")) == [
        ("coco:17", "cat"),
        ("coco:18", "dog"),
    ]
    dog = Box.objects.get(object_class__name="dog")
    assert (dog.x_min, dog.x_max, dog.y_min, dog.y_max) == (0.1, 0.2, 0.1, 0.2)
    assert (dog.is_group, dog.is_occluded) == (False, None)
    assert keywords(image) == ["cat", "dog"]


def test_a_box_that_ends_a_hair_outside_is_clipped(write, content):
    imports.import_coco(path=write(content), split="val2017")

    crowd = Box.objects.get(is_group=True)
    assert (crowd.x_min, crowd.x_max, crowd.y_min, crowd.y_max) == (0, 1, 0, 1)


def test_a_second_run_changes_nothing(write, content):
    path = write(content)
    imports.import_coco(path=path, split="val2017")

    counts = imports.import_coco(path=path, split="val2017")

    assert [(one.new, one.changed) for one in counts] == [(0, 0)] * 3
    assert [one.unchanged for one in counts] == [2, 1, 2]


@pytest.mark.parametrize("name", [None, 397133, "a" * 501])
def test_an_image_whose_name_cannot_be_stored_has_none(write, content, name):
    content["images"][0]["file_name"] = name

    imports.import_coco(path=write(content), split="val2017")

    assert Image.objects.get().file_name == ""


def test_an_image_does_not_move_to_another_split(write, content):
    path = write(content)
    imports.import_coco(path=path, split="val2017")

    with pytest.raises(MalformedFile, match="image 397133 belongs to the split 'val2017' already"):
        imports.import_coco(path=path, split="test2017")


def test_a_class_keeps_its_name_while_boxes_of_another_split_have_it(write, content):
    imports.import_coco(path=write(content), split="val2017")
    content["categories"][1]["name"] = "puppy"
    imports.import_coco(path=write(content), split="val2017")  # a correction in its own split
    content["categories"][1]["name"] = "truck"
    content["images"][0]["id"] = 5
    for box in content["annotations"]:
        box["image_id"] = 5

    with pytest.raises(MalformedFile, match="category 18 is called 'truck', and 'puppy' in the "):
        imports.import_coco(path=write(content), split="mine")

    assert ObjectClass.objects.get(label="coco:18").name == "puppy"
    assert not Image.objects.filter(split="mine").exists()


def test_a_class_keeps_its_name_while_boxes_of_own_photographs_have_it(write, content):
    content["annotations"].pop(0)
    imports.import_coco(path=write(content), split="val2017")
    dog = ObjectClass.objects.get(name="dog")
    photograph = ImageFactory(source=ImageSource.OWN, split="mine")
    BoxFactory(image=photograph, object_class=dog)
    content["categories"][1]["name"] = "truck"
    content["images"][0]["id"] = content["annotations"][0]["image_id"] = 5

    with pytest.raises(MalformedFile, match="category 18 is called 'truck', and 'dog' in the "):
        imports.import_coco(path=write(content), split="test2017")


@pytest.mark.parametrize(
    ("listing", "change", "reason"),
    [
        (
            "images",
            {"id": "one"},
            r"images\[0\] \(id 'one'\): id 'one' is not a whole number from 0",
        ),
        ("images", {"id": True}, "id True is not a whole number"),
        ("images", {"width": 0}, "0×480 is not the size of an image"),
        ("images", {"height": None}, "height None is not a whole number"),
        ("images", {"license": 9}, "there is no license 9"),
        ("images", {"license": [4]}, r"license \[4\] is not a whole number"),
        ("images", {"coco_url": "javascript:alert(1)"}, "coco_url 'javascript:.*not a web address"),
        ("images", {"flickr_url": "/7.jpg"}, "flickr_url '/7.jpg' is not a web address"),
        ("images", {"flickr_url": 5}, "flickr_url is not a web address"),
        ("categories", {"name": ""}, "name must have 1 to 100 characters"),
        ("categories", {"id": 18}, "the id was used before"),
        ("annotations", {"image_id": 1}, r"annotations\[0\] \(id 1\): there is no image 1"),
        ("annotations", {"category_id": 90}, "there is no category 90"),
        ("annotations", {"bbox": [1, 2, 3]}, "is not a list of four numbers"),
        ("annotations", {"bbox": None}, "is not a list of four numbers"),
        ("annotations", {"bbox": [1, 2, "3", 4]}, "is not a list of four numbers"),
        ("annotations", {"bbox": [1, 2, -3, 4]}, "is not a box"),
        ("annotations", {"bbox": [1, 2, float("nan"), 4]}, "is not a box"),
        ("annotations", {"bbox": [10**400, 2, 3, 4]}, "is not a box"),
        ("annotations", {"bbox": [[[[[[["deep"]]]]]], 2, 3, 4]}, "is not a list of four numbers"),
        ("annotations", {"bbox": [700, 0, 1, 1]}, "lies outside of its image"),
        ("annotations", {"bbox": [-30, 0, 40, 1]}, "lies outside of its image"),
        ("annotations", {"bbox": [0, 470, 1, 20]}, "lies outside of its image"),
        ("annotations", {"iscrowd": "no"}, "iscrowd 'no' is neither 0 nor 1"),
    ],
)
def test_a_wrong_entry_is_named_and_nothing_is_kept(write, content, listing, change, reason):
    content[listing][0].update(change)

    with pytest.raises(MalformedFile, match=reason):
        imports.import_coco(path=write(content), split="val2017")

    assert not Image.objects.exists()
    assert not ObjectClass.objects.exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"images": None}, "it has no list `images`"),
        ({"annotations": {}}, "it has no list `annotations`"),
        ({"categories": ["cat"]}, r"categories\[0\]: 'cat' is not a JSON object"),
    ],
)
def test_a_file_of_another_form_is_refused(write, content, change, reason):
    with pytest.raises(MalformedFile, match=reason):
        imports.import_coco(path=write({**content, **change}), split="val2017")


def test_a_list_at_the_top_is_refused(write):
    with pytest.raises(MalformedFile, match="a file in COCO form is one JSON object"):
        imports.import_coco(path=write([]), split="val2017")


def test_the_command_takes_image_files_whose_names_end_in_the_id(write, content, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    Picture.new("RGB", (640, 480)).save(folder / "COCO_val2014_000000397133.jpg")
    out = io.StringIO()

    call_command(
        "import_coco", str(write(content)), "--split=val2014", f"--files={folder}", stdout=out
    )

    assert out.getvalue().splitlines() == [
        "2 classes read: 2 new, 0 changed, 0 unchanged.",
        "1 image read: 1 new, 0 changed, 0 unchanged.",
        "2 boxes read: 2 new, 0 changed, 0 unchanged.",
        "1 image file: 1 new, 0 changed, 0 unchanged.",
    ]
    assert Image.objects.get().file == "images/val2014/397133.jpg"


def test_an_image_file_with_the_name_in_the_instances_file_is_that_image(write, content, tmp_path):
    """As CVAT numbers: images from 1, and the frames in their names from 0."""
    (first,) = content["images"]
    names = {1: "a/frame_000000.png", 2: "a/frame_000001.png", 3: "b\\frame_000001.png", 4: "9.png"}
    content["images"] = [{**first, "id": id_, "file_name": name} for id_, name in names.items()]
    imports.import_coco(path=write({**content, "annotations": []}), split="frames")
    folder = tmp_path / "files"
    widths = {1: 10, 2: 20, 3: 30, 4: 40}
    for number, name in names.items():
        path = folder / name.replace("\\", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        Picture.new("RGB", (widths[number], 5)).save(path)
    Picture.new("RGB", (50, 5)).save(folder / "a" / "frame_000004.png")

    counts = import_files(folder=folder, split="frames")

    assert (counts.new, counts.unmatched, counts.broken) == (4, 1, [])
    found = {int(image.key): image.width for image in Image.objects.all()}
    assert found == widths


def test_the_command_names_the_file_that_is_not_there(tmp_path):
    with pytest.raises(CommandError, match=r"none\.json: No such file"):
        call_command("import_coco", str(tmp_path / "none.json"), "--split=val2017")


@pytest.fixture
def turned(tmp_path):
    """A folder with an image file whose EXIF orientation turns it by 90 degrees."""
    folder = tmp_path / "files"
    folder.mkdir()
    exif = Picture.Exif()
    exif[0x0112] = 6
    Picture.new("RGB", (640, 480)).save(folder / "000000397133.jpg", exif=exif)
    return folder


@pytest.mark.parametrize("again", [["--files"], []])
def test_a_turned_file_keeps_its_size_as_shown_when_the_command_runs_twice(
    write, content, turned, again
):
    path, files = str(write(content)), f"--files={turned}"
    call_command("import_coco", path, "--split=val2014", files, stdout=io.StringIO())

    call_command(
        "import_coco",
        path,
        "--split=val2014",
        *(files for _ in again),
        stdout=io.StringIO(),
    )

    assert Image.objects.values_list("width", "height").get() == (480, 640)


def test_a_wrong_size_from_an_earlier_import_is_corrected_by_the_same_file(write, content, turned):
    path, files = str(write(content)), f"--files={turned}"
    call_command("import_coco", path, "--split=val2014", files, stdout=io.StringIO())
    Image.objects.update(width=640, height=480)

    call_command("import_coco", path, "--split=val2014", files, stdout=io.StringIO())

    assert Image.objects.values_list("width", "height").get() == (480, 640)


def test_the_size_of_an_image_without_a_file_is_what_the_latest_import_says(write, content):
    imports.import_coco(path=write(content), split="val2014")
    content["images"][0].update(width=641, height=481)

    imports.import_coco(path=write(content), split="val2014")

    assert Image.objects.values_list("width", "height").get() == (641, 481)


def test_ids_and_not_file_names_call_images_and_order_them(write, content):
    """Lists of images have ids, and a seed draws the same images under any file names."""
    (first,) = content["images"]
    files = {139: "000000000139.jpg", 1000: "000000001000.jpg", 17: "zebra.jpg"}
    content["images"] = [
        {**first, "id": number, "file_name": name} for number, name in files.items()
    ]
    imports.import_coco(path=write({**content, "annotations": []}), split="val2017")

    every = selections.select_all(name="every", split="val2017", at=NOON)

    names = [each.image.shown_name for each in every.selected.select_related("image")]
    assert names == ["1000", "139", "17"]
