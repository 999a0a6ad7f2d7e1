"""Parsing of ratings, agreement, and scores of sources."""

import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.kinds.rating import release
from annotate.kinds.rating.answers import (
    QUESTIONS,
    Question,
    all_the_same,
    field_name,
    mean_similarities,
    missing,
    parse,
    points_of,
    scored_names,
    similarity,
)
from annotate.kinds.rating.kind import THUMB
from annotate.kinds.rating.scores import Rated, alpha, differences, source_scores
from annotate.kinds.rating.sources import in_same_form

SCALES = {question.name: 5 for question in QUESTIONS}
NAMES = [*SCALES]

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section D: four observers, twelve
# units, some of them not observed. His ordinal alpha is 0.815.
OBSERVED = [
    "123321412...",
    "1233224125.3",
    ".3332342251.",
    "12332441251.",
]

ratings = st.dictionaries(
    st.sampled_from(["1", "2", "3"]),
    st.fixed_dictionaries(dict.fromkeys(NAMES, st.integers(1, 5))),
    min_size=1,
)


def rated(image, ratings, source="model", number=1):
    """A caption that all workers rated the same for all questions."""
    given = {worker: dict.fromkeys(NAMES, value) for worker, value in enumerate(ratings, start=1)}
    return Rated(image, number, "A dog.", {source: "a dog"}, given)


def test_alpha_is_krippendorffs_own_example():
    units = [[row[place] for row in OBSERVED] for place in range(12)]
    captions = [
        rated(number, [int(value) for value in unit if value != "."])
        for number, unit in enumerate(units)
    ]

    assert alpha(captions, "true") == pytest.approx(0.815, abs=0.0005)


@pytest.mark.parametrize("captions", [[], [rated(1, [4])], [rated(1, [4, 4]), rated(2, [4, 4])]])
def test_there_is_no_alpha_where_nothing_can_disagree(captions):
    assert alpha(captions, "true") is None


def test_a_sources_score_weighs_images_alike_however_many_captions_they_have():
    captions = [rated(1, [5, 5]), rated(1, [3, 3], number=2), rated(2, [2, 2])]

    score = source_scores(captions, ["model"], NAMES, seed=1)["model"]["true"]

    assert (score.mean, score.images) == (3.0, 2)
    assert score.low == 2.0
    assert score.high == 4.0


def test_a_single_image_has_no_interval():
    captions = [rated(1, [5, 4]), rated(1, [3, 3], "other", 2)]

    score = source_scores(captions, ["model"], NAMES, seed=1)["model"]["true"]
    apart = differences(captions, ["model", "other"], NAMES, seed=1)["model", "other"]["true"]

    assert score.entry() == {"mean": 4.5, "low": None, "high": None, "images": 1}
    assert apart.entry() == {"mean": 1.5, "low": None, "high": None, "images": 1}


def test_images_with_the_same_score_or_difference_give_no_interval():
    unanimous = [rated(image, [5, 4, 4]) for image in range(30)]
    # The means differ by 1 on each image, but for rounding.
    one = [rated(image, [5 - image % 4, *[4 - image % 4] * 2]) for image in range(30)]
    other = [rated(image, [4 - image % 4, *[3 - image % 4] * 2], "other", 2) for image in range(30)]

    score = source_scores(unanimous, ["model"], NAMES, seed=1)["model"]["true"]
    apart = differences(one + other, ["model", "other"], NAMES, seed=1)["model", "other"]["true"]

    assert score.entry() == {"mean": 4.333, "low": None, "high": None, "images": 30}
    assert apart.entry() == {"mean": 1.0, "low": None, "high": None, "images": 30}


def test_intervals_get_narrower_with_more_images_and_depend_on_the_seed_alone():
    def width(images):
        captions = [rated(image, [image % 5 + 1] * 2) for image in range(images)]
        scores = [
            source_scores(captions, ["model"], NAMES, seed=7)["model"]["true"] for _ in range(2)
        ]
        assert scores[0] == scores[1]
        return scores[0].high - scores[0].low

    assert width(400) < width(25) / 2


def test_a_difference_is_taken_on_the_images_that_both_have():
    captions = [
        rated(1, [5, 5]),
        rated(1, [3, 3], source="people", number=2),
        rated(2, [4, 4]),
        rated(2, [2, 2], source="people", number=2),
        rated(3, [1, 1]),
    ]

    apart = differences(captions, ["model", "people"], NAMES, seed=1)["model", "people"]["fluent"]

    assert apart == (2.0, None, None, 2)


def test_a_source_without_a_rating_has_no_score():
    score = source_scores([], ["model"], NAMES, seed=1)["model"]["true"]

    assert score.images == 0


@given(ratings, ratings)
def test_similarity_is_a_symmetric_share(one, other):
    assert 0 <= similarity(one, other, SCALES) == similarity(other, one, SCALES) <= 1
    assert similarity(one, one, SCALES) == 1


