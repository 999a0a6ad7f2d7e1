"""Count how often COCO's captions name the classes of Open Images; write the table nocaps-119.

    python tools/domain_table.py CAPTIONS.json CLASSES.csv > nocaps-119.csv

CAPTIONS is a file in COCO's form, CLASSES the boxable classes of Open Images V4 (`MID,name`).
nocaps counts as in-domain the classes of COCO's 80 categories and 39 others that COCO's training
captions mention more than 1,000 times (Agrawal et al. 2019, section 3.3). The authors did not
publish their list, so this table is not theirs. docs/releases.md describes how it was made.
"""

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from corpora.language.english import words  # noqa: E402

COCO_80 = ROOT / "corpora" / "selection" / "tables" / "coco-80.csv"
# Captions of the training set of 2014, which the threshold of 1,000 refers to.
TRAINING_CAPTIONS = 414_113
OTHERS = 39
# In COCO's captions these words are nearly always something else: a baseball bat, to watch.
OTHER_MEANINGS = {"Bat", "Watch"}
IRREGULAR = {"man": "men", "woman": "women", "person": "people", "child": "children"}
IRREGULAR |= {"mouse": "mice", "knife": "knives", "shelf": "shelves", "goose": "geese"}

Name = tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captions", type=Path)
    parser.add_argument("classes", type=Path)
    options = parser.parse_args()
    captions = [
        annotation["caption"]
        for annotation in json.loads(options.captions.read_text())["annotations"]
    ]
    with options.classes.open(newline="", encoding="utf-8") as file:
        names = [row[1] for row in csv.reader(file)]
    counts = mentions(captions, names)
    scale = TRAINING_CAPTIONS / len(captions)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["class", "domain", "coco", "mentions"])
    for row in table(counts, scale):
        writer.writerow(row)


def table(counts: Mapping[str, int], scale: float) -> Iterator[tuple[str, str, str, int | str]]:
    """The rows: the categories, a class for each of them, and the 39 other classes."""
    first: dict[str, str] = {}
    with COCO_80.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["class"] == row["coco"]:
                yield row["class"], "in-domain", row["coco"], ""
            else:
                first.setdefault(row["coco"], row["class"])
    for category, name in first.items():
        yield name, "in-domain", category, round(counts.get(name, 0) * scale)
    left_out = {*first.values(), *OTHER_MEANINGS}
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    others = [(name, count) for name, count in ranked if name not in left_out]
    for name, count in others[:OTHERS]:
        yield name, "in-domain", "", round(count * scale)


def mentions(captions: Iterable[str], names: Iterable[str]) -> Counter[str]:
    """How often captions have each name, in the singular or the plural.

    Of overlapping names only the longest counts: "tennis racket" does not mention a racket.
    """
    by_form = {form: name for name in names for form in forms(name)}
    longest = max(map(len, by_form))
    counts: Counter[str] = Counter()
    for caption in captions:
        written = words(caption)
        place = 0
        while place < len(written):
            lengths = range(min(longest, len(written) - place), 0, -1)
            forms_here = (written[place : place + length] for length in lengths)
            form = next((form for form in forms_here if form in by_form), None)
            if form:
                counts[by_form[form]] += 1
            place += len(form) if form else 1
    return counts


def forms(name: str) -> Iterator[Name]:
    """A class name in the singular and in the plural, as words."""
    *before, last = words(name.split("(")[0])
    yield (*before, last)
    for plural in plurals(last):
        yield (*before, plural)


def plurals(word: str) -> Iterator[str]:
    for singular, plural in IRREGULAR.items():
        if word.endswith(singular):
            yield word.removesuffix(singular) + plural
    yield word + "s"
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        yield word + "es"
    if word.endswith("y"):
        yield word[:-1] + "ies"


if __name__ == "__main__":
    main()
