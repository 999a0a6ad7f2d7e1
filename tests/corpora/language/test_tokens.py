"""Splitting captions into words, in any script."""

import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.language.text import normalise
from corpora.language.tokens import pieces, tokens

ANY_TEXT = st.text(st.characters(categories=None))
PLAIN_TEXT = st.text(st.characters(max_codepoint=127))
# The task page's script must give the same (tests/javascript/task.test.mjs).
SHARED = json.loads((Path(__file__).parents[2] / "words.json").read_text(encoding="utf-8"))


def written(text):
    return [token.text for token in tokens(text)]


@given(ANY_TEXT)
def test_the_offsets_give_the_words(text):
    found = tokens(text)

    assert [text[token.start : token.end] for token in found] == [token.text for token in found]


@given(ANY_TEXT)
def test_the_pieces_rebuild_the_text(text):
    assert "".join(piece for piece, _ in pieces(text)) == text


@given(ANY_TEXT)
def test_words_follow_each_other_and_none_is_empty(text):
    ends = [0]
    for token in tokens(text):
        assert ends[-1] <= token.start < token.end
        ends.append(token.end)


@given(ANY_TEXT)
def test_every_letter_and_digit_is_in_a_word(text):
    between = [piece for piece, number in pieces(text) if number is None]

    assert not [c for piece in between for c in piece if unicodedata.category(c)[0] in "LN"]


@given(ANY_TEXT)
def test_the_pieces_number_the_words_in_their_order(text):
    numbered = [(piece, number) for piece, number in pieces(text) if number is not None]

    assert numbered == [(token.text, number) for number, token in enumerate(tokens(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog's toy, dogs' toys", ["A", "dog's", "toy", "dogs", "toys"]),
        ("It’s a T-shirt – a well‐worn one", ["It’s", "a", "T-shirt", "a", "well‐worn", "one"]),
        ("two  spaces\tand\nbreaks ", ["two", "spaces", "and", "breaks"]),
        ("3.5 m, at 10:30, No.7", ["3.5", "m", "at", "10:30", "No", "7"]),
        ("cafe\u0301 and café", ["cafe\u0301", "and", "café"]),
        ("एक हिन्दी वाक्य", ["एक", "हिन्दी", "वाक्य"]),
        ("ein Straßen­hund", ["ein", "Straßen", "hund"]),
        ("🐕 (dog) … 'quoted'", ["dog", "quoted"]),
        ("snake_case", ["snake", "case"]),
        ("", []),
        ("!?", []),
    ],
)
def test_texts_are_divided_into_words(text, expected):
    assert written(text) == expected


@pytest.mark.slow
def test_the_first_text_of_a_process_has_the_same_words_as_later():
    code = "from corpora.language.tokens import written; print(written('ー犬'), written('ー犬'))"

    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert told.stdout == "['ー', '犬'] ['ー', '犬']\n"


def test_offsets_count_code_points():
    (dog,) = tokens("🐕🐕 dog")

    assert (dog.start, dog.end) == (3, 6)


@given(PLAIN_TEXT)
def test_plain_text_has_the_same_words_as_in_front_of_another_script(text):
    assert tokens(text) == tokens(f"{text} 犬")[:-1]


@pytest.mark.parametrize("example", SHARED, ids=range(len(SHARED)))
def test_the_words_of_a_text_are_those_that_the_page_counts(example):
    assert written(normalise(example["text"])) == example["words"]
