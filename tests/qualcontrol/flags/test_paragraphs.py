"""Flags of captions that are paragraphs."""

import pytest

from annotate.kinds.reading import parse_config
from qualcontrol.flags.writing import writing_flags

FILE = {"name": "halls", "selection": "halls", "budget": 5}
# An honest description, as somebody would write it.
HALL = (
    "A wide hall with a high glass roof is full of people who wait for their trains. In the "
    "middle of the hall stands a round clock on a green post, and below it two women in long "
    "coats look at a map. On the left, a man with a red suitcase walks towards the platforms. "
    "Behind him is a row of small shops with yellow signs. A child sits on the floor beside the "
    "first shop and eats an apple. On the right, the light falls through the roof on a bench, "
    "where an old man reads a newspaper. The floor is made of grey and white stones."
)


def codes(text, **captions):
    config = parse_config({**FILE, "captions": captions})
    return [flag.code for flag in writing_flags(text, config)]


@pytest.mark.parametrize(("style", "found"), [("sentence", True), ("paragraph", False)])
def test_several_sentences_are_a_flag_of_one_sentence_alone(style, found):
    assert ("sentences" in codes(HALL, style=style)) is found


def test_a_long_description_repeats_words_without_being_gibberish():
    longer = " ".join([HALL, HALL.replace("hall", "station"), HALL.replace("man", "boy")])

    assert "gibberish" not in codes(longer, style="paragraph")
    assert "gibberish" in codes("the dog the dog " * 100, style="paragraph")
