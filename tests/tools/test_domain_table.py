"""The script that counts class names in captions and writes a table of domains."""

import csv
import subprocess
import sys

import pytest

from corpora.selection.domains import TABLES
from tools.domain_table import forms, mentions, table

SCRIPT = TABLES.parents[2] / "tools" / "domain_table.py"


def test_names_are_counted_in_the_singular_and_the_plural():
    captions = ["Two women and a Woman.", "A box, boxes and a boxer.", "Shelves, a shelf."]

    assert mentions(captions, ["Woman", "Box", "Shelf"]) == {"Woman": 2, "Box": 2, "Shelf": 2}


def test_of_overlapping_names_only_the_longest_counts():
    found = mentions(["A tennis racket and a racket."], ["Racket", "Tennis racket"])

    assert found == {"Racket": 1, "Tennis racket": 1}


def test_a_note_in_brackets_is_not_part_of_a_name():
    assert ("bat",) in set(forms("Bat (Animal)"))


def test_words_with_another_meaning_are_no_class():
    rows = {name: count for name, _, category, count in table({"Bat": 9, "Tree": 2}, 10)
            if not category}  # fmt: skip

    assert rows == {"Tree": 20}


@pytest.mark.slow
def test_the_table_in_the_package_is_what_the_script_writes(shared_data):
    files = ("coco/coco_karpathy_val_gt.json", "open_images/class-descriptions-boxable.csv")

    written = subprocess.run(
        [sys.executable, SCRIPT, *(shared_data / file for file in files)],
        capture_output=True,
        check=True,
    )

    assert written.stdout == (TABLES / "nocaps-119.csv").read_bytes()


def test_the_table_has_a_class_for_each_category_and_39_others():
    with (TABLES / "nocaps-119.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["class"] != row["coco"]]

    assert len({row["coco"] for row in rows if row["coco"]}) == 80
    assert len({row["class"] for row in rows if not row["coco"]}) == 39
    assert {"Table", "Plate", "Tree"} <= {row["class"] for row in rows}
