"""Parsing the fields of the form with word–box links."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.kinds.correspondence.answers import WordKind, as_value, kinds, links, parse

REFERENTS = st.one_of(
    st.sampled_from([kind.value for kind in WordKind]),
    st.lists(st.integers(0, 10**12), min_size=1, unique=True).map(sorted),
)


@given(REFERENTS)
def test_a_field_reads_back_as_it_was_written(referent):
    assert parse(as_value(referent)) == referent


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", None),
        ("  ", None),
        ("box:3", [3]),
        (" box:9  box:3 box:9 ", [3, 9]),
        ("scene", "scene"),
    ],
)
def test_fields_that_can_be_read(value, expected):
    assert parse(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        "box:",
        "box:-1",
        "box:1.0",
        "box:٣",
        "3",
        "dog",
        "scene box:1",
        "box:1 scene",
        "box:" + "9" * 30,
    ],
)
def test_a_field_that_says_nothing_known_is_an_error(value):
    with pytest.raises(ValueError, match=r".+"):
        parse(value)


def test_links_and_kinds_share_out_an_answer():
    words = {"1": [4, 7], "3": "scene", "5": [4]}

    assert links(words) == {(1, 4), (1, 7), (5, 4)}
    assert kinds(words) == {3: "scene"}
