"""The domains of nocaps, and tables of them."""

import csv
import hashlib
import json

import pytest

from corpora.errors import DomainError
from corpora.reading.files import MalformedFile
from corpora.selection import domains
from corpora.selection.domains import preset, read_table, table_named

OPEN_IMAGES = ("class-descriptions-boxable.csv", "oidv7-class-descriptions-boxable.csv")


def labelled(*names):
    """Classes with these names, as Open Images has them; their labels do not matter."""
    return [(f"/m/{number}", name) for number, name in enumerate(names)]


def table(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return read_table(path)


@pytest.mark.parametrize(
    ("names", "domain"),
    [
        (["Dog"], "in-domain"),
        (["Dog", "Woman", "Kitchen & dining room table"], "in-domain"),
        (["Dog", "Lynx"], "near-domain"),
        (["Lynx"], "out-domain"),
        (["Mouse"], "out-domain"),
        (["Computer mouse"], "in-domain"),
        (["Airplane"], "in-domain"),
        (["Fixed-wing aircraft"], "in-domain"),
        (["mouse", "cell phone"], "in-domain"),
    ],
)
def test_the_domain_says_whether_coco_has_the_classes(names, domain):
    assert preset("coco-80").of_image(labelled(*names)) == domain


@pytest.mark.parametrize("name", domains.PRESETS)
def test_an_image_of_no_class_has_no_domain(name):
    assert preset(name).of_image([]) is None


def test_every_category_of_coco_is_there(shared_data):
    names = json.loads((shared_data / "coco" / "coco_categories_80.json").read_text())

    for table in map(preset, domains.PRESETS):
        assert table.unknown((name, name) for name in names) == [
            name for name in table.rows if not name.islower()
        ]


def open_images_classes(shared_data, *files):
    for file in files:
        with (shared_data / "open_images" / file).open(newline="") as rows:
            yield from (tuple(row) for row in csv.reader(rows) if row[0].startswith("/m/"))


@pytest.mark.parametrize("name", domains.PRESETS)
@pytest.mark.parametrize("file", OPEN_IMAGES)
def test_every_other_class_is_one_of_open_images_in_both_versions(name, file, shared_data):
    known = open_images_classes(shared_data, file)

    assert all(unknown.islower() for unknown in preset(name).unknown(known))


def test_a_class_has_one_domain_in_both_versions(shared_data):
    old, new = (dict(open_images_classes(shared_data, file)) for file in OPEN_IMAGES)

    for table in map(preset, domains.PRESETS):
        for label, name in old.items():
            assert table.of_class(label, name) == table.of_class(label, new[label])


def test_the_names_of_the_domains_are_the_published_ones(shared_data):
    content = json.loads((shared_data / "nocaps" / "nocaps_val_2250_captions.json").read_text())

    published = {image["domain"] for image in content["images"]}

    images = (["Dog"], ["Dog", "Lynx"], ["Lynx"])
    assert {preset("coco-80").of_image(labelled(*names)) for names in images} == published


def test_a_class_is_found_by_its_label_and_by_its_name_in_either_spelling(tmp_path):
    found = table(tmp_path, "class,domain\n/m/0cmf2,in-domain\nBeard,in-domain\nLynx,out-domain\n")

    assert found.of_class("/m/0cmf2", "Airplane") == "in-domain"
    assert found.of_class("/m/0cmf2", "Fixed-wing aircraft") == "in-domain"
    assert found.of_class("/m/015h_t", "Human beard") == "in-domain"
    assert found.of_class("/m/04g2r", "Lynx") == "out-domain"
    assert found.of_class("/m/0bt9lr", "Dog") == "out-domain"


def test_a_table_names_its_classes_that_a_dataset_does_not_have(tmp_path):
    found = table(tmp_path, "class,domain\nDog,in-domain\nDgo,in-domain\n/m/09zz,in-domain\n")

    assert found.unknown([("/m/0bt9lr", "Dog")]) == ["Dgo", "/m/09zz"]


def test_a_table_has_the_name_and_the_checksum_of_its_file(tmp_path):
    text = "class,domain\nDog,in-domain\n"

    found = table(tmp_path, text)

    assert found.reference == {"name": "mine", "sha256": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the header line is missing"),
        ("class,domain\n", "the table has no classes"),
        ("class\nDog\n", "the header has no column domain"),
        ("class,domain\nDog,in\n", "mine.csv:2: 'in' is not a domain: use in-domain or out-domain"),
        ("class,domain\nDog,near-domain\n", "'near-domain' is not a domain"),
        ("class,domain\n,in-domain\n", "mine.csv:2: the class is missing"),
        ("class,domain\nDog\n", "mine.csv:2: 2 fields are expected, there are 1"),
        (
            "class,domain\nDog,in-domain\n\nDog,in-domain\n",
            "mine.csv:4: the class 'Dog' is already on line 2",
        ),
        (
            "class,domain\nAirplane,in-domain\nFixed-wing aircraft,out-domain\n",
            "the class 'Fixed-wing aircraft' is already on line 2",
        ),
        (
            "class,domain\n/m/0cmf2,in-domain\nFixed-wing aircraft,out-domain\n",
            "the class 'Fixed-wing aircraft' is already on line 2",
        ),
        ("class,domain\n\0,in-domain\n", "NUL character"),
    ],
)
def test_a_faulty_table_is_refused_with_its_line(tmp_path, text, reason):
    with pytest.raises(MalformedFile) as fault:
        table(tmp_path, text)

    assert reason in str(fault.value)


def test_a_class_by_its_label_and_by_its_name_is_one_class_twice(tmp_path):
    found = table(tmp_path, "class,domain\n/m/0bt9lr,in-domain\nDog,in-domain\n")

    with pytest.raises(DomainError, match="one class twice, as /m/0bt9lr and as Dog"):
        found.of_image([("/m/0bt9lr", "Dog")])


def test_a_table_that_is_neither_a_preset_nor_a_file_is_named():
    with pytest.raises(domains.DomainError, match="no table of domains 'coco-81'. Give coco-80"):
        table_named("coco-81")
