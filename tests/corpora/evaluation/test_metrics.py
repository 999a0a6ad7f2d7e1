"""The metrics agree with pycocoevalcap and with COCO's published figures."""

import random
from typing import Any

import numpy as np
import pytest
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge

from corpora.errors import DomainError
from corpora.evaluation.java import Java
from corpora.evaluation.metrics import (
    Measured,
    NoFigure,
    Sentences,
    bleu,
    cider,
    meteor,
    rouge_l,
)
from corpora.evaluation.scoring import Plan, Scores, score

# COCO's published example, and METEOR as pycocoevalcap 1.2 computes it.
PUBLISHED = {
    "Bleu_1": 0.579,
    "Bleu_2": 0.404,
    "Bleu_3": 0.279,
    "Bleu_4": 0.191,
    "METEOR": 0.195,
    "ROUGE_L": 0.396,
    "CIDEr": 0.600,
}
METEOR = 0.19525467177780284
WORDS = ["a", "man", "dog", "cat", "rides", "on", "the", "with", "red", "½", "naïve", "–", "3.5"]
# Few words, so that captions share n-grams and repeat them.
USUAL, ODD = (0, 14), (0, 2)


def captions(images: int, references: tuple[int, int], words: tuple[int, int]) -> Sentences:
    chance = random.Random(images)

    def caption() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(*words)))

    return Sentences(
        [[caption() for _ in range(chance.randint(*references))] for _ in range(images)],
        [caption() for _ in range(images)],
    )


def by_package(scorer: Any, sentences: Sentences, **options: int) -> tuple[Any, Any]:
    """The figures, and those of each image, as pycocoevalcap computes them."""
    references = dict(enumerate(map(list, sentences.references)))
    return scorer.compute_score(
        references, {n: [text] for n, text in enumerate(sentences.candidates)}, **options
    )


def assert_same(measured: Measured, expected: tuple[Any, Any]) -> None:
    overall, each = expected
    np.testing.assert_allclose([*measured.figures().values()], np.ravel(overall), atol=1e-9, rtol=0)
    np.testing.assert_allclose(
        [*measured.of_each_image().values()],
        np.reshape(each, (len(measured.names), -1)),
        atol=1e-9,
        rtol=0,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "sentences",
    [
        captions(300, (1, 6), USUAL),
        captions(50, (1, 1), USUAL),
        captions(40, (3, 3), ODD),
        captions(2, (2, 2), (1, 30)),
        Sentences([["a dog"], ["a cat"]], ["", ""]),
        Sentences([["a dog"] * 3] * 4, ["a dog"] * 4),
        Sentences([["a dog " * 50], ["a cat"]], ["dog a " * 400, "cat"]),
    ],
)
def test_our_figures_are_those_of_pycocoevalcap(sentences: Sentences) -> None:
    assert_same(bleu(sentences), by_package(Bleu(), sentences, verbose=0))
    assert_same(rouge_l(sentences), by_package(Rouge(), sentences))
    assert_same(cider(sentences), by_package(Cider(), sentences))


METEOR_CASES = {
    "usual": captions(20, (1, 6), USUAL),
    "odd": captions(20, (3, 3), ODD),
    "equal": Sentences([["a dog runs", "the cat"], ["a man", ""], ["dog"]], ["the cat", "", "dog"]),
    "reordered": Sentences([["the dog sees a cat"]], ["a cat sees the dog"]),
    "inflected": Sentences([["two large dogs running"], ["a kid"]], ["a big dog runs", "a child"]),
    "nothing in common": Sentences([["zebra"], ["two boats"]], ["spoon", "a tower by night"]),
    "other scripts": Sentences(
        [["собака бежит", "un chien"], ["一只 狗 在 跑"], ["नमस्ते दुनिया"]],
        ["собака бежит", "一只 狗", "犬"],
    ),
}


@pytest.mark.slow
def test_meteor_is_that_of_the_program_in_each_sum_of_images() -> None:
    every = Sentences(
        [texts for case in METEOR_CASES.values() for texts in case.references],
        [text for case in METEOR_CASES.values() for text in case.candidates],
    )
    program = Meteor()
    with program.meteor_p:
        expected = by_package(program, every)
        overall = {name: by_package(program, case)[0] for name, case in METEOR_CASES.items()}

    ours = meteor(every, Java())

    assert_same(ours, expected)
    begin = 0
    for name, case in METEOR_CASES.items():
        rows = slice(begin, begin := begin + len(case.candidates))
        assert ours.figures(rows)["METEOR"] == pytest.approx(overall[name], abs=1e-9), name


@pytest.mark.slow
def test_the_coco_example_has_its_published_figures(coco_scores: Scores) -> None:
    rounded = {name: round(figure, 3) for name, figure in coco_scores.overall.items()}

    assert rounded == PUBLISHED
    assert coco_scores.overall["METEOR"] == pytest.approx(METEOR, abs=1e-12)
    assert coco_scores.tokeniser == "ptb"
    assert [*coco_scores.failures] == ["spice"]


@pytest.mark.slow
def test_a_figure_of_each_image_is_kept_for_all_metrics(coco_scores: Scores) -> None:
    each = coco_scores.per_image

    assert each.keys() == PUBLISHED.keys()
    assert all(len(scores) == 1000 for scores in each.values())
    mean = sum(each["CIDEr"].values()) / 1000
    assert mean == pytest.approx(coco_scores.overall["CIDEr"], abs=1e-12)


def test_cider_of_one_image_has_no_figure() -> None:
    with pytest.raises(NoFigure, match="at least two images"):
        cider(Sentences([["a dog"]], ["a dog"]))


def test_a_missing_java_is_named() -> None:
    with pytest.raises(DomainError, match="no program `no-such-java`"):
        score({1: ["a dog"]}, {1: "a dog"}, Plan(java=Java(program="no-such-java")))
