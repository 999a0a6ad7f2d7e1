"""The numbers of the report's sections, on data whose figures are known."""

import json
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.evaluation.scoring import Plan, score
from corpora.language.english import words
from corpora.report.build import make_report
from corpora.report.dataset import (
    Corpus,
    Dataset,
    Names,
    ReportCaption,
    ReportImage,
    of_english_alone,
)
from corpora.report.sections import (
    agreement,
    deciles,
    diversity,
    mentions,
    ngrams,
    priming,
    similarity,
)
from corpora.report.sections.base import Inputs, NotMeasured

pytestmark = pytest.mark.one_database

DOG, NONE = "a dog runs fast", "some grass grows here"


def dataset(*images: list[str], extra: bool = False, **values) -> Dataset:
    """Images with these captions; with `extra`, the last caption is the human baseline."""
    captions = [
        ReportCaption(index, text, is_extra=extra and place == len(texts) - 1)
        for index, texts in enumerate(images)
        for place, text in enumerate(texts)
    ]
    numbered = [ReportImage(number, ()) for number in range(len(images))]
    return Dataset("mine", numbered, captions, **values)


@pytest.fixture
def detection():
    """Of ten images, four have a dog in both references and two in one; the extra caption says
    dog for three of the four, one of the two, and two of the others."""
    both = [[DOG, DOG, DOG]] * 3 + [[DOG, DOG, NONE]]
    one = [[DOG, NONE, DOG], [NONE, DOG, NONE]]
    others = [[NONE, NONE, DOG]] * 2 + [[NONE, NONE, NONE]] * 2
    return dataset(*both, *one, *others, extra=True)


def word(found: dict, text: str) -> dict:
    return next(one for one in found["words"] if one["word"] == text)


def test_human_precision_and_recall_weigh_images_by_their_references(detection):
    found = agreement.measure(Inputs(detection))

    assert (found["k"], found["extra"]) == (2, "human baseline")
    assert word(found, "dog")["precision"] == pytest.approx(7 / 9)
    assert word(found, "dog")["recall"] == pytest.approx(7 / 10)


def test_words_of_another_language_are_no_words_of_class_names():
    texts = [ReportCaption(index, "ein arm winkt") for index in range(6) for _ in range(3)]
    images = [ReportImage(number, ("Arm",)) for number in range(6)]
    lacks = of_english_alone("mine", "de")

    found = [
        agreement.measure(Inputs(Dataset("mine", images, texts, each))) for each in ({}, lacks)
    ]

    assert [word(each, "arm")["is_class_word"] for each in found] == [True, False]


def test_the_extra_caption_is_drawn_where_there_is_no_baseline():
    found = agreement.measure(Inputs(dataset(*[[DOG, DOG, DOG]] * 6)))

    assert (found["k"], word(found, "dog")["precision"], word(found, "dog")["recall"]) == (2, 1, 1)


@given(st.floats(0, 1), st.integers(1, 40))
def test_the_models_precision_is_that_of_the_paper(p, k):
    [precision] = agreement.model_precision(np.array([p]), k)

    assert precision == pytest.approx(p * k / (p * k + (1 - p) ** k)) or p == 0


def test_a_lower_recall_keeps_a_systems_precision_and_a_higher_one_adds_images_at_random():
    system = agreement.Detection(np.array([6.0]), np.array([2.0]), np.array([10.0]))
    negatives = np.array([12.0])

    at = [agreement.precision_at(np.array([r]), system, negatives)[0] for r in (0.3, 0.6, 0.8, 1.0)]

    assert at == pytest.approx([6 / 8, 6 / 8, 8 / (8 + 2 + 5), 10 / 22])


def test_a_perfect_system_has_precision_1_at_human_recall(detection):
    results = {number: DOG if number < 6 else NONE for number in range(10)}

    found = agreement.measure(Inputs(detection, results=results))

    assert word(found, "dog")["precision_at_human_recall"] == 1
    assert found["results"]["all_words"]["words"] > 0


def test_ratios_are_of_whole_segments():
    texts = ["one two three four five"] * 500 + ["six seven eight nine ten"] * 100

    row = diversity.measure(Inputs(dataset(*([text] for text in texts))))["rows"]["references"]

    assert row["types"] == 10
    assert row["ttr1"] == pytest.approx((5 + 5 + 10) / 3 / 1000, abs=0.002)
    assert row["length"] == 5


