"""Subsets, failures, people's figures and the bootstrap."""

import json
import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.evaluation.bootstrap import compare, intervals
from corpora.evaluation.metrics import FIGURES, NoFigure
from corpora.evaluation.references import References
from corpora.evaluation.results import read_outside
from corpora.evaluation.scoring import Plan, Scores, leave_one_out, score, tokenise
from corpora.evaluation.tokenisers import PLAIN, plain
from corpora.reading.files import MalformedFile

QUICK = ("bleu", "rouge-l", "cider")
WORDS = ["a", "the", "dog", "cat", "man", "runs", "sits", "on", "grass", "road", "red", "small"]


def captions_of(images: int, *, references: int = 3, seed: int = 1) -> dict[int, list[str]]:
    chance = random.Random(seed)
    return {
        image: [" ".join(chance.choices(WORDS, k=8)) for _ in range(references)]
        for image in range(images)
    }


def scored(
    references: Mapping[int, list[str]], results: Mapping[int, str], idf: str = "all"
) -> Scores:
    halves = {image: ("even", "odd")[image % 2] for image in references}
    return score(references, results, Plan(QUICK, PLAIN, halves, idf))


@pytest.fixture
def references() -> dict[int, list[str]]:
    return captions_of(40)


@pytest.fixture
def results() -> dict[int, str]:
    return {image: texts[0] for image, texts in captions_of(40, seed=2).items()}


def test_a_subset_has_the_means_of_its_images(
    references: dict[int, list[str]], results: dict[int, str]
) -> None:
    scores = scored(references, results)

    for figure in ("CIDEr", "ROUGE_L"):
        each = scores.per_image[figure]
        odd = [each[image] for image in references if image % 2]
        assert scores.by_subset["odd"][figure] == pytest.approx(np.mean(odd))


def test_with_idf_subset_a_subset_is_scored_like_a_dataset_of_its_own(
    references: dict[int, list[str]], results: dict[int, str]
) -> None:
    own = {image: texts for image, texts in references.items() if image % 2}

    alone = score(own, results, Plan(QUICK, PLAIN))

    by_idf = {idf: scored(references, results, idf).by_subset["odd"] for idf in ("all", "subset")}
    assert by_idf["subset"] == pytest.approx(alone.overall)
    assert by_idf["all"]["CIDEr"] != pytest.approx(alone.overall["CIDEr"])
    assert by_idf["all"]["Bleu_4"] == pytest.approx(alone.overall["Bleu_4"])


def test_a_subset_of_one_image_lacks_only_its_own_cider() -> None:
    references = captions_of(3)

    scores = scored(references, {image: "a dog runs" for image in references}, "subset")

    assert scores.by_subset["odd"].keys() == {"Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L"}
    assert "CIDEr" in scores.by_subset["even"]
    assert [*scores.failures] == ["cider, odd"]


def test_images_without_a_subset_are_in_none() -> None:
    subsets = {0: "near-domain", 1: "", 2: "in-domain"}

    scores = score(captions_of(4), dict.fromkeys(range(4), "a dog"), Plan(["bleu"], PLAIN, subsets))

    assert {name: group.images for name, group in scores.subsets.items()} == {
        "in-domain": [2],
        "near-domain": [0],
    }


def test_without_the_official_tokeniser_meteor_and_spice_say_why() -> None:
    scores = score({1: ["a dog"], 2: ["a cat"]}, {1: "a dog", 2: ""}, Plan(tokeniser=PLAIN))

    assert scores.failures == dict.fromkeys(("meteor", "spice"), "It needs the official tokeniser.")
    assert scores.overall["Bleu_1"] == pytest.approx(np.exp(1 - 4 / 2))
    assert scores.overall["ROUGE_L"] == pytest.approx(0.5)


def test_identical_captions_have_the_highest_figures() -> None:
    references = captions_of(20, references=1)

    overall = scored(references, {image: texts[0] for image, texts in references.items()}).overall

    assert overall == {
        **dict.fromkeys(("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L"), pytest.approx(1)),
        "CIDEr": pytest.approx(10),
    }


def test_people_are_scored_against_the_other_references(
    references: dict[int, list[str]],
) -> None:
    others, _ = tokenise(references, [], Plan(tokeniser=PLAIN))

    people = leave_one_out([*references], others, Plan(QUICK, PLAIN))

    rounds = [
        score(
            {i: [t for n, t in enumerate(texts) if n != left] for i, texts in references.items()},
            {image: texts[left] for image, texts in references.items()},
            Plan(QUICK, PLAIN),
        ).overall
        for left in range(3)
    ]
    for figure, value in people.overall.items():
        assert value == pytest.approx(np.mean([one[figure] for one in rounds])), figure
    assert intervals(people.whole, resamples=50).keys() == rounds[0].keys()


def test_one_reference_cannot_be_left_out() -> None:
    with pytest.raises(NoFigure, match="at least two references"):
        leave_one_out([1, 2], [["a dog"], ["a cat", "a dog"]], Plan(QUICK, PLAIN))


