"""Behaviour stored with an answer: counts, and the type of device."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.pages.task_page.form import GREATEST, device_of, read_counts

PHONE = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/120 Mobile Safari/537.36"
)
COUNTS = {
    "seconds_writing": 33.5,
    "times_left": 2,
    "characters": {"typed": 61, "pasted": 12},
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
        '{"seconds_writing": -1, "characters": "2", "times_left": true}',
        '{"times_left": NaN, "seconds_writing": Infinity, "other": 3}',
        json.dumps(COUNTS) + " " * 500,
    ],
)
def test_rubbish_is_left_out(raw):
    assert read_counts(raw) == {}


def test_counts_that_are_too_great_are_cut():
    found = read_counts('{"times_left": 1e300, "characters": {"typed": 1e99, "pasted": 2.9}}')

    assert found == {"times_left": GREATEST, "characters": {"typed": GREATEST, "pasted": 2}}


def test_whole_numbers_beyond_all_floats_are_cut():
    found = read_counts(json.dumps({"seconds_writing": 10**400}))

    assert found == {"seconds_writing": GREATEST}


def test_ways_that_are_not_known_are_left_out():
    raw = '{"characters": {"typed": -1, "pasted": "3", "sung": 4, "dropped": null}}'

    assert read_counts(raw) == {"characters": {}}


NUMBERS = st.dictionaries(st.sampled_from(["typed", "times_left"]), st.floats())


@given(st.text() | st.builds(lambda a, b: json.dumps({**a, "characters": b}), NUMBERS, NUMBERS))
def test_counts_are_never_negative_or_without_bounds(raw):
    found = read_counts(raw)
    numbers = [*found.pop("characters", {}).values(), *found.values()]

    assert all(0 <= value <= GREATEST for value in numbers)


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
