"""Requesters' regular expressions: results and time limits."""

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marketplace.errors import QuestionRefused
from marketplace.questions.patterns import pattern_check


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


TEXTS = [
    "a" * 1999 + "!", "ab" * 1000, "aA1! " * 400, "ä" * 2000, "\n" * 2000, "x" * 1000 + " " * 1000,
    "\U0001f469\u200d\U0001f467" * 600,
]  # fmt: skip
EVIL = [
    "^(a+)+$", "^(a|a)*$", "^(([a-z])+.)+[A-Z]([a-z])+$", r"(\w+\s?)+$", "(x+x+)+y", "(.*)*=",
    "(?:a?){900}a{900}b", r"(.*)\1\1b", r"^(?:(a+)(?!\1b))*$", r"(?:.|\n)*?(?:.|\n)*?b!",
    "(a|aa|aaa|aaaa)*[^a!]", r"(?:(?=\X*+){50}x|\X)*\d", r"(?:(?=\p{L}*+){50}x|\p{L})*\d",
    "(?=a*+)" * 140 + "9", r"(?:[a-z]*+(?<=[a-z]{250})x|.)*\d", "(?:(?<=a{1,255})x|a)*9",
    r"(?=(a{900}))(?:(?=\1){30}x|a)*9", "(?R)?a9", "((?:a(?1)*)*)9", "(?:(?:a*)*)*9",
    "(a?" * 90 + ")" * 90 + "9", "a*" * 400 + "9", "(?>a*)*9", "(?i)(ä|Ä|ää)*9",
    "(?(?=a)a|b)*9", "(a(*SKIP)|aa)*9", "(a(*COMMIT)|aa)*9", "(*NO_AUTO_POSSESS)a*a*a*a*9",
]  # fmt: skip
# Without the optimization that sees at once what a text lacks, searches begin everywhere.
EVIL += [f"(*NO_START_OPT){pattern}" for pattern in EVIL]
# What the operations above take at most, and much less than anybody waits.
BOUND = 1.0


@pytest.mark.parametrize("pattern", EVIL)
def test_no_pattern_takes_long(pattern):
    began = time.thread_time()

    try:
        check = pattern_check(pattern, "s")
    except QuestionRefused:
        return
    finally:
        assert time.thread_time() - began < BOUND
    for text in TEXTS:
        began = time.thread_time()
        assert check(text) in (True, False)
        assert time.thread_time() - began < BOUND


ATOMS = st.sampled_from(
    ["a", "b", ".", r"\w", r"\s", "[a-z]", r"\X", r"\p{L}", r"\1", "(?1)", "(?R)", r"\b", "ä",
     "(?=a)", "^", "$", r"\K", r"\R", "(?<!b)", "(?<=[a-z]{1,200})"]
)  # fmt: skip
REPEATS = st.sampled_from(["", "", "*", "+", "?", "*+", "*?", "{1,100}", "{0,30}", "{5}", "{2,}"])
PATTERNS = st.recursive(
    st.builds("{}{}".format, ATOMS, REPEATS),
    lambda inner: st.one_of(
        st.builds("({}){}".format, inner, REPEATS),
        st.builds("(?:{}|{}){}".format, inner, inner, REPEATS),
        st.builds("(?={})".format, inner),
        st.builds("(?>{}){}".format, inner, REPEATS),
        st.builds("{}{}".format, inner, inner),
    ),
    max_leaves=20,
)


@given(
    pattern=PATTERNS, end=st.sampled_from(["", "!", "9", "$", r"\1"]), text=st.sampled_from(TEXTS)
)
@settings(max_examples=150, deadline=None)
def test_no_pattern_that_somebody_makes_up_takes_long(pattern, end, text):
    began = time.thread_time()

    with contextlib.suppress(QuestionRefused):
        pattern_check(pattern + end)(text)

    assert time.thread_time() - began < BOUND


@pytest.mark.parametrize(
    "pattern",
    [
        "((((a{100}){100}){100}){100})", "(?:a{30000}){30000}", "(a{1,60000}){1,60000}b",
        "(?:(?:a{1,100}){1,100}){1,100}b", "(" * 400 + ")" * 400,
    ],
)  # fmt: skip
def test_a_pattern_that_would_fill_the_memory_is_refused(pattern):
    with pytest.raises(QuestionRefused):
        pattern_check(pattern)


@pytest.mark.parametrize("name", ["LIMIT_MATCH", "LIMIT_DEPTH", "LIMIT_HEAP", "LIMIT_RECURSION"])
def test_a_pattern_cannot_raise_the_limits(name):
    with pytest.raises(QuestionRefused):
        pattern_check(f"(*NO_START_OPT)(*{name}=4000000000)(a|a)*9")


def test_an_answer_that_takes_too_long_to_check_is_let_through(caplog):
    assert pattern_check("^(a|a)*$")("a" * 1900 + "!")

    assert "took too long" in caplog.text


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        (r"^\s*\S+(\s+\S+){4,}\s*$", True),
        (r"^(?!\s*$).+", True),
        (r"(?:\w+\W+){20,}", True),
        (r"^(?:[A-Za-z.,]+\s?)+$", True),
        (r"^https?://\S+$", False),
        (r"\d{4}-\d\d-\d\d", False),
        (r"\b(\w+) \1\b", False),
    ],
)
def test_everyday_patterns_are_decided_on_long_texts(pattern, matches, caplog):
    text = "The quick brown dog runs over a hill and sees the cat. " * 36

    assert pattern_check(pattern)(text) is matches

    assert not caplog.records


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "a{2,1}", "x" * 1001, r"\C", "(?<=a+)b", r"(?P<n>a)(?P<n>b)", "*"]
)
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(QuestionRefused):
        pattern_check(pattern)


@pytest.mark.parametrize("text", ["\0", "\ud800", "", "a\0b"])
def test_any_text_can_be_checked(text):
    assert pattern_check("^b")(text) in (True, False)
