"""Normalise captions and check them against the rules of a campaign.

Does not use Django. A broken rule is a `Problem`: a code for statistics, and a sentence that tells
the worker what to do.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotate.campaign_file import CaptionRules
from annotate.language.tokens import written

WHITE_SPACE = re.compile(r"\s+")
LINE_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Control, format (zero-width, direction marks), and halves of surrogate pairs.
INVISIBLE = {"Cc", "Cf", "Cs"}
THERE_IS = re.compile(r"\W*there(\s+(is|are|was|were)\b|['’](s|re)\b)", re.IGNORECASE)
# Applies whatever the maximum number of words is; ten times the length of a long caption.
MOST_CHARACTERS = 2_000
URL = re.compile(r"(https?://|www\.)\S|\b[\w-]{1,63}\.(com|org|net|edu|gov|io)\b", re.IGNORECASE)
# A text of keywords and these words is still a list of keywords.
LISTING_WORDS = {"a", "an", "the", "and", "or", "with", "some"}

# Between the items of a list.
BETWEEN_ITEMS = re.compile(r"[,;:/|•·.!?–—]+|\s-+\s|\b(?:and|or)\b", re.IGNORECASE)
FEWEST_ITEMS, LONGEST_ITEM, FEWEST_MARKS = 4, 2, 2
MARKS = ",;:/|•·"
# A text with one of these words says how things belong together, so it is not a bare list.
JOINING_WORDS = {"with", "in", "on", "of", "at", "by", "is", "are", "including"}
# A text with this many words, of which no more than this share are different, says nothing.
FEWEST_REPEATED, LEAST_DIFFERENT = 6, 1 / 3


@dataclass(frozen=True)
class Problem:
    code: str
    message: str


def normalise(text: str) -> str:
    """The text in NFC without control and zero-width characters, with single spaces.

    Spelling and case are not changed.
    """
    spaced = WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", text))
    visible = "".join(c for c in spaced if unicodedata.category(c) not in INVISIBLE)
    # Removing a character can bring together two spaces, or two characters that compose.
    return WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", visible)).strip()


def problems(raw: str, *, rules: CaptionRules, keywords: Sequence[str] = ()) -> list[Problem]:
    """The reasons to refuse a caption, in the order to show them; empty if it is acceptable.

    `raw` is the text as submitted, `keywords` are those that the worker was shown.
    """
    if len(raw) > MOST_CHARACTERS:
        # Stop here: some of the other checks would take long.
        return [Problem("too_long", f"Please use at most {MOST_CHARACTERS:,} characters.")]
    text = normalise(raw)
    if not text:
        return [Problem("empty", "Please write a sentence that describes the image.")]
    found = [check(raw, text, rules, keywords) for check in CHECKS]
    return [problem for problem in found if problem is not None]


def is_keyword_list(text: str, keywords: Sequence[str]) -> bool:
    """Whether a text consists of keywords only, or lists all of them in a row."""
    folded, names = _folded(text), [name for name in map(_folded, keywords) if name]
    if not names:
        return False
    longest_first = sorted(set(names), key=len, reverse=True)
    joined = "|".join(re.escape(name) + "s?" for name in longest_first)
    rest = re.sub(rf"\b({joined})\b", " ", folded)
    if rest != folded and not set(rest.split()) - LISTING_WORDS:
        return True
    enumeration = r"\W+(and\W+)?".join(map(re.escape, names))
    return len(names) >= 3 and re.search(rf"\b{enumeration}\b", folded) is not None


def is_bare_list(text: str) -> bool:
    """Whether a text only lists words, such as “photo, thing, photo, thing”, or repeats a few.

    An item has one or two words besides articles, so the parts of a sentence are not items.
    """
    words = _folded(text).split()
    if len(words) >= FEWEST_REPEATED and len(set(words)) <= LEAST_DIFFERENT * len(words):
        return True
    if JOINING_WORDS.intersection(words) or sum(map(text.count, MARKS)) < FEWEST_MARKS:
        return False
    items = [item for item in map(_content, BETWEEN_ITEMS.split(text)) if item]
    return len(items) >= FEWEST_ITEMS and all(len(item) <= LONGEST_ITEM for item in items)


def _content(item: str) -> list[str]:
    return [word for word in _folded(item).split() if word not in LISTING_WORDS]


def _folded(text: str) -> str:
    """The words of a text in lower case, separated by spaces."""
    return " ".join(written(text.casefold()))


def _line_breaks(raw: str, _text: str, rules: CaptionRules, _: Sequence[str]) -> Problem | None:
    if rules.forbid_line_breaks and LINE_BREAK.search(raw.strip()):
        return Problem("line_break", "Please write one sentence on a single line.")
    return None


def _too_short(_raw: str, text: str, rules: CaptionRules, _: Sequence[str]) -> Problem | None:
    count = len(written(text))
    if count < rules.least_words:
        return Problem(
            "too_short",
            f"Please write at least {rules.least_words} words; this has {count}. "
            "What else is important in the image?",
        )
    return None


def _too_long(_raw: str, text: str, rules: CaptionRules, _: Sequence[str]) -> Problem | None:
    count = len(written(text))
    if count > rules.most_words:
        return Problem(
            "too_long",
            f"Please use at most {rules.most_words} words; this has {count}. "
            "Leave out what is not important.",
        )
    return None


def _there_is(_raw: str, text: str, rules: CaptionRules, _: Sequence[str]) -> Problem | None:
    if rules.forbid_there_is and THERE_IS.match(text):
        return Problem(
            "there_is",
            "Please do not start with “There is” or “There are”; start with what you see.",
        )
    return None


def _url(_raw: str, text: str, rules: CaptionRules, _: Sequence[str]) -> Problem | None:
    if rules.forbid_urls and URL.search(text):
        return Problem("url", "Please take the web address out of your sentence.")
    return None


def _keyword_list(
    _raw: str, text: str, rules: CaptionRules, keywords: Sequence[str]
) -> Problem | None:
    if not rules.forbid_keyword_lists:
        return None
    if is_keyword_list(text, keywords):
        return Problem(
            "keyword_list",
            "Please write a sentence of your own that says what is going on; "
            "a list of the keywords is not a description.",
        )
    if is_bare_list(text):
        return Problem(
            "keyword_list",
            "Please write a sentence that says what is going on; a list of words is not a "
            "description.",
        )
    return None


Check = Callable[[str, str, CaptionRules, Sequence[str]], Problem | None]
CHECKS: tuple[Check, ...] = (_line_breaks, _too_short, _too_long, _there_is, _url, _keyword_list)
