"""Randomly changed files: each command either reads them or ends with a one-line error."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.models import Image
from corpora.reading.files import MalformedFile
from qualcontrol.services.intake import review_submitted
from simulation.scenes.dataset import BOX_HEADER, IMAGE_HEADER
from tests.factories import (
    NOON,
    CampaignFactory,
    ClassFactory,
    ImageFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
)

pytestmark = pytest.mark.django_db

# More of them find more: `FUZZ_EXAMPLES=1000 pytest --hypothesis-profile=search` looks for others.
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "25"))
# Contents that have crashed readers of files, or might.
SNIPPETS = [
    b"\x00", b"\x92", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n", b"\r\n\r\n",
    b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\\", b"\\u0000", b"\\ud800", b"\\udc00\\ud800",
    b"{", b"}", b"[", b"]", b"[" * 3000, b"]" * 3000, b'{"a":' * 3000, b"null", b"NaN",
    b"-Infinity", b"1e999", b"9" * 5000, b"-1", b"9223372036854775808", b"true", b"0002-02-22",
    b"x" * 140_000, b"http://[", b"javascript:", b"\xe2\x80\xa8", b"\x85", b"=", b"#",
    b"a.b" * 900 + b" = 1\n",
]  # fmt: skip
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252"]

change = st.one_of(
    st.tuples(st.just("insert"), st.floats(0, 1), st.sampled_from(SNIPPETS)),
    st.tuples(st.just("insert"), st.floats(0, 1), st.binary(max_size=4)),
    st.tuples(st.just("cut"), st.floats(0, 1), st.integers(1, 200)),
    st.tuples(st.just("double"), st.floats(0, 1), st.integers(1, 200)),
    st.tuples(st.just("flip"), st.floats(0, 1), st.integers(1, 255)),
)
changes = st.tuples(st.lists(change, min_size=1, max_size=4), st.sampled_from(ENCODINGS))


def changed(content: str, how: list, encoding: str) -> bytes:
    data = content.encode(encoding, "replace")
    for kind, where, what in how:
        at = round(where * len(data))
        if kind == "insert":
            data = data[:at] + what + data[at:]
        elif kind == "cut":
            data = data[:at] + data[at + what :]
        elif kind == "double":
            data = data[: at + what] + data[at:]
        elif at < len(data):
            data = data[:at] + bytes([data[at] ^ what]) + data[at + 1 :]
    return data


def rows(*lines: list) -> str:
    return "".join(",".join(map(str, line)) + "\n" for line in lines)


def coco(**lists: list) -> str:
    return json.dumps({"info": {}, "licenses": [], **lists}, indent=1)


IMAGE = dict.fromkeys(IMAGE_HEADER, "") | {"ImageID": "0001", "Author": "Anna", "Rotation": "0.0"}
BOX = dict.fromkeys(BOX_HEADER, "0") | {"ImageID": "img1", "LabelName": "/m/0a", "XMax": "0.5"}
CATEGORY = {"id": 17, "name": "cat"}
PIXELS = {"id": 7, "width": 64, "height": 48, "coco_url": "https://images.example/7.jpg"}
ANNOTATION = {"id": 1, "image_id": 7, "category_id": 17, "bbox": [1, 2.5, 3, 4], "iscrowd": 0}
HIERARCHY = {"LabelName": "/m/0bl9f", "Subcategory": [{"LabelName": "/m/0a"}]}
BOXES = {
    "1": {"image_id": "a", "label": "cat", "fractions": [0, 0, 1, 1]},
    "2": {"image_id": "b", "label": "cat", "fractions": [0, 0.25, 1, 0.5]},
}
CAMPAIGN = """
name = "mine"
preset = "nocaps"
selection = "few"
budget = "10.00"
seed = 5
[hit]
reward = "0.10"
title = "Describe it"
[review]
share = 0.5
limit = 0.1
[[instructions.bad]]
text = "Nice!"
why = "It says nothing."
"""

# Each command with a file that it takes, which is FILE; the others are always the same.
FILES = ("FILE", "GOLD", "OTHERS", "RESULTS")
CASES: dict[str, tuple[list[str], Callable[[dict], str]]] = {
    "judge": (
        ["judge", "pilot", "FILE"],
        lambda known: "".join(
            json.dumps({"response": pk, "verdict": verdict, "reason": "a “list”"}) + "\n"
            for pk, verdict in zip(known["responses"], ["good", "bad", "BAD"], strict=True)
        ),
    ),
    "judge, a table": (
        ["judge", "pilot", "FILE"],
        lambda known: rows(
            ["response", "verdict", "reason"],
            *([pk, "bad", '"a list,\nof words"'] for pk in known["responses"]),
        ),
    ),
    "judge, an array": (
        ["judge", "pilot", "FILE"],
        lambda known: json.dumps(
            [{"response": pk, "verdict": "good"} for pk in known["responses"]], indent=1
        ),
    ),
    "import_captions, a batch": (
        ["import_captions", "pilot", "FILE"],
        lambda known: rows(
            ["WorkerId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds", "Input.image"]
            + ["Answer.caption"],
            ["A1", "Approved", "Wed Oct 07 05:12:31 PDT 2015", 12, "img1", '"A dog,\nbrown."'],
            ["A2", "Rejected", "2026-01-02T03:04:05Z", "", "img2", "Nothing to see here."],
            ["A3", "Submitted", "", 3.5, "img2", "A café by the sea."],
        ),
    ),
    "import_captions, packed answers": (
        ["import_captions", "pilot", "FILE"],
        lambda known: rows(
            ["WorkerId", "AssignmentStatus", "Input.image", "Answer.taskAnswers"],
            ["A1", "Approved", "img1", '"[{""caption"":""A dog runs.""}]"'],
        ),
    ),
    "import_captions, lines": (
        ["import_captions", "pilot", "FILE"],
        lambda known: "".join(
            json.dumps({"image": image, "worker": worker, "caption": "A dog.", **more}) + "\n"
            for image, worker, more in [
                ("img1", "A1", {"seconds": 3, "submitted_at": "2026-01-02", "pasted": True}),
                ("img2", "A2", {"status": "Approved"}),
            ]
        ),
    ),
    "import_openimages, classes": (
        ["import_openimages", "--classes", "FILE"],
        lambda known: rows(["LabelName", "DisplayName"], ["/m/0b", "Dog"], ["/m/0c", '"Cat, big"']),
    ),
    "import_openimages, hierarchy": (
        ["import_openimages", "--hierarchy", "FILE"],
        lambda known: json.dumps(HIERARCHY, indent=1),
    ),
    "import_openimages, images": (
        ["import_openimages", "--images", "FILE", "--split", "new"],
        lambda known: rows(IMAGE_HEADER, IMAGE.values(), (IMAGE | {"ImageID": "0002"}).values()),
    ),
    "import_openimages, boxes": (
        ["import_openimages", "--boxes", "FILE", "--split", "validation"],
        lambda known: rows(BOX_HEADER, BOX.values(), (BOX | {"YMax": "1"}).values()),
    ),
    "import_coco": (
        ["import_coco", "FILE", "--split", "coco"],
        lambda known: coco(images=[PIXELS], categories=[CATEGORY], annotations=[ANNOTATION]),
    ),
    "select_images, a list": (
        ["select_images", "--split", "validation", "--ids", "FILE", "--name", "listed"],
        lambda known: json.dumps([{"image": "val/img1.jpg", "img_id": 0}, "img2"], indent=1),
    ),
    "import_coco, captions": (
        ["import_coco", "FILE", "--split", "validation", "--captions", "mine"],
        lambda known: coco(
            images=[{"id": 1, "open_images_id": "img1"}],
            annotations=[{"id": 1, "image_id": 1, "caption": "A “cat”."}],
        ),
    ),
    "create_campaign": (["create_campaign", "FILE"], lambda known: CAMPAIGN),
    "content_selection, gold": (
        ["content_selection", "FILE", "RESULTS"],
        lambda known: json.dumps({"a": [["1", "2"], [3]], "b": []}),
    ),
    "content_selection, results": (
        ["content_selection", "GOLD", "FILE"],
        lambda known: json.dumps({"a": ["1", 2], "c": []}),
    ),
    "content_selection, boxes": (
        ["content_selection", "GOLD", "--boxes", "FILE", "--development", "OTHERS"],
        lambda known: json.dumps({"boxes": BOXES}),
    ),
}


@pytest.fixture
def known(tmp_path):
    """The rows that the files refer to."""
    campaign = CampaignFactory(slug="pilot", config={"references": 2})
    responses = []
    for name in ("img1", "img2", "img3"):
        image = ImageFactory(key=name, split="validation")
        task = TaskFactory(campaign=campaign, image=image)
        responses.append(ResponseFactory(task=task, text="A dog runs over a green lawn there."))
    review_submitted(campaign=campaign, responses=responses, at=NOON)
    ClassFactory(label="/m/0a", name="Cat")
    SelectionFactory(name="few")
    (tmp_path / "GOLD").write_text(json.dumps({"a": [["1"]]}))
    (tmp_path / "OTHERS").write_text(json.dumps({"b": [["2"]]}))
    (tmp_path / "RESULTS").write_text(json.dumps({"a": ["1"]}))
    return {"responses": [response.pk for response in responses]}


def run(arguments: list[str], folder: Path) -> str:
    """Run a command and return its output on both streams; raises CommandError."""
    out = io.StringIO()
    paths = (str(folder / one) if one in FILES else one for one in arguments)
    call_command(*paths, stdout=out, stderr=out)
    return out.getvalue()


@pytest.mark.parametrize("case", CASES)
def test_each_command_takes_its_file(known, tmp_path, case):
    arguments, content = CASES[case]
    (tmp_path / "FILE").write_text(content(known), encoding="utf-8")

    run(arguments, tmp_path)


@pytest.mark.parametrize("case", CASES)
@given(how=changes)
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def test_no_file_brings_a_command_down(known, tmp_path, case, how):
    arguments, content = CASES[case]
    (tmp_path / "FILE").write_bytes(changed(content(known), *how))

    said = ""
    with transaction.atomic():
        try:
            said = run(arguments, tmp_path)
        except CommandError as error:
            # A campaign's file has a line for each key that is wrong.
            lines = str(error).splitlines()
            assert len(lines) == 1 or arguments[0] == "create_campaign"
            said = str(error)
        said.encode()
        connection.check_constraints()
        assert not Image.objects.filter(url__startswith="javascript:").exists()
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    "arguments",
    [
        *(arguments for arguments, _ in CASES.values()),
        ["import_images", "FILE", "--split", "own"],
        ["evaluate", "FILE"],
        ["report", "FILE", "--out", "new"],
    ],
    ids=" ".join,
)
def test_a_file_name_that_is_too_long_for_a_disk_ends_a_command_with_one_line(known, arguments):
    with pytest.raises(CommandError) as refused:
        call_command(*("x" * 300 if part == "FILE" else part for part in arguments))

    assert len(str(refused.value).splitlines()) == 1


def test_an_error_is_one_line_whatever_the_file_is_called():
    error = MalformedFile("a\nb\udc80.csv", "a column is called \x1b[31m", 3)

    assert str(error) == r"a\nb\udc80.csv:3: a column is called \x1b[31m"
