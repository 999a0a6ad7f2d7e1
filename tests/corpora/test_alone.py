"""`corpora` works without the site: its commands, what they import, and what is declared."""

import ast
import gzip
import json
import re
import subprocess
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpora.__main__ import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
TREE = [path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name != "corpora"]
BLOCKED = ["django", "rest_framework", *TREE]
# What the names of packages are where their modules have others.
PACKAGES = {"sklearn": "scikit-learn"}
PAGE = ROOT / "docs" / "scoring-alone.md"
EXAMPLES = re.findall(r"^python -m corpora (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
WITHOUT_THE_SITE = """
import pkgutil, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocker())
import corpora
for module in pkgutil.walk_packages(corpora.__path__, "corpora."):
    __import__(module.name)
from corpora.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples of the page name; the current one."""
    texts = ["a brown dog runs on grass", "a black cat sits", "the cat sits down"]
    image = {"width": 100, "height": 50}
    files: dict[str, Any] = {
        "captions.json": {
            "images": [{"id": n} for n in range(6)],
            "annotations": [
                {"id": 3 * n + k, "image_id": n, "caption": f"{texts[(n + k) % 3]} {n}"}
                for n in range(6)
                for k in range(3)
            ],
        },
        "results.json": [{"image_id": n, "caption": texts[n % 3]} for n in range(6)],
        "ratings.json": {
            "captions": [
                {
                    "image_id": n,
                    "sources": {name: text},
                    "ratings": [{"true": 1 + n % 4}, {"true": k}],
                }
                for n in range(6)
                for k, (name, text) in enumerate([("a", texts[0]), ("b", texts[n % 3])])
            ]
        },
        "gold.json": {"1": [["a", "b"], ["a"]]},
        "selected.json": {"1": ["a"]},
        "instances.json": {
            "images": [{"id": 7, **image}, {"id": 8, **image}],
            "categories": [{"id": 1, "name": "person"}, {"id": 2, "name": "dog"}],
            "annotations": [
                {"id": 1, "image_id": 7, "category_id": 1, "bbox": [0, 0, 100, 50]},
                {"id": 2, "image_id": 7, "category_id": 2, "bbox": [10, 10, 50, 25]},
            ],
        },
    }
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    monkeypatch.chdir(tmp_path)
    # Without Java, which takes long to start, words are split by our tokeniser.
    monkeypatch.setenv("PATH", "")
    return tmp_path


def test_the_page_has_an_example_of_each_command():
    assert [example.split()[0] for example in EXAMPLES] == [*COMMANDS]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_page_run(folder, capsys, example):
    assert main(example.split()) == 0
    assert capsys.readouterr().out


@pytest.mark.slow
def test_nothing_of_the_site_is_needed(folder):
    assert {"annotate", "shared", "marketplace"} <= set(BLOCKED)

    done = subprocess.run(
        [sys.executable, "-c", f"BLOCKED = {BLOCKED}\n{WITHOUT_THE_SITE}"]
        + ["evaluate", "captions.json", "results.json", "--tokeniser", "plain"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "CIDEr-D" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="This system has no /dev/full.")
def test_output_to_a_full_disk_ends_in_a_line(folder):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "corpora"]
            + ["evaluate", "captions.json", "results.json", "--tokeniser", "plain"],
            env={"PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (1, "Error: No space left on device.\n")


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("evaluate missing.json results.json", 1, "missing.json: No such file"),
        ("evaluate captions.json", 2, "Name RESULTS.json, or --leave-one-out"),
        ("evaluate captions.json results.json --language 5", 2, "--language: write the tag"),
        ("correlate ratings.json", 2, "There is nothing to compare people with. Name"),
        ("correlate ratings.json --results f.csv --metrics cider", 2, "need --references"),
        ("correlate ratings.json --results f.csv --tokeniser ptb", 2, "need --references"),
        ("correlate captions.json", 1, "captions.json: it has no list `captions`"),
        ("correlate ratings.json --references captions.json --metrics x", 2, "no metric 'x'"),
        ("constraints boxes.csv", 2, "add --classes"),
        ("constraints instances.json --hierarchy h.json", 2, "for a CSV file of Open Images"),
        ("splits captions.json --validation-share 2", 2, "must be a number from 0 to 1"),
        ("content_selection gold.json", 2, "Name RESULTS"),
        ("report captions.json --out new --against-boxes b.json", 2, "--against, which is missing"),
        (f"report captions.json --out new --domains {'x' * 300}", 1, "no table of domains 'xxx"),
    ],
)
def test_an_error_is_one_line_and_a_status(folder, capsys, command, status, message):
    assert main(command.split()) == status

    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


def test_a_mistyped_option_has_the_status_of_a_wrong_option(folder):
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", "captions.json", "--metrik", "bleu"])