def test_ratios_of_short_texts_are_absent_with_a_reason():
    found = diversity.measure(Inputs(dataset([DOG], [NONE])))

    assert found["rows"]["references"]["ttr1"] is None
    assert "1,000 words" in found["absent"]["ttr"]


def test_novel_captions_coverage_and_local_recall():
    own = dataset(["a red dog", "a red dog on grass", "A red cat."], ["a boat"] * 3, extra=True)
    training = dataset(["a red cat", "the boat", "some grass"])

    found = diversity.measure(Inputs(own, training))["rows"]["baseline"]

    assert found["novel"] == 50  # "A red cat." is known, "a boat" is not
    assert found["coverage"] == pytest.approx(3 / 4)  # a, red and boat, without grass
    # In two references: red, dog and boat; in one: grass.
    assert found["local_recall"] == pytest.approx([0, 2 / 3])


def test_the_rows_of_diversity_are_over_the_same_images():
    captions = [ReportCaption(0, "a red dog"), ReportCaption(0, "a dog", is_extra=True)]
    images = [ReportImage(1, ()), ReportImage(2, (), is_hidden=True)]
    results = {1: "one two three", 2: "a b c d e f g h i"}

    found = diversity.measure(Inputs(Dataset("mine", images, captions), results=results))

    assert found["images"] == 1
    assert {name: row["captions"] for name, row in found["rows"].items()} == {
        "references": 1, "baseline": 1, "results": 1
    }  # fmt: skip
    assert found["rows"]["results"]["types"] == 3


@pytest.mark.parametrize(
    ("written", "in_tokens"),
    [
        ("A red cat, a dog.", "a red cat , a dog . "),
        ("The man’s dog isn't wet.", "the man 's dog is n't wet ."),
    ],
)
def test_a_caption_that_is_copied_in_tokens_is_not_novel(written, in_tokens):
    own, training = dataset([written]), dataset([in_tokens])

    assert diversity.measure(Inputs(own, training))["rows"]["references"]["novel"] == 0


@pytest.mark.parametrize(
    ("caption", "named"),
    [
        ("Two dogs bark", ["Dog"]),
        ("a hot dog on a plate", ["Dog", "Hot dog"]),
        ("the hotdog stand", []),
        ("people play with a ball", ["Ball (Object)", "Person"]),
        ("men watch shelves", ["Man", "Shelf", "Watch"]),
        ("a dressed man is watching", ["Man"]),
        ("a short guy with a glass of wine", []),
        ("shorts and glasses", ["Glasses", "Shorts"]),
        ("a wood burning stove", ["Wood-burning stove"]),
        ("a wood-burning stove", ["Wood-burning stove"]),
    ],
)
def test_names_are_found_in_singular_and_plural(caption, named):
    names = Names(
        ["Dog", "Hot dog", "Ball (Object)", "Person", "Man", "Shelf", "Watch", "Dress"]
        + ["Glasses", "Shorts", "Wood-burning stove"]
    )

    [found] = names.found_in(Corpus.of([caption.lower().split()]))

    assert [names.names[number] for number in sorted(found)] == sorted(named)


def test_names_in_the_captions_of_nocaps_are_counted(shared_data):
    file = json.loads((shared_data / "nocaps" / "nocaps_val_2250_captions.json").read_text())
    names = Names(["Dress", "Man", "Shelf", "Watch"])

    found = names.found_in(Corpus.of(words(one["caption"]) for one in file["annotations"]))

    counts = Counter(names.names[number] for some in found for number in some)
    assert counts == {"Dress": 313, "Man": 3530, "Shelf": 220, "Watch": 114}


def test_mentions_are_counted_in_both_datasets():
    own = dataset([DOG], [NONE], domains={"Dog": "in-domain"}, domain_table="coco-80")
    own = Dataset(
        "mine",
        [ReportImage(1, ("Dog", "Dog", "Camel")), ReportImage(2, ("Dog",))],
        own.captions,
        domains=own.domains,
    )

    found = mentions.measure(Inputs(own, dataset([DOG, DOG, NONE])))["classes"]

    assert found == [
        {"name": "Camel", "domain": "out-domain", "images": 1, "dataset": 0, "against": 0},
        {"name": "Dog", "domain": "in-domain", "images": 2, "dataset": 1, "against": 2},
    ]


