import pytest

from corpora.wording import counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 HITs"), (1, "1 HIT"), (2, "2 HITs"), (1200, "1,200 HITs")]
)
def test_a_number_decides_between_singular_and_plural(number, words):
    assert counted(number, "HIT") == words


def test_an_irregular_plural_is_given():
    assert counted(2, "appeal needs", "appeals need") == "2 appeals need"
