"""Importing Open Images: valid files, invalid files, and repeated imports."""

import gzip
import io
import json
import random

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotate.models import Box, ClassRelation, Image, ObjectClass
from annotate.services import imports
from annotate.services.bulk import Counts
from corpora.errors import DomainError
from corpora.reading.files import MalformedFile
from simulation.scenes.dataset import BOX_HEADER, IMAGE_HEADER
from tests.factories import BoxFactory, CampaignFactory, ClassFactory, ImageFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def dog():
    return ClassFactory(label="/m/0bt9lr", name="Dog")


@pytest.fixture
def image(dog):
    return ImageFactory(key="0001")


def rows_of(model):
    return list(model.objects.order_by("pk").values())


# Class descriptions


def test_classes_with_and_without_a_header_are_the_same(write_csv):
    with_header = write_csv("v7.csv", ["LabelName", "DisplayName"], [["/m/0bt9lr", "Dog"]])
    without = write_csv("v4.csv", [], [["/m/0bt9lr", "Dog"]])

    first = imports.import_classes(path=with_header)
    second = imports.import_classes(path=without)

    assert first == Counts(read=1, new=1, changed=0)
    assert second == Counts(read=1, new=0, changed=0)
    assert second.unchanged == 1


def test_the_name_of_the_last_import_counts(write_csv):
    imports.import_classes(path=write_csv("v4.csv", [], [["/m/01n5jq", "Lemon"]]))

    counts = imports.import_classes(path=write_csv("v7.csv", [], [["/m/01n5jq", "Lemon (plant)"]]))

    assert counts == Counts(read=1, new=0, changed=1)
    assert ObjectClass.objects.get().name == "Lemon (plant)"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("/m/0bt9lr", "2 fields are expected, there are 1"),
        ("/m/0bt9lr,Dog,Hound", "2 fields are expected, there are 3"),
        ("Dog,/m/0bt9lr", "'Dog' is not a class label such as /m/0199g"),
        ("/m/0bt9lr,", "the name of /m/0bt9lr must have 1 to 100 characters"),
        ("/m/0k4j,Bike", "/m/0k4j was 'Car' before and is 'Bike' here"),
        (
            '/m/0bt9lr,"Dog',
            "unexpected end of data: a quotation mark that opens a cell here is never closed",
        ),
        ("", "2 fields are expected, there are 0"),
    ],
)
def test_a_malformed_class_is_named_with_its_line(tmp_path, line, reason):
    path = tmp_path / "classes.csv"
    path.write_text(f"/m/0k4j,Car\n{line}\n")

    with pytest.raises(MalformedFile) as error:
        imports.import_classes(path=path)

    assert str(error.value) == f"{path}:2: {reason}"
    assert not ObjectClass.objects.exists()


def test_a_packed_file_with_a_mark_and_other_line_ends_is_read(tmp_path):
    path = tmp_path / "classes.csv.gz"
    path.write_bytes(gzip.compress("\ufeffLabelName,DisplayName\r\n/m/0bt9lr,Dog\r\n".encode()))

    imports.import_classes(path=path)

    assert ObjectClass.objects.get().name == "Dog"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (
            "latin.csv",
            "/m/0k4j,Käfer\n".encode("latin-1"),
            ":1: byte 0xE4 at offset 9 is not UTF-8 text",
        ),
        ("cut.csv.gz", gzip.compress(b"/m/0k4j,Car\n" * 99, mtime=0)[:30], ": cannot be unpacked"),
        ("not.csv.gz", b"/m/0k4j,Car\n", ": cannot be unpacked"),
    ],
)
def test_a_file_that_cannot_be_decoded_is_named(tmp_path, name, content, reason):
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(MalformedFile, match=reason):
        imports.import_classes(path=path)


# Hierarchy


def write_hierarchy(tmp_path, root):
    path = tmp_path / "hierarchy.json"
    path.write_text(json.dumps(root))
    return path


