"""Flags of very long texts take time proportional to the length.

A worker may post a caption of any length to the marketplace, without our page.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import PATIENCE

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
    # In a process of its own: a pattern that hangs cannot be interrupted otherwise. If it hangs or
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