def test_mentions_are_not_counted_in_a_dataset_of_another_language():
    own = Dataset("mine", [ReportImage(1, ("Dog",))], dataset([DOG]).captions)
    german = dataset(["Ein Hund rennt."], lacks=of_english_alone("german", "de"))

    found = mentions.measure(Inputs(own, german))

    assert found["classes"] == [{"name": "Dog", "domain": "out-domain", "images": 1, "dataset": 1}]
    assert found["names"] == {"dataset": "mine"}
    assert "not in English" in found["absent"]["against"]
    assert len(list(mentions.SECTION.tables(found))) == 1


@pytest.mark.parametrize("further", [[], [NONE]], ids=["the whole dataset", "a part"])
def test_a_sample_without_some_references_is_drawn_several_times(further):
    found = ngrams.measure(Inputs(dataset([DOG, NONE, *further], [DOG, NONE], [DOG, NONE])))

    assert found["equal_captions"]["dataset"]["captions"] == 6
    assert found["equal_captions"]["dataset"]["draws"] == (ngrams.DRAWS if further else 1)


def primed(*images: tuple[list[str], list[str]]) -> Dataset:
    """Images with their primed and their unprimed captions."""
    captions = [
        ReportCaption(index, text, is_primed=is_primed)
        for index, (one, other) in enumerate(images)
        for is_primed, texts in ((True, one), (False, other))
        for text in texts
    ]
    return Dataset("mine", [ReportImage(n, ("Dog",)) for n in range(len(images))], captions)


def test_the_same_images_are_compared_in_pairs():
    found = priming.measure(Inputs(primed(*[([DOG + " today"], [NONE])] * 20)))

    assert (found["by"], found["pairs"]) == ("response", 20)
    assert found["measures"]["words"]["ratio"] == pytest.approx(5 / 4)
    # All images are the same.
    assert found["measures"]["words"]["ratio_interval"] is None
    assert (found["measures"]["keywords"]["primed"], found["measures"]["keywords"]["unprimed"]) == (
        1,
        0,
    )
    assert found["measures"]["keywords"]["ratio"] is None
    assert (found["measures"]["1"]["primed"], found["measures"]["1"]["unprimed"]) == (5, 4)


def test_different_images_are_said_to_be_different():
    found = priming.measure(Inputs(primed(*[([DOG], [])] * 4, *[([], [NONE])] * 3)))

    assert (found["by"], found["images"]) == ("image", {"primed": 4, "unprimed": 3})
    assert found["measures"]["1"]["captions"] == 3
    said = " ".join(priming.text(found))
    assert "of different images" in said
    # Priming by response gives the same, where images have one caption each.
    assert "decided for each image" not in said


def test_the_interval_of_no_difference_includes_no_change():
    texts = [
        (f"the {a} dog sees {b} things", f"{a}{a} {b}{b} {a}{b}")
        for a, b in zip("abcdefghij", "klmnopqrst", strict=True)
    ]
    pairs = [([one], [other]) for a, b in texts for one, other in ((a, b), (b, a))]
    found = priming.measure(Inputs(primed(*pairs)))

    del found["measures"]["keywords"]  # of which each caption names one
    for one in found["measures"].values():
        assert one["ratio_interval"][0] <= 1 <= one["ratio_interval"][1]


@pytest.mark.parametrize(
    "images",
    [[([DOG + " today"], [NONE])], [([DOG], []), ([], [NONE]), ([], [NONE + " at all"])]],
    ids=["pair", "one sort"],
)
def test_a_single_image_has_no_interval(images):
    found = priming.measure(Inputs(primed(*images)))

    assert {one["ratio_interval"] for one in found["measures"].values()} == {None}
    assert not list(priming.plots(found))
    [table] = priming.tables(found)
    assert {row[-1] for row in table.rows} == {"–"}


def test_a_campaign_that_primed_everything_has_nothing_to_compare():
    with pytest.raises(NotMeasured, match="Every caption"):
        priming.measure(Inputs(primed(([DOG], []))))


def test_distances_are_those_to_the_ten_nearest():
    rng = np.random.default_rng(1)
    own, others = rng.normal(size=(7, 5)), rng.normal(size=(40, 5))

    found = deciles.mean_distances(own, others)

    for row, distance in zip(own, found, strict=True):
        cosines = others @ row / np.linalg.norm(others, axis=1) / np.linalg.norm(row)
        assert distance == pytest.approx(np.mean(sorted(1 - cosines)[:10]))


