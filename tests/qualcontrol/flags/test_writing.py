"""Flags of captions that are paragraphs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from annotate.kinds.campaign_files import parse_config
from qualcontrol.flags.writing import writing_flags
from tests.servers import PATIENCE

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


ROOT = Path(__file__).resolve().parents[3]
PARTS = ["a-", "“", '"', "“ ", "a", "b", "aaa. ", "!", "www.", "there is a ", "dog cat ", "A "]
FLAGS = """
import django, sys
django.setup()
from corpora.language.text import normalise
from qualcontrol.flags.writing import writing_flags
from tests.factories import config
for part in sys.argv[1:]:
    print(repr(part), flush=True)
    text = part * (200_000 // len(part))
    writing_flags(normalise(text), config(), lambda: ("dog", "cat", "tree"))
print("done")
"""


@pytest.mark.slow
def test_flags_of_two_hundred_thousand_characters_end():
    # In its own process: a pattern that hangs cannot be interrupted otherwise. If it hangs or
    # fails, the last text in the error's output is the cause.
    done = subprocess.run(
        [sys.executable, "-c", FLAGS, *PARTS],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split("\n") == [*map(repr, PARTS), "done", ""]