def test_a_class_in_several_places_is_one_class_with_all_its_parents(tmp_path):
    for label in ("/m/0a", "/m/0b", "/m/0c"):
        ClassFactory(label=label)
    knife = {"LabelName": "/m/0c"}
    path = write_hierarchy(
        tmp_path,
        {
            "LabelName": "/m/0bl9f",
            "Subcategory": [
                {"LabelName": "/m/0a", "Subcategory": [knife]},
                {"LabelName": "/m/0b", "Part": [knife, knife]},
            ],
        },
    )

    counts = imports.import_hierarchy(path=path)
    again = imports.import_hierarchy(path=path)

    assert (counts.new, again.new, again.unchanged) == (4, 0, 4)
    assert set(
        ClassRelation.objects.filter(child__label="/m/0c").values_list("parent__label", "kind")
    ) == {("/m/0a", "SUBCATEGORY"), ("/m/0b", "PART")}
    assert ObjectClass.objects.get(label="/m/0bl9f").name == "Entity"


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        ([], "the top of the file has no LabelName"),
        ({"LabelName": "/m/0a", "Part": {}}, "Part of /m/0a is not a list"),
        ({"LabelName": "/m/0a", "Part": [{}]}, "an entry of Part of /m/0a has no LabelName"),
        ({"LabelName": "/m/0a", "Part": [{"LabelName": "/m/0a"}]}, "/m/0a stands under itself"),
        ({"LabelName": "/m/0a", "Part": [{"LabelName": "/m/0z"}]}, "unknown class /m/0z"),
    ],
)
def test_a_malformed_hierarchy_is_refused_whole(tmp_path, root, reason):
    path = write_hierarchy(tmp_path, root)

    with pytest.raises(MalformedFile, match=reason):
        imports.import_hierarchy(path=path)

    assert not ObjectClass.objects.exists()


def test_a_hierarchy_that_is_not_json_is_refused_with_its_line(tmp_path):
    path = tmp_path / "hierarchy.json"
    path.write_text('{\n"LabelName": }')

    with pytest.raises(MalformedFile, match=r"hierarchy\.json:2: not valid JSON"):
        imports.import_hierarchy(path=path)


# Image metadata


def test_an_image_keeps_its_attribution(write_csv, image_row):
    path = write_csv("images.csv", IMAGE_HEADER, [image_row("0001")])

    imports.import_images(path=path, split="validation")

    image = Image.objects.get()
    assert (image.author, image.title) == ("A. Photographer", "Dogs, two of them")
    assert image.license_url == "https://creativecommons.org/licenses/by/2.0/"
    assert image.landing_url == "https://photos.example/0001"
    assert image.author_url == "https://photos.example/people/1"
    assert (image.split, image.source, image.file) == ("validation", "OPEN_IMAGES", "")


def test_a_title_keeps_its_line_ends(write_csv, image_row):
    titles = ["one\rtwo", "one\ntwo", "one\r\ntwo", '"', ""]
    rows = [image_row(f"000{number}", Title=title) for number, title in enumerate(titles)]

    imports.import_images(path=write_csv("images.csv", IMAGE_HEADER, rows), split="validation")

    assert list(Image.objects.order_by("key").values_list("title", flat=True)) == titles


@pytest.mark.parametrize(
    ("written", "rotation"),
    [("0", 0), ("0.0", 0), ("270.0", 270), ("90", 90), ("", None), ("NaN", None), ("nan", None)],
)
def test_rotation_is_read_as_the_files_write_it(write_csv, image_row, written, rotation):
    path = write_csv("images.csv", IMAGE_HEADER, [image_row(Rotation=written)])

    imports.import_images(path=path, split="validation")

    assert Image.objects.get().rotation == rotation


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"ImageID": ""}, "'' is not an image id"),
        ({"ImageID": "../../etc/passwd"}, "is not an image id"),
        ({"Rotation": "45"}, "Rotation '45' is none of 0, 90, 180, 270, NaN and empty"),
        ({"Rotation": "upright"}, "Rotation 'upright' is none of"),
        ({"Rotation": "inf"}, "Rotation 'inf' is none of"),
        ({"OriginalURL": "javascript:alert(1)"}, "is not a web address"),
        ({"Title": "x" * 501}, "Title has more than 500 characters"),
        ({"Title": "a\0b"}, "a NUL character"),
        ({"ImageID": "0001", "Title": "Another"}, "image 0001 was described otherwise further up"),
    ],
)
def test_malformed_metadata_keeps_nothing_of_the_file(write_csv, image_row, columns, reason):
    rows = [image_row("0001"), image_row("0002", **columns)]
    path = write_csv("images.csv", IMAGE_HEADER, rows)

    with pytest.raises(MalformedFile, match=f"images.csv:3: .*{reason}"):
        imports.import_images(path=path, split="validation")

    assert not Image.objects.exists()