def test_the_rater_who_answers_another_way_is_least_similar():
    high = {"1": dict.fromkeys(NAMES, 5), "2": dict.fromkeys(NAMES, 2)}
    low = {"1": dict.fromkeys(NAMES, 1), "2": dict.fromkeys(NAMES, 5)}

    means = mean_similarities({1: high, 2: high, 3: low}, SCALES)

    assert means[3] == 0
    assert means[1] == means[2] == 0.5


def test_answers_that_agree_by_chance_are_not_similar_whatever_the_number_of_labels():
    scales = {"yes_no": 2, "of_three": 3}
    one = {str(pair): {"yes_no": 1 + pair % 2} for pair in range(4)}
    other = {str(pair): {"yes_no": 1 + pair // 2} for pair in range(4)}
    assert similarity(one, other, scales) == 0
    one = {str(pair): {"of_three": 1 + pair % 3} for pair in range(9)}
    other = {str(pair): {"of_three": 1 + pair // 3} for pair in range(9)}
    assert similarity(one, other, scales) == 0


@given(ratings)
def test_the_fields_of_an_answer_hold_it(answer):
    fields = {
        field_name(name, int(caption), 7): str(value)
        for caption, values in answer.items()
        for name, value in values.items()
    }

    assert parse(fields, captions=3, task=7, scales=SCALES) == answer
    assert len(missing(answer, 3, NAMES)) == 3 - len(answer)


@pytest.mark.parametrize("value", ["", "0", "6", "55", "²", "true", "-1", "5 "])
def test_a_value_outside_the_scale_is_no_rating(value):
    assert parse({"true-1-7": value}, captions=1, task=7, scales=SCALES) == {}


def test_equal_ratings_are_a_sign_for_several_captions_only():
    same = dict.fromkeys(NAMES, 3)

    assert all_the_same({"1": same}) == 0
    assert all_the_same({"1": same, "2": same}) == 6
    assert all_the_same({"1": same, "2": {**same, "true": 4}}) == 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a man rides a wave", "A man rides a wave."),
        ("A dog. ", "A dog."),
        ("what a day!", "What a day!"),
        ("élan on ice .", "Élan on ice."),
    ],
)
def test_all_captions_have_the_same_form(text, shown):
    assert in_same_form(text) == shown == in_same_form(shown)


def test_a_table_starts_no_formula_in_a_spreadsheet():
    caption = Rated(1, 1, "x", {"model": '=HYPERLINK("x"), "y"'}, {1: {"true": 5}})

    images = {1: {"image": "-key", "file_name": "=a.jpg"}}

    rows = list(csv.reader(StringIO("".join(release.scores_csv([caption], images, NAMES)))))

    assert rows[0] == [
        "image_id", "image", "file_name", "caption_id", "source", "caption", "raters", *NAMES
    ]  # fmt: skip
    assert rows[1] == [
        "1", "'-key", "'=a.jpg", "1-1", "model", '\'=HYPERLINK("x"), "y"', "1", "5.0", "", ""
    ]  # fmt: skip


def test_the_total_of_thumb_is_the_mean_of_precision_and_recall_plus_the_penalties():
    questions = [Question.model_validate(each) for each in THUMB]
    ratings = {"precision": 4, "recall": 3, "fluency": 2, "conciseness": 2, "inclusive_language": 1}

    points = points_of(ratings, questions)

    assert points == pytest.approx(
        {
            "precision": 4,
            "recall": 3,
            "fluency": -0.1,
            "conciseness": -0.5,
            "inclusive_language": 0,
            "total": 2.9,
        }
    )
    assert [*points] == scored_names(questions)
    assert "total" not in points_of({"precision": 4}, questions)
    assert scored_names(QUESTIONS) == NAMES


@pytest.mark.parametrize("letter", "abcdefghijklmnop")
def test_the_total_does_not_depend_on_the_order_in_which_penalties_are_added(letter):
    """Texts are in another order in the sets of each process."""
    asked = {"text": "?", "labels": ["no", "yes"]}
    penalties = {f"{letter}_x": -0.1, f"{letter}_y": -0.2, f"{letter}_z": -0.3}
    questions = [
        Question.model_validate({**asked, "name": name, "points": [0, points]})
        for name, points in {"good": 1, **penalties}.items()
    ]

    points = points_of(dict.fromkeys(["good", *penalties], 2), questions)

    assert points["total"] == 1 - 0.6


def test_a_rating_is_one_of_the_questions_labels():
    fields = {"precision-1-7": "5", "conciseness-1-7": "3", "true-1-7": "1"}
    scales = {"precision": 5, "conciseness": 2}

    assert parse(fields, captions=1, task=7, scales=scales) == {"1": {"precision": 5}}
