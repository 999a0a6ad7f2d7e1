"""The command on valid and invalid files. It must not use the database."""

import json
from functools import partial

import pytest
from django.core.management import CommandError

from tests.commands import output_of

GOLD = {"1": [["a", "b"], ["a"]], "2": [[7], []], "3": []}
BOXES = {
    "boxes": {
        "a": {"image_id": 1, "label": "dog", "fractions": [0.1, 0.1, 0.9, 0.9]},
        "b": {"image_id": "1", "label": "man", "fractions": [0, 0, 0.2, 0.2]},
        "7": {"image_id": 2, "label": "man", "fractions": [0, 0, 1, 1]},
        "d": {"image_id": "learnt from", "label": "dog", "fractions": [0, 0, 1, 1]},
    }
}
DEVELOPMENT = {"learnt from": [["d"]]}


@pytest.fixture
def baseline_options(write):
    return [
        f"--boxes={write('boxes.json', BOXES)}",
        f"--development={write('development.json', DEVELOPMENT)}",
    ]


def deviation(precision, recall, f):
    return pytest.approx({"precision": precision, "recall": recall, "f": f})


run = partial(output_of, "content_selection")


def test_json_is_one_object_with_the_score(write):
    results = write("results.json", {"1": ["a"], "2": ["7"]})

    printed = run(write("gold.json", GOLD), results, "--json")

    assert json.loads(printed) == {
        "precision": 0.75,
        "recall": pytest.approx((0.75 + 0.5) / 2),
        "f": pytest.approx((2 * 0.75 / 1.75 + 0.5) / 2),
        "standard_deviation": deviation(0.25, 0.125, (2 * 0.75 / 1.75 - 0.5) / 2),
        "images": 2,
        "descriptions": 4,
        "boxes_per_description": 1,
        "without_result": 0,
        "without_gold": 0,
        "human": {
            "precision": pytest.approx(0.375),
            "recall": pytest.approx(0.375),
            "f": pytest.approx(1 / 3),
            "standard_deviation": deviation(0.375, 0.375, 1 / 3),
        },
    }


def test_whole_numbers_and_strings_are_the_same_ids(write):
    gold = write("gold.json", {"1": [[1, "2"]]})

    assert json.loads(run(gold, write("results.json", {"1": ["1", 2, 2]}), "--json"))["f"] == 1


def test_images_of_one_file_only_are_counted(write):
    results = write("results.json", {"1": ["a"], "3": ["a"], "elsewhere": ["a"]})
    gold = write("gold.json", GOLD)

    found = json.loads(run(gold, results, "--json"))

    assert (found["without_result"], found["without_gold"]) == (1, 2)
    assert "Images without a result, which score 0: 1" in run(gold, results)
    assert "Results of images without gold, left out: 2" in run(gold, results)


def test_the_upper_bound_is_null_where_every_image_has_one_description(write):
    gold, results = write("gold.json", {"1": [["a"]]}), write("results.json", {"1": ["a"]})

    assert json.loads(run(gold, results, "--json"))["human"] is None
    assert "human" not in run(gold, results)


def test_baselines_need_no_results(write, baseline_options):
    found = json.loads(run(write("gold.json", GOLD), *baseline_options, "--json"))

    assert "precision" not in found
    assert found["baselines"]["size"]["best_k"] == 1
    assert [score["k"] for score in found["baselines"]["size"]["scores"]] == list(range(1, 16))
    assert found["baselines"]["size"]["scores"][0] == {
        "k": 1,
        "precision": 0.75,
        "recall": pytest.approx((0.75 + 0.5) / 2),
        "f": pytest.approx((2 * 0.75 / 1.75 + 0.5) / 2),
        "standard_deviation": deviation(0.25, 0.125, (2 * 0.75 / 1.75 - 0.5) / 2),
    }


def test_the_table_has_a_line_for_each_of_results_people_and_baselines(write, baseline_options):
    results = write("results.json", {"1": ["a"], "2": [7]})

    lines = run(write("gold.json", GOLD), results, *baseline_options).splitlines()

    assert lines[0] == "2 images, 4 descriptions that mention 1.00 boxes on average"
    assert lines[2].split() == ["precision", "recall", "F", "k"]
    assert " ".join(lines[3].split()) == "results 0.750 ± 0.250 0.625 ± 0.125 0.679 ± 0.179"
    assert " ".join(lines[4].split()) == "human 0.375 ± 0.375 0.375 ± 0.375 0.333 ± 0.333"
    assert " ".join(lines[6].split()) == "position 0.750 ± 0.250 0.625 ± 0.125 0.679 ± 0.179 1"
    assert [line.split()[0] for line in lines[-15:]] == [str(k) for k in range(1, 16)]


def test_the_order_of_mention_adds_bigram_and_combined(write, baseline_options):
    gold, mentions = write("gold.json", GOLD), write("mentions.json", {"learnt from": [[["d"]]]})

    before = json.loads(run(gold, *baseline_options, "--json"))["baselines"]
    found = json.loads(run(gold, *baseline_options, f"--mentions={mentions}", "--json"))

    assert found["baselines"].keys() - before.keys() == {"bigram", "combined"}
    assert found["baselines"]["bigram"]["scores"][0]["f"] == pytest.approx(
        (2 * 1 * 0.75 / 1.75) / 2
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"learnt from": [["d"]]}, "description 1, mention 1: 'd' is not a list"),
        ({"learnt from": [[["nowhere"]]]}, "mentions box 'nowhere'"),
        ({"1": [[["a"]]]}, "also in the development part"),
    ],
)
def test_mentions_that_do_not_fit_are_an_error(write, baseline_options, content, reason):
    mentions = write("mentions.json", content)

    with pytest.raises(CommandError, match=reason):
        run(write("gold.json", GOLD), *baseline_options, f"--mentions={mentions}")


