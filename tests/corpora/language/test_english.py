import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.language.english import frequency, is_known, mean_similarities, rarity, stem, words

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


texts = st.lists(
    st.text(max_size=40) | st.sampled_from(["a red kite", "two kites fly"]), max_size=8
)


def test_captions_of_the_same_words_are_wholly_alike():
    assert mean_similarities(["A red kite.", "the RED kite", "a kite, red"]) == pytest.approx(
        [1, 1, 1]
    )


def test_captions_without_a_word_in_common_are_not_alike():
    assert mean_similarities(["a red kite", "two tall giraffes"]) == [0, 0]


def test_inflections_count_as_the_same_word():
    first, _ = mean_similarities(["dogs running", "a dog runs"])

    assert first > 0.9


def test_rare_words_weigh_more_than_common_ones():
    rare, common, _ = mean_similarities(["saxophone people", "people giraffe", "saxophone giraffe"])

    assert rare > common


def test_one_caption_alone_is_like_nothing():
    assert mean_similarities(["a red kite"]) == [0.0]
    assert mean_similarities([]) == []


@given(texts)
def test_means_lie_between_nothing_and_one(captions):
    assert all(0 <= mean <= 1 + 1e-9 for mean in mean_similarities(captions))


@given(texts, st.randoms(use_true_random=False))
def test_the_order_of_the_captions_does_not_matter(captions, random):
    order = random.sample(range(len(captions)), len(captions))

    means = mean_similarities(captions)

    shuffled = mean_similarities([captions[index] for index in order])
    assert shuffled == pytest.approx([means[index] for index in order])


@given(st.lists(st.text(max_size=40), min_size=2, max_size=2))
def test_likeness_of_two_is_mutual(captions):
    first, second = mean_similarities(captions)

    assert first == pytest.approx(second)
