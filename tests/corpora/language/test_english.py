import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.language.english import frequency, is_known, rarity, stem, words

ANY_TEXT = st.text(st.characters(categories=None))


def test_words_are_in_lower_case_and_keep_apostrophes_and_hyphens():
    assert words("A dog's T-shirt, side-by-side: 2 Cats!") == (
        "a",
        "dog's",
        "t-shirt",
        "side-by-side",
        "2",
        "cats",
    )


def test_words_are_spelt_in_one_way_and_divided_as_links_are():
    assert words("It’s ５ side‑by‑side ﬁelds at 3:27") == (
        "it's",
        "5",
        "side-by-side",
        "fields",
        "at",
        "3:27",
    )


@given(ANY_TEXT)
def test_words_of_any_text_are_words_of_themselves(text):
    for word in words(text):
        assert "".join(words(word)) in ("", word)


@pytest.mark.parametrize(
    ("word", "same"),
    [
        ("dogs", "dog"),
        ("dog's", "dog"),
        ("riding", "rides"),
        ("running", "run"),
        ("ponies", "pony"),
        ("benches", "bench"),
        ("glasses", "glass"),
        ("dressed", "dress"),
    ],
)
def test_inflections_share_their_stem(word, same):
    assert stem(word) == stem(same)


@pytest.mark.parametrize("word", ["glass", "bus", "tennis", "red", "king"])
def test_a_word_that_only_looks_inflected_is_left_whole(word):
    assert stem(word) == word


def test_common_words_say_little_and_unknown_ones_the_most():
    assert rarity("the") < rarity("dog") < rarity("saxophone") < rarity("qwrtzxcv") == 7.0


def test_frequencies_are_on_zipfs_scale():
    assert 7 < frequency("the") < 8
    assert frequency("qwrtzxcv") == 0


@pytest.mark.parametrize("word", ["umbrella", "dog's", "light-colored", "35th", "t-shirt"])
def test_words_their_possessives_and_compounds_are_known(word):
    assert is_known(word)


@pytest.mark.parametrize("word", ["umberlla", "seveal", "tehre", "xqzt"])
def test_slips_of_the_pen_are_not_known(word):
    assert not is_known(word)
