"""Wrong files of ratings end in a message that names what is wrong."""

from pathlib import Path
from typing import Any

import pytest

from corpora.errors import DomainError
from corpora.evaluation.judgements import Caption, captions_in, read_figures, systems_in


def shown(**changes: Any) -> dict[str, Any]:
    return {"text": "a dog", "sources": ["good"]} | changes


@pytest.mark.parametrize(
    ("comparison", "message"),
    [
        ({"a": shown(sources=None)}, "`sources` of `a` is a list of names"),
        ({"b": shown(sources=[1])}, "`sources` of `b` is a list of names"),
        ({"b": shown(text=1)}, "`b` has the text and sources of a caption"),
        ({"votes": [{"better": 1e308}]}, "is not a number that can be computed with"),
        ({"votes": [{"better": 10**400}]}, "is not a number that can be computed with"),
    ],
)
def test_wrong_comparisons_are_refused(
    tmp_path: Path, comparison: dict[str, Any], message: str
) -> None:
    right = {"image_id": 1, "a": shown(), "b": shown(sources=["poor"]), "votes": [{"better": 1}]}

    with pytest.raises(DomainError, match=message):
        captions_in(tmp_path / "p.json", {"comparisons": [right, right | comparison]})


def test_captions_that_nobody_rated_are_refused(tmp_path: Path) -> None:
    captions = [{"image_id": 1, "sources": {"good": "a dog"}, "ratings": [{"true": None}]}]

    with pytest.raises(DomainError, match="it has no captions that people rated"):
        captions_in(tmp_path / "r.json", {"captions": captions})


def test_a_caption_that_nobody_rated_stands_beside_others(tmp_path: Path) -> None:
    sources, ratings = {"good": "a dog"}, [{"true": 4}]
    captions = [{"image_id": n, "sources": sources, "ratings": ratings * n} for n in (0, 1)]

    read = captions_in(tmp_path / "r.json", {"captions": captions})

    assert [caption.ratings for caption in read] == [{}, {"true": [4]}]


@pytest.mark.parametrize(
    ("rated", "submitted"),
    [
        ("a café", "a cafe\u0301"),
        ("a dog runs", "a dog\u200b  runs\n"),
    ],
)
def test_a_system_is_recognised_by_its_captions_as_caption_sets_store_them(
    rated: str, submitted: str
) -> None:
    captions = [Caption(1, "good", rated, {}), Caption(1, "poor", "a thing", {})]

    assert systems_in(captions, {1: submitted}) == {"good"}
    assert systems_in(captions, {1: submitted.upper()}) == set()


def test_a_system_is_recognised_by_captions_in_the_form_that_people_saw() -> None:
    captions = [Caption(1, "good", "A dog runs.", {}, 0), Caption(1, "poor", "…", {}, 0)]

    assert systems_in(captions, {1: "a dog runs"}) == {"good"}
    assert systems_in(captions, {}) == set()


def test_texts_without_words_are_not_taken_for_each_other() -> None:
    captions = [Caption(1, "good", "🐕.", {}, 0), Caption(1, "poor", "🐈.", {}, 0)]

    assert systems_in(captions, {1: "🐕"}) == {"good"}


def test_a_source_that_begins_like_a_formula_is_found_as_csv_files_have_it(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("image_id,source,clip\n1,'-small,0.5\n", encoding="utf-8")
    captions = [Caption(1, "-small", "a dog", {})]

    assert read_figures(path, captions, set()) == {"clip": {(1, "-small"): 0.5}}


def test_empty_lines_in_a_table_of_figures_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "clip.csv"
    path.write_text("image_id,source,CLIPScore\n1,good,0.7\n\n")

    figures = read_figures(path, [Caption(1, "good", "a dog", {})], [])

    assert figures == {"CLIPScore": {(1, "good"): 0.7}}


def test_image_ids_above_the_whole_numbers_of_floats_are_read_exactly(tmp_path: Path) -> None:
    path = tmp_path / "clip.csv"
    path.write_text(
        f"image_id,source,CLIPScore\n{2**53},good,0.7\n{2**53 + 1},good,0.8\n3.0,good,1\n"
    )
    captions = [Caption(image, "good", "a dog", {}) for image in (3, 2**53, 2**53 + 1)]

    figures = read_figures(path, captions, [])

    assert figures == {
        "CLIPScore": {(3, "good"): 1.0, (2**53, "good"): 0.7, (2**53 + 1, "good"): 0.8}
    }


def test_a_figure_of_a_part_of_an_image_id_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clip.csv"
    path.write_text("image_id,source,CLIPScore\n1.5,good,0.7\n")

    with pytest.raises(DomainError, match="2: image_id '1.5' is not a whole number"):
        read_figures(path, [Caption(1, "good", "a dog", {})], [])