def test_metadata_imported_again_changes_what_differs_and_keeps_the_file(write_csv, image_row):
    rows = [image_row("0001"), image_row("0002")]
    imports.import_images(path=write_csv("a.csv", IMAGE_HEADER, rows), split="validation")
    Image.objects.update(file="images/validation/x.jpg", width=4, height=3)
    rows[1] = image_row("0002", Author="Somebody else")

    counts = imports.import_images(path=write_csv("b.csv", IMAGE_HEADER, rows), split="validation")

    assert counts == Counts(read=2, new=0, changed=1)
    assert Image.objects.get(key="0002").author == "Somebody else"
    assert Image.objects.filter(file="images/validation/x.jpg", width=4).count() == 2


def test_a_base_url_says_where_the_images_are(write_csv, image_row):
    path = write_csv("images.csv", IMAGE_HEADER, [image_row("0001")])

    imports.import_images(path=path, split="validation", base_url="https://mirror.example/val/")

    assert Image.objects.get().url == "https://mirror.example/val/0001.jpg"


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://10.0.0.7:8080/val", "http://10.0.0.7:8080/val/0001.jpg"),
        ("/media/images/validation/", "/media/images/validation/0001.jpg"),
        ("/", "/0001.jpg"),
    ],
)
def test_a_base_url_may_be_any_web_address_or_a_path_of_the_site(write_csv, image_row, base, url):
    path = write_csv("images.csv", IMAGE_HEADER, [image_row("0001")])

    imports.import_images(path=path, split="validation", base_url=base)

    assert Image.objects.get().url == url


@pytest.mark.parametrize(
    "base",
    [
        "javascript:alert(1)//",
        "JavaScript:alert(1)",
        "file:///etc",
        "ftp://mirror.example/val",
        "data:text/html,x",
        "//mirror.example/val",
        "http:/mirror.example",
        "https://",
        "https://mirror.example:port/",
        "https://[mirror.example/",
        "https://mirror.example/?image=",
        "https://mirror.example/a b",
        "https://mirror.example/\n",
        "mirror.example/val",
        "https://mirror.example/" + "x" * 400,
    ],
)
def test_a_base_url_that_pages_must_not_show_images_from_is_refused(write_csv, image_row, base):
    path = write_csv("images.csv", IMAGE_HEADER, [image_row("0001")])

    with pytest.raises(DomainError, match="--base-url .* is not a valid address"):
        imports.import_images(path=path, split="validation", base_url=base)

    assert not Image.objects.exists()


def test_an_image_does_not_move_to_another_split(write_csv, image_row):
    path = write_csv("images.csv", IMAGE_HEADER, [image_row("0001")])
    imports.import_images(path=path, split="validation")

    with pytest.raises(MalformedFile, match="image 0001 belongs to the split 'validation' already"):
        imports.import_images(path=path, split="test")


def test_metadata_without_the_rotation_column_is_of_unknown_rotation(write_csv, image_row):
    path = write_csv("images.csv", IMAGE_HEADER[:-1], [image_row("0001")[:-1]])

    imports.import_images(path=path, split="validation")

    assert Image.objects.get().rotation is None


# Boxes


