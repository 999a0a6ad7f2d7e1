"""Requesters' regular expressions on workers' answers: bounded in time, whoever wrote them.

Some patterns take longer than anybody lives on a short text, or fill the memory while they are
compiled. PCRE2 refuses to compile what becomes too large, and counts the steps of a search: it
gives up at a number of them, wherever in the pattern it is. The count begins again at each place
of the text, so the places are tried one by one, until the processor's time for the text is used up.
"""

import logging
import time
from collections.abc import Callable

import pcre2

from marketplace.errors import QuestionRefused

logger = logging.getLogger(__name__)

LONGEST_PATTERN = 1000
LONGEST_CHECKED = 2000
# At one place of the text. A step may look at the whole text, so that a place takes up to some
# hundredths of a second, and an everyday pattern on a long text takes some hundred steps.
MOST_STEPS = 3000
MOST_KIBIBYTES = 4000
# Of this thread's processor time, for all places together.
SECONDS = 0.05
FLAGS = {
    "i": pcre2.IGNORECASE,
    "m": pcre2.MULTILINE,
    "s": pcre2.DOTALL,
    "x": pcre2.VERBOSE,
}
_LIMITS = f"(*LIMIT_MATCH={MOST_STEPS})(*LIMIT_DEPTH={MOST_STEPS})(*LIMIT_HEAP={MOST_KIBIBYTES})"


class _TooSlow(Exception):
    """The search was given up."""


def pattern_check(pattern: str, flags: str = "") -> Callable[[str], bool]:
    """Whether a text has the pattern somewhere; raises QuestionRefused for one that is none. A
    search that takes too long counts as a match: the worker cannot help it."""
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
        # The last of such items counts, so that it would undo ours.
        raise QuestionRefused("The regex of an AnswerFormatRegex must not set limits of its own.")
    wanted = pcre2.UNICODE
    for letter in flags:
        wanted |= FLAGS.get(letter, pcre2.NOFLAG)
    try:
        # Without the just-in-time compiler, which counts no steps where it has no need to.
        return pcre2.compile(_LIMITS + pattern, wanted, jit=False)
    except (pcre2.PatternError, pcre2.LibraryError, UnicodeEncodeError) as error:
        reason = str(error).rpartition("; ")[2]
        raise QuestionRefused(
            f"The regex of an AnswerFormatRegex is not valid: {reason}"
        ) from error


def _is_found(compiled: pcre2.Pattern, text: str) -> bool:
    """Whether the pattern matches at any place; raises _TooSlow."""
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
