import pytest

from corpora.wording import counted, exact_percent, percent, probability


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 HITs"), (1, "1 HIT"), (2, "2 HITs"), (1200, "1,200 HITs")]
)
def test_a_number_decides_between_singular_and_plural(number, words):
    assert counted(number, "HIT") == words


def test_an_irregular_plural_is_given():
    assert counted(2, "appeal needs", "appeals need") == "2 appeals need"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (0.0001, "1%"), (0.5, "50%"), (0.9999, "99%"), (1, "100%")],
)
def test_percent_says_all_and_nothing_only_if_it_is_true(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.07, "7%"), (0.29, "29%"), (0.025, "2.5%"), (0.995, "99.5%"), (1, "100%")]
)
def test_a_share_that_was_set_is_not_rounded(share, text):
    assert exact_percent(share) == text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "under 1%"),
        (0.004, "under 1%"),
        (0.1234, "12%"),
        (0.99, "99%"),
        (0.995, "over 99%"),
        (1, "over 99%"),
    ],
)
def test_a_probability_is_never_told_as_certain(value, words):
    assert probability(value) == words
