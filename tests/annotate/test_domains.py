"""The domains of nocaps."""

import csv
import json

import pytest

from annotate.selection.domains import COCO_CATEGORIES, domain_of


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
        ([], "in-domain"),
    ],
)
def test_the_domain_says_whether_coco_has_the_classes(names, domain):
    assert domain_of(names) == domain


def test_every_category_of_coco_is_there(shared_data):
    names = json.loads((shared_data / "coco" / "coco_categories_80.json").read_text())

    assert sorted(COCO_CATEGORIES) == sorted(names)


def test_every_class_named_is_one_of_open_images(shared_data):
    known = set()
    for name in ("class-descriptions-boxable.csv", "oidv7-class-descriptions-boxable.csv"):
        with (shared_data / "open_images" / name).open(newline="") as file:
            known |= {row[1] for row in csv.reader(file)}

    assert {name for names in COCO_CATEGORIES.values() for name in names} <= known


def test_the_names_of_the_domains_are_the_published_ones(shared_data):
    content = json.loads((shared_data / "nocaps" / "nocaps_val_2250_captions.json").read_text())

    published = {image["domain"] for image in content["images"]}

    assert {domain_of(names) for names in (["Dog"], ["Dog", "Lynx"], ["Lynx"])} == published
