"""Requesters' regular expressions: what they say, and how long they may take."""

import time

import pytest

from marketplace.errors import QuestionRefused
from marketplace.questions.patterns import pattern_check
from tests.servers import PATIENCE


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "matches"),
    [
        ("^[0-9]{5}$", "", "12345", True),
        ("^[0-9]{5}$", "", "1234", False),
        ("dog", "", "a brown dog", True),
        ("DOG", "i", "a brown dog", True),
        ("a.b", "s", "a\nb", True),
        (r"(\w)\1", "", "book", True),
        (r"^(?!.*cat)", "", "a cat", False),
    ],
)
def test_a_pattern_is_looked_for(pattern, flags, text, matches):
    assert pattern_check(pattern, flags)(text) is matches


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_pattern_that_takes_for_ever_lets_the_answer_through(pattern):
    check, began = pattern_check(pattern), time.monotonic()

    assert check("a" * 1900 + "!") in (True, False)

    assert time.monotonic() - began < PATIENCE


def test_the_worst_pattern_does_end_by_the_time_limit(caplog):
    assert pattern_check("^(a|a)*$")("a" * 1900 + "!")

    assert "took too long" in caplog.text


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "x" * 1001])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(QuestionRefused):
        pattern_check(pattern)
