"""Rules of captions that are paragraphs."""

import pytest
from pydantic import ValidationError

from corpora.language.text import CaptionRules, problems

PARAGRAPH = CaptionRules.model_validate({"style": "paragraph", "target_words": 120})


def text(words):
    return " ".join(f"word{number % 50}" for number in range(words)) + "."


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        (text(29), ["too_short"]),
        (text(30).replace(" word9", ".\n\nWord9"), []),
        (text(400), []),
        (text(401), ["too_long"]),
        ("x" * 10_001, ["too_long"]),
    ],
)
def test_a_paragraph_has_its_own_limits_and_may_have_several_lines(given, codes):
    assert [problem.code for problem in problems(given, rules=PARAGRAPH)] == codes


def test_a_key_of_the_file_wins_over_the_style():
    rules = CaptionRules.model_validate({"style": "paragraph", "most_words": 1_500})

    assert (rules.least_words, rules.most_words) == (30, 1_500)


@pytest.mark.parametrize("target", [29, 401])
def test_a_target_lies_between_the_limits(target):
    with pytest.raises(ValidationError, match="target_words is not between"):
        CaptionRules.model_validate({"style": "paragraph", "target_words": target})
