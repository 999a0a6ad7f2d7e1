"""Flags of very long texts take time proportional to the length.

A worker may post a caption of any length to the marketplace, without our page.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
FLAGS = """
import django, sys
django.setup()
from annotate.language.text import normalise
from qualcontrol.flags.writing import writing_flags
from tests.factories import config
text = sys.argv[1] * (200_000 // len(sys.argv[1]))
print(len(writing_flags(normalise(text), config(), lambda: ("dog", "cat", "tree"))))
"""


@pytest.mark.parametrize(
    "part", ["a-", "“", '"', "“ ", "a", "b", "aaa. ", "!", "www.", "there is a ", "dog cat ", "A "]
)
def test_flags_of_two_hundred_thousand_characters_end(part):
    # In a process of its own: a pattern that hangs cannot be interrupted otherwise.
    done = subprocess.run(
        [sys.executable, "-c", FLAGS, part],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "annotate.settings"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert done.returncode == 0, done.stderr