def test_a_box_is_read_by_its_header_whatever_the_order(write_csv, box_row, image):
    turned = write_csv(
        "boxes.csv",
        [*reversed(BOX_HEADER), "XClick1X"],
        [[*reversed(box_row(Confidence="0.5", IsGroupOf="1", IsInside="-1")), "0.25"]],
    )

    imports.import_boxes(path=turned, split="validation")

    box = Box.objects.get()
    assert (box.x_min, box.x_max, box.y_min, box.y_max) == (0.1, 0.4, 0.2, 0.8)
    assert (box.confidence, box.is_group, box.is_inside, box.is_occluded) == (
        0.5,
        True,
        None,
        False,
    )


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"XMin": "left"}, "XMin 'left' is not a number"),
        ({"XMin": ""}, "XMin '' is not a number"),
        ({"XMin": " 0.1"}, "XMin ' 0.1' is not a number"),
        ({"XMin": "0.1\n"}, r"XMin '0.1\\n' is not a number"),
        ({"XMax": "0_1"}, "XMax '0_1' is not a number"),
        ({"XMax": "0.٤"}, "XMax '0.٤' is not a number"),
        ({"YMax": "0.4.5"}, "YMax '0.4.5' is not a number"),
        ({"Confidence": "1e"}, "Confidence '1e' is not a number"),
        ({"XMin": "nan"}, "XMin nan is not between 0 and 1"),
        ({"YMax": "inf"}, "YMax inf is not between 0 and 1"),
        ({"XMax": "1.0001"}, "XMax 1.0001 is not between 0 and 1"),
        ({"YMin": "-0.1"}, "YMin -0.1 is not between 0 and 1"),
        ({"Confidence": "2"}, "Confidence 2 is not between 0 and 1"),
        ({"XMin": "0.5"}, "XMin 0.5 is greater than XMax 0.4"),
        ({"YMin": "0.9"}, "YMin 0.9 is greater than YMax 0.8"),
        ({"IsGroupOf": "yes"}, "IsGroupOf 'yes' is none of 0, 1 and -1"),
        ({"IsInside": "2"}, "IsInside '2' is none of 0, 1 and -1"),
        ({"LabelName": "/m/0zzz"}, "class '/m/0zzz' is not known; import the class descriptions"),
    ],
)
def test_a_malformed_box_keeps_nothing_of_the_file(write_csv, box_row, image, columns, reason):
    path = write_csv("boxes.csv", BOX_HEADER, [box_row(), box_row(**columns)])

    with pytest.raises(MalformedFile, match=f"boxes.csv:3: {reason}"):
        imports.import_boxes(path=path, split="validation")

    assert not Box.objects.exists()


@pytest.mark.parametrize("change", [lambda row: row[:-1], lambda row: [*row, "0"]])
def test_a_box_line_of_another_length_is_refused(write_csv, box_row, image, change):
    path = write_csv("boxes.csv", BOX_HEADER, [box_row(), change(box_row(XMin="0.2"))])

    with pytest.raises(MalformedFile, match="boxes.csv:3: 13 fields are expected, there are"):
        imports.import_boxes(path=path, split="validation")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ([name for name in BOX_HEADER if name != "IsInside"], "the header has no column IsInside"),
        (["0001", "xclick"], "the header line is missing"),
        ([*BOX_HEADER, "XMin"], "the header names a column twice"),
    ],
)
def test_a_header_that_will_not_do_is_line_one(write_csv, image, header, reason):
    path = write_csv("boxes.csv", header, [])

    with pytest.raises(MalformedFile, match=f"boxes.csv:1: {reason}"):
        imports.import_boxes(path=path, split="validation")


def test_a_box_of_an_unknown_image_is_an_error_where_images_are_required(write_csv, box_row, image):
    path = write_csv("boxes.csv", BOX_HEADER, [box_row(), box_row("9999")])

    with pytest.raises(MalformedFile, match=r"boxes.csv:3: image '9999' is not known in this"):
        imports.import_boxes(path=path, split="validation", require_images=True)

    assert not Box.objects.exists()


def test_boxes_of_unknown_images_are_passed_over_but_not_with_mistakes_in_them(
    write_csv, box_row, image
):
    rows = [box_row("9999"), box_row()]
    path = write_csv("boxes.csv", BOX_HEADER, rows)
    wrong = write_csv("wrong.csv", BOX_HEADER, [*rows, box_row("9999", XMin="x")])

    counts = imports.import_boxes(path=path, split="validation")

    assert counts == Counts(read=2, new=1, changed=0, skipped=1)
    with pytest.raises(MalformedFile, match="wrong.csv:4: XMin 'x' is not a number"):
        imports.import_boxes(path=wrong, split="validation")


def test_boxes_without_a_known_image_in_the_split_say_what_to_do(write_csv, box_row):
    path = write_csv("boxes.csv", BOX_HEADER, [box_row()])

    with pytest.raises(DomainError, match="Import their metadata with --images first"):
        imports.import_boxes(path=path, split="validation")