def test_deciles_divide_the_scores_of_evaluate():
    texts = [[f"a dog sees {w} and {v}", f"the dog likes {w}", f"a dog with {w}"] for w, v in
             zip("abcdefghijklmnopqrst", "bcdefghijklmnopqrstu", strict=True)]  # fmt: skip
    own = dataset(*texts, extra=True)
    features = np.column_stack([np.ones(20), np.arange(20)])
    inputs = Inputs(own, own, features=features, against_features=features[:10])

    found = deciles.measure(inputs)

    references = {n: some[:2] for n, some in enumerate(texts)}
    results = {n: some[2] for n, some in enumerate(texts)}
    expected = score(references, results, Plan(["cider"], "plain")).overall["CIDEr"]
    assert found["overall"]["baseline"] == pytest.approx(expected)
    assert [one["images"] for one in found["deciles"]] == [2] * 10
    distances = [one["distance"] for one in found["deciles"]]
    assert distances == sorted(distances)


def test_deciles_score_all_systems_on_the_same_images():
    kinds = ["dog"] * 12 + ["cat"] * 8
    texts = [
        [f"a {kind} {n}", f"one {kind} of {n}", f"the {kind} {n}"] for n, kind in enumerate(kinds)
    ]
    whole = dataset(*texts, extra=True)
    # The last eight images have no baseline.
    captions = [one for one in whole.captions if not one.is_extra or one.image < 12]
    own = Dataset("mine", whole.images, captions)
    features = np.column_stack([np.ones(20), np.arange(20)])
    results = {n: some[2] for n, some in enumerate(texts)}

    found = deciles.measure(
        Inputs(own, own, results, features=features, against_features=features[:10])
    )

    # The results are the baseline's captions.
    assert found["images"] == 12
    assert found["overall"]["results"] == pytest.approx(found["overall"]["baseline"])


def two_groups(images: int) -> Inputs:
    own = Dataset(
        "mine",
        [ReportImage(n, None, "in-domain" if n % 2 else "out-domain") for n in range(images)],
        [ReportCaption(n, DOG) for n in range(images)],
        {"boxes": "no boxes"},
    )
    rng = np.random.default_rng(0)
    features = rng.normal(size=(images, 6)) + 20 * (np.arange(images) % 2)[:, None]
    return Inputs(own, features=features)


@pytest.mark.parametrize("seed", [-3, 2**40])
def test_any_seed_of_a_release_gives_a_report(seed):
    numbers = make_report(replace(two_groups(10), seed=seed)).numbers

    assert numbers["similarity"]["seed"] == numbers["seed"] == seed


def test_tsne_keeps_groups_apart():
    found = similarity.measure(two_groups(60))

    assert (found["points_are"], found["components"]) == ("images", 6)
    places = {
        subset: np.array([(p["x"], p["y"]) for p in found["points"] if p["subset"] == subset])
        for subset in ("in-domain", "out-domain")
    }
    centres = [some.mean(axis=0) for some in places.values()]
    spread = max(some.std(axis=0).max() for some in places.values())
    assert np.linalg.norm(centres[0] - centres[1]) > 2 * spread


def test_classes_of_both_datasets_are_drawn_if_there_are_too_many(monkeypatch):
    monkeypatch.setattr(similarity, "MOST_POINTS", 20)
    images = [ReportImage(n, (f"Class {n}",)) for n in range(30)]
    own = Dataset("mine", images, [], domains={f"Class {n}": "in-domain" for n in range(30)})
    features = np.random.default_rng(0).normal(size=(30, 4))
    inputs = Inputs(own, own, features=features, against_features=features)

    found = similarity.measure(inputs)

    subsets = Counter(point["subset"] for point in found["points"])
    assert subsets.total() == 20
    assert min(subsets["in-domain"], subsets[similarity.SECOND]) >= 5


def test_identical_features_have_places():
    inputs = two_groups(8)

    found = similarity.measure(Inputs(inputs.dataset, features=np.ones((8, 3))))

    assert len(found["points"]) == 8


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)

    numbers = make_report(two_groups(10)).numbers

    assert "scikit-learn" in numbers["absent"]["similarity"]
    assert "similarity" not in numbers


def test_a_dataset_of_hidden_captions_says_so():
    images = [ReportImage(n, ("Dog",), "", is_hidden=True) for n in range(6)]

    numbers = make_report(Inputs(Dataset("mine", images, []))).numbers

    assert numbers["absent"]["agreement"] == "All captions of mine are hidden."
    assert numbers["absent"]["ngrams"] == "All captions of mine are hidden."
    assert numbers["per_image"]["boxes"]["dataset"]["mean"] == 1
