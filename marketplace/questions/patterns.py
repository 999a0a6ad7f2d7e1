"""Requesters' regular expressions on workers' answers: bounded in time, whoever wrote them.

Some patterns take longer than anybody lives on a short text. The `regex` library reads what `re`
reads, gives up after a time, and lets other threads go on meanwhile.
"""

import logging
from collections.abc import Callable

import regex

from marketplace.errors import QuestionRefused

logger = logging.getLogger(__name__)

LONGEST_PATTERN = 1000
LONGEST_CHECKED = 2000
SECONDS = 0.05
FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL, "x": regex.VERBOSE}


def pattern_check(pattern: str, flags: str = "") -> Callable[[str], bool]:
    """Whether a text has the pattern somewhere; raises QuestionRefused for one that is none. A
    search that takes too long counts as a match: the worker cannot help it."""
    if len(pattern) > LONGEST_PATTERN:
        raise QuestionRefused(
            f"The regex of an AnswerFormatRegex has {len(pattern)} characters; "
            f"{LONGEST_PATTERN} are allowed."
        )
    wanted = 0
    for letter in flags:
        wanted |= FLAGS.get(letter, 0)
    try:
        compiled = regex.compile(pattern, wanted)
    except (regex.error, RecursionError, OverflowError) as error:
        raise QuestionRefused(f"The regex of an AnswerFormatRegex is not valid: {error}") from error

    def check(text: str) -> bool:
        try:
            found = compiled.search(text[:LONGEST_CHECKED], timeout=SECONDS, concurrent=True)
        except TimeoutError:
            logger.warning("An AnswerFormatRegex took too long; the answer is let through.")
            return True
        return found is not None

    return check