def test_boxes_imported_twice_change_nothing_the_second_time(write_csv, box_row, image):
    path = write_csv("boxes.csv", BOX_HEADER, [box_row(), box_row(XMin="0.3"), box_row()])

    first = imports.import_boxes(path=path, split="validation")
    before = rows_of(Box)
    second = imports.import_boxes(path=path, split="validation")

    assert first == Counts(read=3, new=2, changed=0)
    assert second == Counts(read=3, new=0, changed=0)
    assert rows_of(Box) == before


def test_the_flags_of_the_last_import_count(write_csv, box_row, image):
    unsure = write_csv("v3.csv", BOX_HEADER, [box_row(IsGroupOf="-1"), box_row(XMin="0.3")])
    sure = write_csv("v4.csv", BOX_HEADER, [box_row(IsGroupOf="1"), box_row(XMin="0.3")])
    imports.import_boxes(path=unsure, split="validation")

    counts = imports.import_boxes(path=sure, split="validation")

    assert counts == Counts(read=2, new=0, changed=1)
    assert Box.objects.get(x_min=0.1).is_group is True


def test_an_import_beside_a_running_campaign_gives_the_same_boxes(write_csv, box_row, image):
    CampaignFactory()
    path = write_csv("boxes.csv", BOX_HEADER, [box_row(), box_row(XMin="0.3"), box_row()])

    counts = imports.import_boxes(path=path, split="validation")

    assert counts == Counts(read=3, new=2, changed=0)
    assert Box.objects.count() == 2


def test_an_import_leaves_the_foreign_keys_of_boxes_in_place(write_csv, box_row, image):
    path = write_csv("boxes.csv", BOX_HEADER, [box_row()])
    with connection.cursor() as cursor:
        before = connection.introspection.get_constraints(cursor, Box._meta.db_table)

    imports.import_boxes(path=path, split="validation")

    with connection.cursor() as cursor:
        assert connection.introspection.get_constraints(cursor, Box._meta.db_table) == before


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("place", [0, 2_500, 4_999])
def test_a_mistake_far_down_in_the_file_is_named_and_the_first_of_two(
    write_csv, box_row, image, place, quoted
):
    rows = [box_row("9999" if number % 3 else "0001") for number in range(5_000)]
    rows[place] = box_row("9999", YMax="1.5")
    rows[place + 1 :] = [box_row(XMin="no number"), *rows[place + 2 :]]
    if quoted:
        rows[0] = [*rows[0][:1], "a source, named", *rows[0][2:]]
    path = write_csv("boxes.csv", BOX_HEADER, rows)

    with pytest.raises(MalformedFile, match=f"boxes.csv:{place + 2}: YMax 1.5 is not between"):
        imports.import_boxes(path=path, split="validation")

    assert not Box.objects.exists()


def test_a_box_file_that_is_not_there_is_named(tmp_path, image):
    with pytest.raises(MalformedFile, match=r"none\.csv: No such file"):
        imports.import_boxes(path=tmp_path / "none.csv", split="validation")


def test_boxes_of_unknown_images_are_passed_over_wherever_they_stand(write_csv, box_row, image):
    kept = [number for number in range(3_000) if number % 7 in {0, 3} or number > 2_900]
    rows = [
        box_row("0001" if number in kept else "9999", XMin=f"0.{number:05}", IsInside="-1")
        for number in range(3_000)
    ]
    path = write_csv("boxes.csv", BOX_HEADER, rows)

    counts = imports.import_boxes(path=path, split="validation")

    assert counts == Counts(3_000, len(kept), 0, 3_000 - len(kept))
    found = Box.objects.order_by("x_min").values_list("x_min", "is_inside", "is_group")
    assert list(found) == [(number / 100_000, None, False) for number in kept]


def test_of_a_box_stated_twice_the_last_line_counts_also_if_it_is_as_the_box_was(
    write_csv, box_row, image
):
    old, other = box_row(IsGroupOf="0"), box_row(IsGroupOf="1")
    imports.import_boxes(path=write_csv("a.csv", BOX_HEADER, [old]), split="validation")

    imports.import_boxes(path=write_csv("b.csv", BOX_HEADER, [other, old]), split="validation")

    assert Box.objects.get().is_group is False