def test_figures_are_drawn_into_the_folder(write, baseline_options, tmp_path):
    out = tmp_path / "new" / "figures"

    printed = run(write("gold.json", GOLD), *baseline_options, "--out", out)

    drawn = [out / "f.png", out / "precision_recall.png"]
    assert sorted(out.iterdir()) == drawn
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
    assert printed.splitlines()[-2:] == [str(path) for path in drawn]


def test_boxes_may_be_in_several_files(write, baseline_options):
    key, box = "e", {"image_id": "1", "label": "cat", "fractions": [0, 0, 1, 1]}
    more = write("more.json", {"images": {}, "boxes": {key: box}})

    found = run(write("gold.json", {"1": [[key]]}), *baseline_options, f"--boxes={more}", "--json")

    assert json.loads(found)["baselines"]["size"]["scores"][0]["f"] == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "not valid JSON"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"1": 9' + "9" * 5_000 + "}", "more digits"),
        ('{"1": [], "1": [["a"]]}', "'1' occurs twice"),
        ({"1": None}, "image '1': None is not a list"),
        ({"1": ["a"]}, "image '1', description 1: 'a' is not a list"),
        ({"1": [["a"], [None]]}, "image '1', description 2: None is not an id"),
        ({"1": [[True]]}, "True is not an id"),
        ({"1": [[1.0]]}, "1.0 is not an id"),
        ({"1": [[["a"]]]}, "is not an id"),
        ({"\ud800\n": 1}, r"half of a surrogate pair \(U\+D800\)"),
        ({"\n" * 100: 1}, "is not a list"),
        ({"1": [[{"long": "x" * 10_000}]]}, "is not an id"),
    ],
)
def test_a_gold_file_of_another_form_is_named_in_one_line(write, content, reason):
    gold = write("gold.json", content)

    with pytest.raises(CommandError, match=reason) as error:
        run(gold, write("results.json", {}))

    assert str(error.value).startswith(f"{gold}:")
    assert len(str(error.value).splitlines()) == 1
    assert len(str(error.value)) < len(str(gold)) + 200


def test_a_results_file_of_another_form_is_an_error(write):
    with pytest.raises(CommandError, match="image '1': 'a' is not a list"):
        run(write("gold.json", GOLD), write("results.json", {"1": "a"}))


def test_a_file_that_is_not_there_or_not_utf8_is_an_error(write, tmp_path):
    gold = write("gold.json", GOLD)
    (tmp_path / "latin.json").write_bytes(b'{"\xe9": []}')

    with pytest.raises(CommandError, match="No such file"):
        run(gold, tmp_path / "nowhere.json")
    with pytest.raises(CommandError, match="not UTF-8"):
        run(gold, tmp_path / "latin.json")


def test_gold_without_a_description_is_an_error(write):
    with pytest.raises(CommandError, match=r"gold\.json: no image has a description"):
        run(write("gold.json", {"1": []}), write("results.json", {}))


def test_development_without_a_description_is_an_error(write):
    baselines = ["--boxes", write("boxes.json", {"boxes": {}}), "--development"]

    with pytest.raises(CommandError, match=r"dev\.json: no image has a description"):
        run(write("gold.json", GOLD), *baselines, write("dev.json", {}))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"label": ""}, "label '' is not a name"),
        ({"label": 3}, "label 3 is not a name"),
        ({"image_id": None}, "image_id: None is not an id"),
        ({"fractions": None}, "fractions: None is not a list"),
        ({"fractions": [0, 0, 1]}, "not four numbers"),
        ({"fractions": [0, 0, 1, 640]}, "not four numbers from 0 to 1"),
        ({"fractions": [0, 0, 1, float("nan")]}, "not four numbers from 0 to 1"),
        ({"fractions": [0, 0, 1, True]}, "not four numbers"),
        ({"fractions": [0.5, 0, 0.4, 1]}, "not x_min, y_min, x_max, y_max"),
    ],
)
def test_a_box_of_another_form_is_named(write, baseline_options, change, reason):
    boxes = write("wrong.json", {"boxes": {"w": {**BOXES["boxes"]["a"], **change}}})

    with pytest.raises(CommandError, match=f"box 'w'.*{reason}"):
        run(write("gold.json", GOLD), *baseline_options, f"--boxes={boxes}")


def test_one_id_for_two_boxes_is_an_error(write, baseline_options):
    moved = {**BOXES["boxes"]["a"], "image_id": "2"}
    boxes = write("moved.json", {"boxes": {"a": moved}})

    with pytest.raises(CommandError, match="another file has another box of this id"):
        run(write("gold.json", GOLD), *baseline_options, f"--boxes={boxes}")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "Name RESULTS"),
        (["--boxes=boxes.json"], "need both"),
        (["--development=development.json"], "need both"),
        (["results.json", "--out=figures"], "--out is for the baselines"),
        (["results.json", "--mentions=mentions.json"], "--mentions is for the baselines"),
    ],
)
def test_an_option_without_its_other_half_is_an_error(write, options, reason):
    with pytest.raises(CommandError, match=reason):
        run(write("gold.json", GOLD), *options)


def test_an_out_that_is_a_file_is_an_error(write, baseline_options):
    gold = write("gold.json", GOLD)

    with pytest.raises(CommandError, match="File exists"):
        run(gold, *baseline_options, "--out", gold)
