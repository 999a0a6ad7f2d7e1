"""Sentences with links in brackets."""

from hypothesis import given
from hypothesis import strategies as st

from annotate.kinds.correspondence.brackets import (
    bracketed,
    entities,
    passages,
    read_bracketed,
)

SENTENCE = "A woman in a white dress and gold boots leaning on a car."


def test_the_papers_figure_two():
    linked = {1: (2,), 5: (0,), 8: (5,), 12: (3,)}

    assert bracketed(SENTENCE, linked) == (
        "A [woman]2 in a white [dress]0 and gold [boots]5 leaning on a [car]3."
    )


def test_words_side_by_side_with_the_same_boxes_are_one_stretch():
    assert bracketed("A  hot dog, a dog", {1: (4,), 2: (4,), 4: (1, 4)}) == (
        "A  [hot dog]4, a [dog]1,4"
    )


def test_words_side_by_side_with_different_boxes_are_two():
    assert bracketed("man's dog", {0: (1,), 1: (2,)}) == "[man's]1 [dog]2"


def test_sentence_files_have_the_class_for_a_type_and_no_box_for_id_zero():
    sentence = entities(
        "Two dogs at sunset on a hot dog stand",
        {1: (3, 4), 6: (2,), 7: (2,)},
        {2: "Hot dog", 3: "Dog", 4: "Dog"},
        {3: "scene"},
    )

    assert sentence == (
        "Two [/EN#3+4/dog dogs] at [/EN#0/scene sunset] on a [/EN#2/hot_dog hot dog] stand"
    )


def test_brackets_and_numbers_of_the_caption_are_no_links():
    caption = "dogs,3 cats near a [STOP]2 sign \\ 犬3"

    written = bracketed(caption, {0: (3,), 8: (1, 2)})

    assert written == r"[dogs]3\,3 cats near a \[STOP\]2 sign \\ [犬]1,2\3"
    assert list(read_bracketed(written)) == [
        ("dogs", (3,)),
        (",3 cats near a [STOP]2 sign \\ ", ()),
        ("犬", (1, 2)),
        ("3", ()),
    ]


def test_sentence_files_have_round_brackets_for_the_captions_own():
    assert entities("A [hot] dog [/EN#1/x y]", {1: (2,), 2: (2,)}, {2: "Hot dog"}, {}) == (
        "A ([/EN#2/hot_dog hot) dog] (/EN#1/x y)"
    )


BRACKETED = st.text("a 0,[]\\犬", max_size=30) | st.text(max_size=30)
LINKED = st.dictionaries(st.integers(0, 8), st.lists(st.integers(0, 30), min_size=1).map(tuple))


@given(BRACKETED, LINKED)
def test_brackets_give_the_passages_again(caption, linked):
    assert list(read_bracketed(bracketed(caption, linked))) == list(passages(caption, linked))


@given(st.text(max_size=40), st.dictionaries(st.integers(0, 8), st.tuples(st.integers(0, 3))))
def test_the_stretches_rebuild_the_caption(caption, linked):
    assert "".join(text for text, _ in passages(caption, linked)) == caption
