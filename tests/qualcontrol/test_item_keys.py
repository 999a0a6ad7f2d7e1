"""The keys of things to judge, which tell nothing about them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qualcontrol.item_keys import KEY, opened, sealed

NUMBERS = st.integers(0, 2**48 - 1)


@given(NUMBERS, st.integers(1, 10**6))
def test_a_key_opens_to_the_number_it_hides(number, campaign):
    key = sealed(number, campaign=campaign)

    assert KEY.fullmatch(key)
    assert opened(key, campaign=campaign) == number
    assert sealed(number, campaign=campaign) == key


def test_neighbouring_numbers_have_keys_without_anything_in_common(settings):
    settings.SECRET_KEY = "the same in every run"
    keys = [sealed(number, campaign=1) for number in range(2000)]

    assert len(set(keys)) == 2000
    # At each place every character comes, whether the number is even or odd.
    for place in range(16):
        assert {key[place] for key in keys[::2]} == {key[place] for key in keys[1::2]}


def test_a_key_of_another_campaign_is_none():
    with pytest.raises(ValueError, match="no key of this campaign"):
        opened(sealed(7, campaign=1), campaign=2)


@pytest.mark.parametrize("key", ["", "14", "A" * 15, "A" * 16, "A" * 17, "Ä" * 16, "+" * 16])
def test_a_text_that_nobody_sealed_is_no_key(key):
    with pytest.raises(ValueError, match="no key"):
        opened(key, campaign=1)


@given(NUMBERS, st.integers(0, 15))
def test_a_key_with_a_changed_character_is_none(number, place):
    key = sealed(number, campaign=1)
    changed = key[:place] + ("A" if key[place] != "A" else "B") + key[place + 1 :]

    with pytest.raises(ValueError, match="no key"):
        opened(changed, campaign=1)