def test_the_help_names_each_command(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])

    said = capsys.readouterr().out
    assert all(f"    {name}" in said for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_argument_is_explained(command):
    parser = ArgumentParser()

    command.add_arguments(parser)

    assert [action.dest for action in parser._actions if not action.help] == []


def test_constraints_of_an_instances_file_leave_out_classes_by_name(folder, capsys):
    main(["constraints", "instances.json"])

    content = json.loads(capsys.readouterr().out)

    first, second = content["images"]
    assert (first["image_id"], second) == (7, {"image_id": 8, "constraints": []})
    assert [(one["name"], one["words"]) for one in first["constraints"]] == [
        ("dog", ["dog", "dogs"])
    ]
    assert first["constraints"][0]["fractions"] == [0.1, 0.2, 0.6, 0.7]
    assert content["info"]["excluded_classes"] == ["coco:1"]


def test_constraints_of_a_packed_instances_file_are_the_same(folder, capsys):
    packed = gzip.compress((folder / "instances.json").read_bytes())
    (folder / "packed.json.gz").write_bytes(packed)

    assert main(["constraints", "packed.json.gz"]) == 0

    assert len(json.loads(capsys.readouterr().out)["images"]) == 2


def test_constraints_of_open_images_follow_the_hierarchy(folder, capsys, shared_data):
    data = shared_data / "open_images"
    rows = ["ImageID,LabelName,Confidence,XMin,XMax,YMin,YMax"]
    rows += [f"0b5e,{label},1,0,1,0,1" for label in ("/m/0jbk", "/m/0bt9lr")]  # animal, dog
    (folder / "boxes.csv").write_text("\n".join(rows) + "\n")
    classes = data / "class-descriptions-boxable.csv"
    hierarchy = ["--hierarchy", str(data / "bbox_labels_600_hierarchy.json")]

    def names(*more: str) -> list[str]:
        main(["constraints", "boxes.csv", "--classes", str(classes), *more])
        (image,) = json.loads(capsys.readouterr().out)["images"]
        assert image["open_images_id"] == "0b5e"
        return [one["name"] for one in image["constraints"]]

    assert names() == ["Dog", "Animal"]
    assert names(*hierarchy) == ["Dog"]


def test_votes_of_comparisons_are_correlated_with_the_columns_that_are_brought(folder, capsys):
    """Of the pairs of an image, people and the metric agree on two of three, one of them weakly."""
    votes = {("a", "b"): 1, ("b", "c"): 2, ("a", "c"): 4}
    figures = {"a": 0.9, "b": 0.5, "c": 0.1}
    comparisons = [
        {
            "image_id": image,
            "a": {"text": f"by {one}", "sources": [one]},
            "b": {"text": f"by {other}", "sources": [other]},
            "votes": [{"worker": 1, "overall": step}, {"worker": 2, "overall": step}],
        }
        for image in (1, 2)
        for (one, other), step in votes.items()
    ]
    (folder / "preferences.json").write_text(json.dumps({"comparisons": comparisons}))
    rows = [f"{image},{name},{figures[name]}" for image in (1, 2) for name in figures]
    (folder / "clip.csv").write_text("\n".join(["image_id,source,clip", *rows]))

    main(["correlate", "preferences.json", "--results", "clip.csv", "--resamples", "20", "--json"])

    overall = json.loads(capsys.readouterr().out)["criteria"]["overall"]
    assert overall["captions"]["clip"] == {
        "accuracy": {"value": pytest.approx(2 / 3), "interval": None}
    }
    assert overall["captions"]["one person"]["accuracy"]["value"] == 1
    assert overall["people"] == {"a": 0.5, "b": -0.5, "c": 0.0}
    assert overall["systems"]["clip"]["accuracy"]["value"] == pytest.approx(2 / 3)


def test_two_figures_of_a_source_for_an_image_are_refused(folder, capsys):
    (folder / "clip.csv").write_text("image_id,source,clip\n1,a,0.5\n1,a,0.5\n1,a,0.6\n")

    assert main(["correlate", "ratings.json", "--results", "clip.csv"]) == 1

    assert "clip.csv:4: image 1 has another clip of a above" in capsys.readouterr().err


def test_the_declared_dependencies_are_those_that_are_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = set(project["dependencies"])
    extras = {name for names in project["optional-dependencies"].values() for name in names}
    at_start, later = set(), set()
    for path in (ROOT / "corpora").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        at_start |= set(imported(tree.body))
        later |= set(imported(ast.walk(tree)))

    # Some are imported inside functions for a quick start. The extras are optional.
    assert at_start <= declared
    assert later | {"pycocoevalcap"} == declared | extras
    assert not declared & extras


def imported(nodes: Any) -> Iterator[str]:
    """The packages from outside that these nodes import."""
    for node in nodes:
        names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            top = name.partition(".")[0]
            if top != "corpora" and top not in sys.stdlib_module_names:
                yield PACKAGES.get(top, top)
