"""Agreement of figures with people, against SciPy and against resampling by hand."""

import numpy as np
import pytest
from scipy import stats

from corpora.evaluation.bootstrap import draws
from corpora.evaluation.correlation import Judged, agreement, judged_of, told_apart
from corpora.evaluation.judgements import Caption
from corpora.evaluation.metrics import Measured, measured_means

IMAGES, SYSTEMS = 40, 6


@pytest.fixture(params=[3, 400], ids=["many ties", "few ties"])
def sample(request):
    """Captions of all systems for each image, and figures, which follow people's scores in part."""
    rng = np.random.default_rng(request.param)
    images = np.repeat(np.arange(IMAGES), SYSTEMS) * 7
    systems = np.tile(np.arange(SYSTEMS), IMAGES)
    scores = rng.integers(0, request.param, len(images)) + systems // 2
    figures = np.round(scores + rng.normal(0, request.param, len(images)))
    judged = Judged(images, systems, images // 7, scores.astype(float))
    return judged, figures


def by_scipy(x, y):
    return {
        "tau_b": stats.kendalltau(x, y).statistic,
        "tau_c": stats.kendalltau(x, y, variant="c").statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "pearson": stats.pearsonr(x, y).statistic,
    }


def test_images_are_told_apart_by_all_digits_of_their_ids():
    captions = [Caption(image, "good", "a dog", {}) for image in (1, 2**63, 2**63 + 1)]

    judged = judged_of(captions, [1, 2, 3], ["good"])

    assert [len(np.unique(column)) for column in (judged.images, judged.blocks)] == [3, 3]


def of_systems(values, judged):
    return [values[judged.systems == system].mean() for system in range(SYSTEMS)]


def values_of(coefficients):
    return {name: one.value for name, one in coefficients.items() if name != "accuracy"}


def test_coefficients_are_those_of_scipy(sample):
    judged, figures = sample

    found = agreement(judged, measured_means("m", figures), "m", resamples=0, seed=0)

    assert values_of(found.captions) == pytest.approx(by_scipy(figures, judged.scores))
    expected = by_scipy(of_systems(figures, judged), of_systems(judged.scores, judged))
    assert values_of(found.systems) == pytest.approx(expected)
    assert {one.interval for one in found.captions.values()} == {None}


def test_intervals_are_those_of_captions_of_resampled_images(sample):
    judged, figures = sample

    found = agreement(judged, measured_means("m", figures), "m", resamples=60, seed=5)

    [counts] = draws(IMAGES, 60, 5, len(figures))
    every = {"captions": [], "systems": []}
    for row in counts.astype(int):
        rows = np.concatenate(
            [np.flatnonzero(judged.blocks == n) for n in np.repeat(range(IMAGES), row)]
        )
        drawn = judged._replace(systems=judged.systems[rows])
        every["captions"].append(by_scipy(figures[rows], judged.scores[rows]))
        means = [of_systems(side[rows], drawn) for side in (figures, judged.scores)]
        every["systems"].append(by_scipy(*means))
    for per, resamples in every.items():
        for name in resamples[0]:
            ends = np.quantile([one[name] for one in resamples], [0.025, 0.975])
            assert getattr(found, per)[name].interval == pytest.approx(tuple(ends)), (per, name)


def test_accuracy_counts_pairs_inside_an_image_that_people_tell_apart(sample):
    judged, figures = sample
    right = []
    for image in range(IMAGES):
        rows = np.flatnonzero(judged.blocks == image)
        for one in rows:
            for other in rows[rows > one]:
                people = judged.scores[one] - judged.scores[other]
                if people:
                    right.append((1 + np.sign(people * (figures[one] - figures[other]))) / 2)

    found = agreement(judged, measured_means("m", figures), "m", resamples=0, seed=0)

    assert found.captions["accuracy"].value == pytest.approx(np.mean(right))


def test_a_system_has_the_figure_of_its_corpus_and_not_the_mean_of_its_captions():
    ratio = Measured(("share",), np.array([[1.0, 2], [9, 10], [3, 4], [5, 10]]), combine=shared)
    judged = Judged(
        np.array([0, 0, 1, 1]),
        np.array([0, 1, 0, 1]),
        np.array([0, 0, 1, 1]),
        np.array([1.0, 2, 1, 2]),
    )

    found = agreement(judged, ratio, "share", resamples=20, seed=1)

    assert found.figures == pytest.approx([4 / 6, 14 / 20])
    assert found.scores == pytest.approx([1, 2])
    assert found.systems["tau_b"].value == 1


def shared(sums, _images):
    return sums[..., :1] / sums[..., 1:]


def test_an_undefined_figure_has_neither_value_nor_interval():
    flat = Judged(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([0, 0, 1]), np.ones(3))

    found = agreement(flat, measured_means("m", [1, 2, 3]), "m", resamples=9, seed=1)

    for one in [*found.captions.values(), *found.systems.values()]:
        assert np.isnan(one.value)
        assert one.interval is None


def test_scores_without_a_scale_order_captions_of_one_block_alone():
    votes = Judged(
        np.array([0, 0, 0, 0]),
        np.array([0, 1, 0, 2]),
        np.array([0, 0, 1, 1]),
        np.array([1.0, -1, -2, 2]),
        has_scale=False,
    )

    found = agreement(votes, measured_means("m", [5, 4, 5, 5]), "m", resamples=0, seed=0)

    assert {name: one.value for name, one in found.captions.items()} == {"accuracy": 0.75}
    assert found.scores == pytest.approx([-0.5, -1, 2])


def test_one_image_tells_no_systems_apart(sample):
    judged, _ = sample
    one = Judged(*(column[:SYSTEMS] for column in judged[:4]))

    assert told_apart(judged)[1]
    assert told_apart(one)[1] == []


@pytest.mark.parametrize("ours", [0, 1], ids=["equal figures", "equal scores"])
def test_equal_values_have_no_coefficients_though_their_sums_are_rounded(ours):
    captions = [Caption(image, name, "a dog", {}) for image in range(33) for name in "abcde"]
    equal = [0.1] * len(captions)
    other = [float(place * 7 % 5) for place in range(len(captions))]
    figures, scores = (other, equal) if ours else (equal, other)
    judged = judged_of(captions, scores, list("abcde"))

    found = agreement(judged, measured_means("m", figures), "m", resamples=0, seed=0)

    assert np.isnan([*values_of(found.captions).values()]).all()
    assert np.isnan([*values_of(found.systems).values()]).all()


def test_systems_with_the_same_mean_are_not_told_apart_by_rounding():
    thirds = {"a": [11, 5, 7, 5], "b": [5, 5, 7, 11], "c": [3, 3, 3, 3]}
    captions = [Caption(image, name, "a dog", {}) for image in range(4) for name in "abc"]
    scores = [thirds[caption.source][caption.image] / 3 for caption in captions]
    figures = [float("abc".index(caption.source)) for caption in captions]

    found = agreement(
        judged_of(captions, scores, list("abc")),
        measured_means("m", figures),
        "m",
        resamples=0,
        seed=0,
    )

    expected = by_scipy([0, 1, 2], [28, 28, 12])
    assert values_of(found.systems) == pytest.approx(expected)
