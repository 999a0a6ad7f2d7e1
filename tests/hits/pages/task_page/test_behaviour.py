"""What is stored about how an answer was made: counts, and the type of device."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.pages.task_page.behaviour import GREATEST, device_of, read_counts

PHONE = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/120 Mobile Safari/537.36"
)
COUNTS = {
    "keystrokes": 61,
    "pastes": 1,
    "pasted_characters": 12,
    "seconds_writing": 33.5,
    "times_left": 2,
}


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "null",
        "[]",
        "3",
        "{",
        "[" * 400,
        '{"keystrokes": -1, "pastes": "2", "times_left": true}',
        '{"keystrokes": NaN, "seconds_writing": Infinity, "other": 3}',
        json.dumps(COUNTS) + " " * 500,
    ],
)
def test_rubbish_is_left_out(raw):
    assert read_counts(raw) == {}


def test_what_is_too_great_is_cut():
    assert read_counts('{"keystrokes": 1e300, "pastes": 2.9}') == {
        "keystrokes": GREATEST,
        "pastes": 2,
    }


@given(st.text() | st.dictionaries(st.sampled_from(sorted(COUNTS)), st.floats()).map(json.dumps))
def test_counts_are_never_negative_or_without_bounds(raw):
    assert all(0 <= value <= GREATEST for value in read_counts(raw).values())


@pytest.mark.parametrize(
    ("agent", "hint", "device"),
    [
        (PHONE, None, "PHONE"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Mobile/15E148", None, "PHONE"),
        ("Mozilla/5.0 (iPad; CPU OS 16_0 like Mac OS X) Mobile/15E148", None, "TABLET"),
        ("Mozilla/5.0 (Linux; Android 13; SM-X700) Chrome/120 Safari/537.36", None, "TABLET"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/121.0", None, "COMPUTER"),
        ("Mozilla/5.0 (X11; Linux x86_64) Chrome/120", "?1", "PHONE"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 14_0) Safari/605", "?0", "COMPUTER"),
        ("curl/8.0", None, ""),
        ("", None, ""),
    ],
)
def test_the_class_of_device_and_nothing_finer_is_known(agent, hint, device):
    headers = {"User-Agent": agent} | ({"Sec-CH-UA-Mobile": hint} if hint else {})

    assert device_of(headers) == device