def test_intervals_are_those_of_resampled_images(
    references: dict[int, list[str]], results: dict[int, str]
) -> None:
    whole = scored(references, results).whole

    found = intervals(whole, resamples=400, seed=3)

    assert found == intervals(whole, resamples=400, seed=3)
    assert found != intervals(whole, resamples=400, seed=4)
    chance = np.random.default_rng(1)
    for one in whole.measured:
        drawn = [one.figures(chance.integers(40, size=40)) for _ in range(400)]
        for name in one.names:
            low, high = np.quantile([figures[name] for figures in drawn], [0.025, 0.975])
            width = high - low
            assert found[name] == pytest.approx((low, high), abs=0.25 * width), name
            assert found[name].low < whole.figures[name] < found[name].high


def test_a_figure_that_is_the_same_in_all_draws_has_no_interval(
    references: dict[int, list[str]], results: dict[int, str]
) -> None:
    copied = {image: texts[0] for image, texts in references.items()}

    whole = scored(references, copied).whole

    assert whole.figures["Bleu_1"] == pytest.approx(1)
    assert {"Bleu_1", "Bleu_4", "ROUGE_L"}.isdisjoint(found := intervals(whole, resamples=50))
    assert found["CIDEr"].low < found["CIDEr"].high


def test_a_better_result_is_told_from_an_equal_one(
    references: dict[int, list[str]], results: dict[int, str]
) -> None:
    better = {image: references[image][0] if image % 3 else text for image, text in results.items()}
    before, after = (scored(references, captions).whole for captions in (results, better))

    better_by = compare(before, after, resamples=500)["CIDEr"]
    same = compare(before, before, resamples=500)["CIDEr"]

    assert better_by.difference == pytest.approx(after.figures["CIDEr"] - before.figures["CIDEr"])
    assert 0 < better_by.interval.low < better_by.difference < better_by.interval.high
    assert better_by.p == 1 / 500
    assert same == (0, None, 1)


def test_scores_of_other_metrics_are_read_from_both_forms(tmp_path: Path) -> None:
    path = tmp_path / "clip.json"
    wanted = {"CLIPScore": {1: 0.5, 2: 1.0}}

    path.write_text('[{"image_id": 1, "caption": "a", "CLIPScore": 0.5},'
                    ' {"image_id": 2, "CLIPScore": 1}]')  # fmt: skip
    assert read_outside(path, taken=FIGURES, images=wanted["CLIPScore"]) == wanted
    path.write_text('{"1": {"CLIPScore": 0.5}, "2": {"CLIPScore": 1}}')
    assert read_outside(path, taken=FIGURES, images=wanted["CLIPScore"]) == wanted


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("3", "scores are a list"),
        ("[]", "it has no score"),
        ('{"1": 0.5}', "0.5 is not a JSON object"),
        ('{"x": {"CLIPScore": 0.5}}', "'x' is not a whole number"),
        ('[{"CLIPScore": 0.5}]', "None is not a whole number"),
        ('{"1": {"CLIPScore": NaN}}', "nan is not a number that can be computed with"),
        ('{"1": {"CLIPScore": "0.5"}}', "'0.5' is not a number that can be computed with"),
        ('{"1": {"CLIPScore": true}}', "True is not a number that can be computed with"),
        ('{"1": {"CIDEr": 0.5}, "2": {"CIDEr": 0.5}}', "CIDEr is computed here"),
        ('{"1": {"CLIPScore": 0.5}}', "'CLIPScore': Images without a score: 2"),
        ('[{"image_id": 1, "S": 1}, {"image_id": 1, "S": 1}]', "the image 1 occurs twice"),
        ('{"1": {"S": 1}, "2": {"S": 1}, "1": {"S": 0}}', "the key '1' occurs twice"),
    ],
)
def test_wrong_scores_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "clip.json"
    path.write_text(content)

    with pytest.raises((MalformedFile, Exception), match=message):
        read_outside(path, taken=FIGURES, images={1: None, 2: None})


@pytest.mark.parametrize(
    ("caption", "words"),
    [
        ("A dog's tail.", "a dog 's tail"),
        ("They don’t sit, they're up!", "they do n't sit they 're up"),
        ('"T-shirt" (3.5 m)', "t-shirt 3.5 m"),
        ("", ""),
        (" ...\n", ""),
        ("Ein Hund läuft 🐕", "ein hund läuft"),
    ],
)
def test_the_plain_tokeniser_splits_words(caption: str, words: str) -> None:
    assert plain([caption]) == [words]


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), min_size=2, max_size=6))
def test_any_texts_have_finite_figures(pairs: list[tuple[str, str]]) -> None:
    overall = score(
        {number: [text] for number, (text, _) in enumerate(pairs)},
        {number: own for number, (_, own) in enumerate(pairs)},
        Plan(QUICK, PLAIN),
    ).overall

    assert all(0 <= figure <= 10 + 1e-9 for figure in overall.values()), json.dumps(overall)


def test_the_plain_figures_of_the_coco_example_are_close_to_the_official_ones(
    coco_references: References, coco_results: dict[int, str]
) -> None:
    overall = score(coco_references.captions, coco_results, Plan(QUICK, PLAIN)).overall

    assert overall["Bleu_4"] == pytest.approx(0.191, abs=0.002)
    assert overall["CIDEr"] == pytest.approx(0.600, abs=0.005)
