"""Words that are suggested as names of boxes."""

import pytest

from annotate.kinds.correspondence.nouns import suggested
from corpora.language.tokens import tokens


def hinted(caption, *names):
    words = tokens(caption)
    return [words[number].text for number in sorted(suggested(words, names))]


@pytest.mark.parametrize(
    ("caption", "names", "expected"),
    [
        ("A dog chases two cats.", ["Dog", "Cat"], ["dog", "cats"]),
        ("A hot dog on a plate", ["Hot dog"], ["hot", "dog"]),
        ("A hot-dog stand", ["Hot dog"], ["hot-dog"]),
        ("The dog's bowl", ["Dog"], ["dog's"]),
        ("Women and children with knives", ["Woman", "Knife"], ["Women", "knives"]),
        ("Berries in boxes", ["Box", "Berry"], ["Berries", "boxes"]),
        ("A puppy sleeps", ["Dog"], ["puppy"]),
        ("She holds a racket", ["Tennis racket"], ["racket"]),
        ("A pair of glasses", ["Glasses"], ["glasses"]),
        ("A dogma of catering", ["Dog", "Cat"], []),
        ("A DOG", ["dog"], ["DOG"]),
        ("Nothing at all", [], []),
        ("", ["Dog"], []),
    ],
)
def test_words_that_match_a_class_or_what_else_it_is_called(caption, names, expected):
    assert hinted(caption, *names) == expected
