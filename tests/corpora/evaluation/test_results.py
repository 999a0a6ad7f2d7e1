"""Wrong results and captions files end in a message that names what is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpora.errors import DomainError
from corpora.evaluation.references import read_references
from corpora.evaluation.results import check_images, read_outside, read_results


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def result(image: Any, caption: Any = "a dog") -> dict[str, Any]:
    return {"image_id": image, "caption": caption}


def test_results_are_the_captions_by_image(tmp_path: Path) -> None:
    path = written(tmp_path / "r.json", [result(7), result(3, ""), {**result(0), "score": 0.5}])

    assert read_results(path) == {7: "a dog", 3: "", 0: "a dog"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ({}, "results are a list"),
        ([[1, "a dog"]], r"entry 0: \[1, 'a dog'\] has no `image_id` and `caption`"),
        ([result(1), {"image_id": 2}], "entry 1: .* has no `image_id` and `caption`"),
        ([[[]]], "entry 0"),
        ([result(1), result("2"), result("3")], "ids that are not whole numbers: '2', '3'.$"),
        ([result(2.0)], "ids that are not whole numbers: 2.0"),
        ([result(True)], "ids that are not whole numbers: True"),
        ([result(None)], "ids that are not whole numbers: None"),
        ([result([1])], r"ids that are not whole numbers: \[1\]"),
        ('[{"image_id": NaN, "caption": "a"}]', "ids that are not whole numbers: nan"),
        ([result(-3)], "Negative image ids: -3"),
        ('[{"image_id": 4, "caption": NaN}]', "Captions that are not texts, of images: 4"),
        ([result(4, None), result(5, ["a"])], "Captions that are not texts, of images: 4, 5"),
        ([result(4, "x" * 100_000)], "more than 10,000 characters, of images: 4"),
        ([result(1), result(2), result(1)], "Images with several captions: 1"),
        (
            [result(image) for image in range(30)] * 2,
            r"several captions: 0, 1, .*, 18, 19, … \(30 in all\)",
        ),
        ([result(1, "a\0b")], "NUL character"),
        ('[{"image_id": 1, "caption": "\\ud800"}]', "half of a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_wrong_results_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    path = written(tmp_path / "r.json", content)

    with pytest.raises(DomainError, match=message) as raised:
        read_results(path, name="my results")

    assert str(raised.value).startswith("my results")
    assert len(str(raised.value)) < 1000


def test_missing_and_unknown_images_are_named() -> None:
    def check(results: list[int]) -> None:
        check_images(results, wanted=range(50), without=[60], name="r.json")

    check([*range(50), 60])
    with pytest.raises(DomainError, match="Images without a caption: 3, 4.$"):
        check([image for image in range(50) if image not in {3, 4}])
    with pytest.raises(DomainError, match=r"without a caption: 0, 1.*19, … \(50 in all\)"):
        check([99])
    with pytest.raises(DomainError, match="Captions of unknown images: 61, 70.$"):
        check([*range(50), 70, 61])


def captions_file(**changes: Any) -> dict[str, Any]:
    return {
        "images": [{"id": 1, "domain": "in-domain"}, {"id": 2}],
        "annotations": [{"image_id": 1, "caption": "a dog"}, {"image_id": 1, "caption": "a cat"}],
    } | changes


def test_references_have_captions_and_domains(tmp_path: Path) -> None:
    references = read_references(written(tmp_path / "c.json", captions_file()))

    assert references.captions == {1: ["a dog", "a cat"]}
    assert references.subsets == {1: "in-domain"}
    assert references.without == {2}
    assert (references.fewest, references.most) == (2, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": []}, "there are no images"),
        ({"images": None}, "no list `images`"),
        ({"annotations": {}}, "no list `annotations`"),
        ({"annotations": []}, "no image has a caption. Are the references hidden"),
        ({"images": [{"id": 1}, {"id": 1}]}, r"images\[1\] \(id 1\): the image 1 occurs twice"),
        ({"images": [{"id": "1"}]}, r"images\[0\] \(id '1'\): id '1' is not a whole number from 0"),
        ({"images": [1]}, r"images\[0\]: 1 is not a JSON object"),
        ({"images": [{"id": 1, "domain": 3}]}, "domain 3 is not a text"),
        ({"annotations": [{"image_id": 9, "caption": "a"}]}, "there is no image 9"),
        (
            {"annotations": [{"image_id": 1, "region_id": 1, "bbox": None, "caption": "a"}]},
            r"annotations\[0\]: this describes a region, not the whole image",
        ),
        ({"annotations": [{"image_id": 1, "caption": " "}]}, "caption ' ' is not a text"),
        ({"annotations": [{"image_id": 1, "caption": float("nan")}]}, "nan is not a text"),
    ],
)
def test_wrong_captions_files_are_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = written(tmp_path / "c.json", captions_file(**changes))

    with pytest.raises(DomainError, match=message):
        read_references(path)


def test_a_captions_file_is_one_object(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="one JSON object"):
        read_references(written(tmp_path / "c.json", []))


TOO_LARGE = 10**400


@pytest.mark.parametrize(
    "value", [TOO_LARGE, -TOO_LARGE, 1e308, float("inf"), float("nan"), True, "1"]
)
def test_scores_of_another_metric_are_numbers_that_can_be_computed_with(
    tmp_path: Path, value: Any
) -> None:
    path = written(tmp_path / "s.json", [{"image_id": 1, "clip": value}])

    with pytest.raises(
        DomainError, match="entry 0, 'clip': .* is not a number that can be computed with"
    ):
        read_outside(path, taken=set(), images={1: "a dog"})