def test_ten_thousand_boxes_in_random_order_come_in_exactly(write_csv, box_row, dog):
    generator = random.Random(7)
    images = ImageFactory.create_batch(20)
    edges = [sorted(generator.random() for _ in range(2)) for _ in range(10_000)]
    path = write_csv(
        "boxes.csv",
        BOX_HEADER,
        [box_row(generator.choice(images).key, XMin=low, XMax=high) for low, high in edges],
    )

    counts = imports.import_boxes(path=path, split="validation")

    assert counts.new == 10_000
    assert sorted(map(list, Box.objects.values_list("x_min", "x_max"))) == sorted(edges)


# The command


def run(*arguments):
    out = io.StringIO()
    call_command("import_openimages", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_the_command_wants_something_to_import():
    with pytest.raises(CommandError, match="Nothing to import: name at least one of --classes"):
        run("--split", "validation")


def test_the_command_wants_a_split_for_images(tmp_path):
    with pytest.raises(CommandError, match="need --split NAME"):
        run("--images", str(tmp_path / "images.csv"))


def test_the_command_names_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CommandError, match=r"none\.csv: No such file"):
        run("--classes", str(tmp_path / "none.csv"))


@pytest.mark.parametrize("split", ["../up", "a/b", "", ".hidden", "x" * 65])
def test_the_command_refuses_a_split_that_is_not_a_folder_name(write_csv, image_row, split):
    path = write_csv("images.csv", IMAGE_HEADER, [image_row()])

    with pytest.raises(CommandError):
        run("--images", str(path), f"--split={split}")


def test_the_real_files_import_and_a_second_run_changes_nothing(shared_data):
    folder = shared_data / "open_images"
    arguments = [
        *("--classes", str(folder / "class-descriptions-boxable.csv")),
        *("--hierarchy", str(folder / "bbox_labels_600_hierarchy.json")),
        *("--images", str(folder / "xm3600_image_metadata_with_rotation.csv")),
        *("--boxes", str(folder / "test-annotations-bbox.bodyparts.csv")),
        *("--split", "test"),
    ]

    first, second = run(*arguments), run(*arguments)

    assert first == [
        "601 classes read: 601 new, 0 changed, 0 unchanged.",
        "685 relations of classes read: 685 new, 0 changed, 0 unchanged.",
        "3,600 images read: 3,600 new, 0 changed, 0 unchanged.",
        "2,784 boxes read: 31 new, 0 changed, 0 unchanged, 2,753 of unknown images skipped.",
    ]
    assert second == [
        "601 classes read: 0 new, 0 changed, 601 unchanged.",
        "685 relations of classes read: 0 new, 0 changed, 685 unchanged.",
        "3,600 images read: 0 new, 0 changed, 3,600 unchanged.",
        "2,784 boxes read: 0 new, 0 changed, 31 unchanged, 2,753 of unknown images skipped.",
    ]
    assert Image.objects.filter(rotation=0).count() == 3020
    assert Image.objects.filter(rotation=None).count() == 371
    assert Image.objects.filter(rotation=270).count() == 160


def test_the_real_names_of_v7_replace_23_of_v4(shared_data):
    folder = shared_data / "open_images"
    imports.import_classes(path=folder / "class-descriptions-boxable.csv")

    counts = imports.import_classes(path=folder / "oidv7-class-descriptions-boxable.csv")

    assert (counts.new, counts.changed, counts.unchanged) == (0, 23, 578)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("test-annotations-bbox.bodyparts.csv", 2784),
        ("v2-val-test-annotations-human-bbox.readme-sample.csv", 9),
        ("v3-val-test-annotations-human-bbox.readme-sample.csv", 9),
    ],
)
def test_the_real_boxes_of_every_version_come_in_whole(shared_data, name, number):
    folder = shared_data / "open_images"
    imports.import_classes(path=folder / "class-descriptions-boxable.csv")
    lines = (folder / name).read_text().splitlines()[1:]
    for key in {line.split(",")[0] for line in lines}:
        ImageFactory(key=key, split="test")

    counts = imports.import_boxes(path=folder / name, split="test")

    assert (counts.read, counts.new) == (number, number)
    assert Box.objects.count() == number


def test_the_real_file_without_its_header_is_refused(shared_data):
    BoxFactory(image__split="test")
    path = shared_data / "open_images" / "test-annotations-bbox.bodyparts.noheader.csv"

    with pytest.raises(MalformedFile, match=r"noheader\.csv:1: the header line is missing"):
        imports.import_boxes(path=path, split="test")
