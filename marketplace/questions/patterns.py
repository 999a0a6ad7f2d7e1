"""Check workers' answers with requesters' regular expressions, in limited time.

On a short text, some patterns take practically forever, or use up the memory when compiled. PCRE2
refuses to compile patterns that become too large, and stops a match after a number of steps. It
counts steps separately for each start position. So the positions are tried one by one, until a
limit of processor time for the whole text.
"""

import logging
import time
from collections.abc import Callable

import pcre2

from marketplace.errors import QuestionRefused

logger = logging.getLogger(__name__)

LONGEST_PATTERN = 1000
LONGEST_CHECKED = 2000
# Per start position. A step may read the whole text, so a position may take some hundredths of a
# second. A normal pattern on a long text takes some hundred steps.
MOST_STEPS = 3000
MOST_KIBIBYTES = 4000
# Processor time of this thread in seconds, for all positions together.
SECONDS = 0.05
FLAGS = {
    "i": pcre2.IGNORECASE,
    "m": pcre2.MULTILINE,
    "s": pcre2.DOTALL,
    "x": pcre2.VERBOSE,
}
_LIMITS = f"(*LIMIT_MATCH={MOST_STEPS})(*LIMIT_DEPTH={MOST_STEPS})(*LIMIT_HEAP={MOST_KIBIBYTES})"


class _TooSlow(Exception):
    """The match was stopped at a limit."""


def pattern_check(pattern: str, flags: str = "") -> Callable[[str], bool]:
    """A function that tells whether a text contains the pattern; raises QuestionRefused if invalid.

    A match that takes too long counts as found, because the worker cannot do anything about it.
    """
    compiled = _compile(pattern, flags)

    def check(text: str) -> bool:
        try:
            return _is_found(compiled, text[:LONGEST_CHECKED])
        except _TooSlow:
            logger.warning("An AnswerFormatRegex took too long; the answer is let through.")
            return True

    return check


def _compile(pattern: str, flags: str) -> pcre2.Pattern:
    if len(pattern) > LONGEST_PATTERN:
        raise QuestionRefused(
            f"The regex of an AnswerFormatRegex has {len(pattern)} characters; "
            f"{LONGEST_PATTERN} are allowed."
        )
    if "(*LIMIT" in pattern:
        # PCRE2 uses the last of several limits, so this one would override ours.
        raise QuestionRefused("The regex of an AnswerFormatRegex must not set limits of its own.")
    wanted = pcre2.UNICODE
    for letter in flags:
        wanted |= FLAGS.get(letter, pcre2.NOFLAG)
    try:
        # Without JIT, because JIT code does not count steps exactly.
        return pcre2.compile(_LIMITS + pattern, wanted, jit=False)
    except (pcre2.PatternError, pcre2.LibraryError, UnicodeEncodeError) as error:
        reason = str(error).rpartition("; ")[2]
        raise QuestionRefused(
            f"The regex of an AnswerFormatRegex is not valid: {reason}"
        ) from error


def _is_found(compiled: pcre2.Pattern, text: str) -> bool:
    """Whether the pattern matches at any position; raises _TooSlow."""
    end = time.thread_time() + SECONDS
    try:
        for place in range(len(text) + 1):
            if compiled.match(text, place) is not None:
                return True
            if time.thread_time() > end:
                raise _TooSlow
    except (pcre2.LibraryError, UnicodeEncodeError) as error:
        raise _TooSlow from error
    return False
