"""The changes of a version of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.kinds.refine.changes import edit_distance, new_content_words, parts
from corpora.language.tokens import tokens

texts = st.text(alphabet="ab .,-'é狗猫在", max_size=40)


def words_of(text):
    return [token.text for token in tokens(text)]


@given(texts, texts)
def test_the_parts_are_both_texts(before, after):
    found = list(parts(before, after))

    kept_or = {
        what: "".join(part.text for part in found if part.what in ("kept", what))
        for what in ("added", "removed")
    }
    assert kept_or["added"] == after
    assert words_of(kept_or["removed"]) == words_of(before)
    assert [part for part in found if not part.text] == []


@given(texts)
def test_a_text_does_not_differ_from_itself(text):
    assert {part.what for part in parts(text, text)} <= {"kept"}
    assert edit_distance(text, text) == new_content_words(text, text) == 0


@given(texts, texts)
def test_an_edit_distance_is_the_same_both_ways(before, after):
    assert edit_distance(before, after) == edit_distance(after, before)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("", "A dog.", [("added", "A dog.")]),
        ("A dog.", "A brown dog.", [("kept", "A "), ("added", "brown "), ("kept", "dog.")]),
        ("A dog", "A dog.", [("kept", "A "), ("removed", "dog"), ("added", "dog.")]),
        ("草地上有狗", "绿色草地上有狗", [("added", "绿色"), ("kept", "草地上有狗")]),
    ],
)
def test_changes_are_found_word_by_word(before, after, changes):
    assert [(part.what, part.text) for part in parts(before, after)] == changes


def test_new_content_words_are_counted_once_in_any_form():
    assert new_content_words("A dog runs.", "Two dogs run to the red trees and a tree.") == 2
