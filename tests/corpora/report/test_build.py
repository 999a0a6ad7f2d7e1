"""The report: its numbers, its files, and what it refuses."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from annotate.models import Box, Campaign, ObjectClass
from annotate.services.reports import create_report, report_folder
from corpora.commands.report import results_of
from corpora.report.build import make_report, write_report
from corpora.report.captions_file import read_dataset
from corpora.report.dataset import Corpus, Dataset, ReportCaption, ReportImage
from corpora.report.sections import SECTIONS
from corpora.report.sections.base import Inputs
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ClassFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
)
from tests.jobs import run_jobs

# What a report reads from the database is tested by the exports, too.
pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

CAPTION = "A brown dog runs over the wet grass beside a small lake."
sentences = st.lists(st.lists(st.sampled_from("abcde"), max_size=7), max_size=8)


def captions_json(path: Path, texts: dict[int, list[str]], **keys: object) -> Path:
    images = [{"id": number, **keys} for number in texts]
    annotations = [
        {"id": 100 * number + place, "image_id": number, "caption": text}
        for number, some in texts.items()
        for place, text in enumerate(some)
    ]
    path.write_text(json.dumps({"images": images, "annotations": annotations}))
    return path


@pytest.fixture
def captions(tmp_path):
    texts = {n: [CAPTION, f"A cat sleeps on the sofa number {n}."] for n in range(1, 5)}
    return captions_json(tmp_path / "mine.json", texts)


@given(sentences)
def test_ngrams_are_counted_as_by_sets_of_tuples(texts):
    for length, grams in enumerate(Corpus.of(texts).ngrams(), start=1):
        expected = [
            (place, tuple(words[start : start + length]))
            for place, words in enumerate(texts)
            for start in range(len(words) - length + 1)
        ]

        assert grams.unique == len({gram for _, gram in expected})
        assert grams.captions.tolist() == [place for place, _ in expected]
        assert Counter(grams.numbers.tolist()).most_common(1)[:1] == [] or max(
            Counter(grams.numbers.tolist()).values()
        ) == max(Counter(gram for _, gram in expected).values())


@given(sentences, st.randoms(use_true_random=False))
def test_a_part_of_a_corpus_has_the_words_of_its_captions(texts, rng):
    picked = [place for place in range(len(texts)) if rng.random() < 0.5]
    rng.shuffle(picked)

    part = Corpus.of(texts).take(np.array(picked, dtype=np.int64))

    assert part.texts() == [texts[place] for place in picked]


def test_the_unique_ngrams_of_nocaps_and_coco_are_those_of_the_paper(shared_data):
    nocaps = read_dataset(shared_data / "nocaps" / "nocaps_val_2250_captions.json")
    coco = read_dataset(shared_data / "coco" / "coco_karpathy_val_gt.json")

    found = make_report(Inputs(nocaps, coco)).numbers["ngrams"]["equal_captions"]

    # Agrawal et al. 2019, table 1, for 4,500 images with five captions each.
    paper = {
        "dataset": [8_291, 59_714, 116_765, 144_577],
        "against": [6_913, 46_664, 92_946, 119_582],
    }
    assert (found["dataset"]["images"], found["against"]["images"]) == (2_250, 4_500)
    for key, counts in paper.items():
        assert [found[key][str(n)] for n in range(1, 5)] == pytest.approx(counts, rel=0.04)


def test_the_report_is_one_page_with_its_numbers_and_figures(captions, tmp_path):
    out = tmp_path / "report"

    call_command("report", str(captions), out=out)

    page = (out / "report.html").read_text()
    assert json.loads((out / "report.json").read_text())["dataset"]["captions"] == 8
    assert page.count("<svg") == len(list((out / "figures").glob("*.svg"))) > 0
    assert {path.stem for path in (out / "figures").glob("*.png")} == {
        path.stem for path in (out / "figures").glob("*.svg")
    }
    # Names of XML namespaces are no addresses that a browser opens.
    assert not re.findall(r'(?:src|(?<!:)href|url\()=?["(]?(?!#)(?:https?:|//|[\w./]+\.)', page)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_same_seed_gives_the_same_bytes(captions, tmp_path):
    for name in ("one", "two"):
        write_report(make_report(Inputs(read_dataset(captions), seed=3)), tmp_path / name)

    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert len(files) > 3
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_data_that_a_captions_file_does_not_have_are_named(captions):
    numbers = make_report(Inputs(read_dataset(captions))).numbers

    assert "does not say who wrote" in numbers["absent"]["workers"]
    assert "no boxes" in numbers["per_image"]["absent"]["boxes.dataset"]
    assert "boxes" not in numbers["per_image"]


def test_boxes_come_from_an_instances_file(captions, tmp_path):
    boxes = tmp_path / "instances.json"
    annotations = [{"image_id": 1, "category_id": n} for n in (1, 1, 2)]
    categories = [{"id": 1, "name": "dog"}, {"id": 2, "name": "cat"}]
    boxes.write_text(json.dumps({"annotations": annotations, "categories": categories}))

    found = make_report(Inputs(read_dataset(captions, boxes))).numbers["per_image"]

    assert found["boxes"]["dataset"]["counts"] == {"0": 3, "3": 1}
    assert found["classes"]["dataset"]["most"] == 2


@pytest.mark.parametrize(
    "texts",
    [{1: ["A dog."]}, {1: ["."]}, {1: [CAPTION] * 5, 2: [CAPTION] * 5}, {1: [], 2: []}],
    ids=["one caption", "no word", "identical captions", "no captions"],
)
def test_small_datasets_have_a_report(tmp_path, texts):
    captions = captions_json(tmp_path / "small.json", texts)

    call_command("report", str(captions), out=tmp_path / "out", against=captions)

    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.parametrize("name", [r"from $5 to \frac $6", "_hidden_by_legends"])
def test_any_name_of_a_file_or_a_subset_is_in_the_legends_as_it_is(tmp_path, name):
    texts = {number: [CAPTION, "A cat sleeps."] for number in range(1, 9)}
    found = read_dataset(captions_json(tmp_path / f"{name}.json", texts, domain=name))
    features = np.arange(32.0).reshape(8, 4) ** 2

    sections = make_report(Inputs(found, found, features=features)).sections

    drawn = {each.plot.name: each.files.svg.decode() for one in sections for each in one.figures}
    for figure in ("words_per_image", "ngrams", "similarity"):
        assert name in drawn[figure]


def test_names_that_the_font_does_not_have_are_told_apart(tmp_path):
    texts = {number: [CAPTION, "A cat sleeps."] for number in range(1, 9)}
    dog, cat = (
        read_dataset(captions_json(tmp_path / f"{name}.json", texts, domain=name))
        for name in ("犬", "猫")
    )

    sections = make_report(Inputs(dog, cat, features=np.arange(32.0).reshape(8, 4) ** 2)).sections

    drawn = {each.plot.name: each.files.svg.decode() for one in sections for each in one.figures}
    assert all(rf"\u{ord(name):x}" in drawn["ngrams"] for name in "犬猫")
    assert rf"\u{ord('犬'):x}" in drawn["similarity"]
    assert "犬" in sections[1].tables[0].rows[0][0]


def test_a_number_of_one_is_in_the_singular(tmp_path):
    captions = captions_json(tmp_path / "small.json", {1: ["A dog."]})
    content = json.loads(captions.read_text())
    content["annotations"][0] |= {"worker": 1, "primed": True}
    content["annotations"].append({**content["annotations"][0], "id": 2, "primed": False})
    captions.write_text(json.dumps(content))

    call_command("report", str(captions), out=tmp_path / "out")

    page = (tmp_path / "out" / "report.html").read_text()
    assert "1 worker wrote 2 captions" in page
    assert "Half of the captions are by as few as 1 worker." in page
    assert "1 image has captions by workers who saw" in page


def test_two_files_of_one_name_have_names_of_their_own(captions, tmp_path):
    (tmp_path / "other").mkdir()
    second = captions_json(tmp_path / "other" / captions.name, {7: [CAPTION]})

    call_command("report", str(captions), out=tmp_path / "out", against=second)

    names = numbers_of(tmp_path / "out")["ngrams"]["names"]
    assert names == {"dataset": "mine", "against": "mine (second dataset)"}


def test_results_are_compared_with_references_that_have_no_content_words(tmp_path):
    captions = captions_json(tmp_path / "small.json", {1: ["It is on it."], 2: ["..."]})
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"image_id": n, "caption": CAPTION} for n in (1, 2)]))

    # A warning of an empty legend fails the test.
    call_command("report", str(captions), out=tmp_path / "out", results=results)

    assert not (tmp_path / "out" / "figures" / "local_recall.svg").exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[]", "is one JSON object"),
        ("{}", "no list `images`"),
        ('{"images": [], "annotations": []}', "has no images"),
        ('{"images": [{"id": 1}]}', "no list `annotations`"),
        ('{"images": [{"id": true}], "annotations": []}', "not a whole number"),
        ('{"images": [{"id": 1}, {"id": 1}], "annotations": []}', "occurs twice"),
        (
            '{"images": [{"id": 1}], "annotations": [{"image_id": 2, "caption": "A dog."}]}',
            "there is no image 2",
        ),
        ('{"images": [{"id": 1}], "annotations": [{"image_id": 1}]}', "caption None is not a text"),
        ('{"images": [{"id": NaN}], "annotations": []}', "whole number"),
    ],
)
def test_a_wrong_file_is_named_and_leaves_nothing(tmp_path, content, reason):
    path = tmp_path / "wrong.json"
    path.write_text(content)

    with pytest.raises(CommandError, match=reason):
        call_command("report", str(path), out=tmp_path / "out")

    assert [one.name for one in tmp_path.iterdir()] == ["wrong.json"]


def test_a_folder_with_other_files_is_not_replaced(captions, tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")

    with pytest.raises(CommandError, match="has other files"):
        call_command("report", str(captions), out=tmp_path)

    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_a_report_that_fails_leaves_the_old_one(captions, tmp_path, monkeypatch):
    out = tmp_path / "out"
    call_command("report", str(captions), out=out)
    before = (out / "report.json").read_bytes()
    monkeypatch.setattr("corpora.report.build.Environment", lambda **_: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        call_command("report", str(captions), out=out)

    assert (out / "report.json").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.json", "out"]


@pytest.fixture
def release():
    """Two images with two references and a baseline each; the first one has two boxes."""
    campaign = CampaignFactory(slug="done", config={"references": 2})
    dog = ClassFactory(name="Dog")
    for number in (1, 2):
        task = TaskFactory(campaign=campaign, number=number)
        for place in range(3):
            ResponseFactory(task=task, text=f"A dog sees {'zebra' * number} {place}.")
        if number == 1:
            for x_min in (0.1, 0.2):
                BoxFactory(image=task.image, object_class=dog, x_min=x_min)
    return release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)


def numbers_of(out: Path) -> dict:
    return json.loads((out / "report.json").read_text())


def test_a_release_has_a_report_that_does_not_change_with_its_images(tmp_path, release):
    call_command("report", "v1", out=tmp_path / "before")
    Box.objects.all().delete()
    ObjectClass.objects.update(name="Renamed")

    call_command("report", "v1", out=tmp_path / "after")

    numbers = numbers_of(tmp_path / "after")
    assert numbers["dataset"]["references"] == 4
    assert numbers["dataset"]["human_baseline"] == 2
    assert numbers["workers"]["captions"] == 6
    assert numbers["per_image"]["boxes"]["dataset"]["counts"] == {"0": 1, "2": 1}
    [dog] = numbers["mentions"]["classes"]
    assert (dog["name"], dog["domain"], dog["dataset"]) == ("Dog", "in-domain", 6)
    assert numbers_of(tmp_path / "before") == numbers


def test_hidden_captions_are_not_in_a_report(tmp_path, release):
    release.images.filter(number=2).update(is_hidden=True)

    call_command("report", "v1", out=tmp_path / "out")

    numbers = numbers_of(tmp_path / "out")
    assert (numbers["dataset"]["images"], numbers["dataset"]["hidden_images"]) == (2, 1)
    assert numbers["dataset"]["captions"] == 3
    everything = "".join(
        path.read_text() for path in (tmp_path / "out").rglob("*.*") if path.suffix != ".png"
    )
    assert "zebrazebra" not in everything


def test_a_report_is_created_and_opened_on_the_releases_page(client, release):
    client.force_login(UserFactory())
    assert client.get("/releases/v1/report/").status_code == 404

    job_page = client.post("/releases/v1/report/").url
    run_jobs()

    assert "Report created." in client.get(job_page).content.decode()
    page = client.get("/releases/v1/").content.decode()
    assert 'href="/releases/v1/report/"' in page
    answer = client.get("/releases/v1/report/")
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert b"Report on v1" in b"".join(answer.streaming_content)
    download = client.get("/releases/v1/report/report.json")
    assert json.loads(b"".join(download.streaming_content))["dataset"]["name"] == "v1"
    assert client.get("/releases/v1/report/other.json").status_code == 404


@pytest.mark.parametrize("path", ["", "report.json"])
def test_a_report_that_is_moved_while_it_is_opened_is_not_found(client, release, monkeypatch, path):
    client.force_login(UserFactory())
    create_report(release)

    def move_first(path, *_):
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "open", move_first)

    assert client.get(f"/releases/v1/report/{path}").status_code == 404


def test_a_report_needs_a_signed_in_user(client, release):
    assert client.post("/releases/v1/report/").status_code == 302
    assert not report_folder(release).exists()


def test_a_release_of_another_kind_is_refused(tmp_path, release):
    Campaign.objects.update(kind="rating")

    with pytest.raises(CommandError, match="task type rating"):
        call_command("report", "v1", out=tmp_path / "out")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (np.ones((3, 2)), "it has 3 rows, but mine has 4 images"),
        (np.array([[1, 2], [np.nan, 1], [1, 1], [1, 1]]), "row 1 has a value that is not finite"),
        (np.array([[1, 2], [1, 1], [0, 0], [1, 1]]), "row 2 has zeros only"),
        (np.ones(4), "one array of numbers with a row for each image"),
        (np.array([["a"]] * 4), "one array of numbers"),
        (np.array([[{}]] * 4, dtype=object), "not a NumPy array of numbers"),
        (np.ones((4, 0)), "the rows are empty"),
    ],
)
def test_wrong_features_are_refused(captions, tmp_path, rows, reason):
    np.save(tmp_path / "features.npy", rows, allow_pickle=True)

    with pytest.raises(CommandError, match=reason):
        call_command(
            "report", str(captions), out=tmp_path / "out", features=tmp_path / "features.npy"
        )

    assert not (tmp_path / "out").exists()


def test_features_of_different_models_are_refused(captions, tmp_path):
    own, second = tmp_path / "own.npy", tmp_path / "second.npy"
    np.save(own, np.ones((4, 8)))
    np.save(second, np.ones((4, 3)))

    with pytest.raises(CommandError, match="--features have 8 numbers, and .* 3"):
        call_command(
            "report",
            str(captions),
            out=tmp_path / "out",
            against=captions,
            features=own,
            against_features=second,
        )

    assert not (tmp_path / "out").exists()


def test_a_features_file_that_is_not_an_array_is_refused(captions, tmp_path):
    with pytest.raises(CommandError, match="not a NumPy array"):
        call_command("report", str(captions), out=tmp_path / "out", features=captions)


@pytest.mark.parametrize(
    ("images", "reason"),
    [([1, 2, 3, 4, 77], "unknown images: 77"), ([1, 2, 3], "without a caption: 4")],
)
def test_results_of_other_images_are_refused(captions, tmp_path, images, reason):
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"image_id": n, "caption": CAPTION} for n in images]))

    with pytest.raises(CommandError, match=reason):
        call_command("report", str(captions), out=tmp_path / "out", results=results)


def test_results_may_leave_out_an_image_that_has_only_a_human_baseline(tmp_path):
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"image_id": 1, "caption": CAPTION}]))
    captions = [ReportCaption(0, CAPTION), ReportCaption(1, CAPTION, is_extra=True)]
    dataset = Dataset("v1", [ReportImage(1), ReportImage(2)], captions)

    assert results_of(results, dataset) == {1: CAPTION}


def test_every_section_is_drawn_when_all_files_are_given(tmp_path):
    colours = ["red", "green", "blue", "white", "black", "brown", "grey", "pink", "tan", "gold"]
    texts = {
        n: [f"A {colour} dog runs on grass.", f"The {colour} dog plays.", f"Dog and {colour} ball."]
        for n, colour in enumerate(colours * 2)
    }
    captions = captions_json(tmp_path / "mine.json", texts, domain="near-domain")
    content = json.loads(captions.read_text())
    for number, annotation in enumerate(content["annotations"]):
        annotation |= {"worker": number % 7, "primed": number % 2 == 0}
    captions.write_text(json.dumps(content))
    boxes = tmp_path / "boxes.json"
    categories = [{"id": n, "name": name} for n, name in enumerate(["dog", "ball", "grass"])]
    annotations = [{"image_id": n, "category_id": n % 3} for n in range(20)]
    boxes.write_text(json.dumps({"annotations": annotations, "categories": categories}))
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"image_id": n, "caption": texts[n][0]} for n in texts]))
    features = tmp_path / "features.npy"
    np.save(features, np.random.default_rng(0).normal(size=(20, 8)))
    options = {"against": captions, "boxes": boxes, "against_boxes": boxes, "results": results}

    call_command(
        "report",
        str(captions),
        out=tmp_path / "out",
        features=features,
        against_features=features,
        **options,
    )

    numbers = json.loads((tmp_path / "out" / "report.json").read_text())
    assert numbers["absent"] == {}
    assert {section.key for section in SECTIONS} <= numbers.keys()
    assert len(list((tmp_path / "out" / "figures").glob("*.svg"))) >= 13
