import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.language.consensus import mean_similarities

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
