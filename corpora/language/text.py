"""Normalise captions and check them against the rules of a campaign.

Does not use Django. A broken rule is a `Problem`: a code for statistics, and a sentence that tells
the worker what to do. The rules that differ between languages are in `corpora.language.languages`.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import regex
from pydantic import BaseModel, ConfigDict, Field, model_validator

from corpora.language.languages import ENGLISH, LANGUAGES, Language, language_of
from corpora.language.tokens import written

# The most characters that are kept of any caption, collected or imported.
MOST_CHARACTERS = 10_000
# The highest limit of words that a campaign may set.
MOST_WORDS = 1_500
# Words of a caption to expect without a target. Captions of nocaps have 11 words on average
# (Agrawal et al. 2019, table 1), those of DOCCI 136 (Onoe et al. 2024, abstract).
SENTENCE_WORDS, PARAGRAPH_WORDS = 12, 136
# Defaults of the other rules for paragraphs; the limits are ours.
PARAGRAPH: Mapping[str, Any] = {
    "least_words": 30,
    "most_words": 400,
    "most_characters": MOST_CHARACTERS,
    "forbid_there_is": False,
    "forbid_line_breaks": False,
}


# As browsers send it back: a single line without spaces around it.
Reason = Annotated[str, Field(pattern=r"^\S(.*\S)?$", max_length=200)]
# The most characters of a remark to the researcher.
MOST_OF_REMARK = 1_000


class CaptionRules(BaseModel):
    """Rules that a caption must follow to be accepted. The defaults are those of one sentence
    (Chen et al. 2015, section 2)."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    # Keys that tasks are made from; the others are about answers.
    task_keys: ClassVar[set[str]] = {"show_context", "rate_first", "rate_first_captions"}

    style: Literal["sentence", "paragraph"] = "sentence"
    label: str = Field(
        default="", max_length=200, description="above the field; empty: the words of the style"
    )
    least_words: int = Field(default=8, ge=1)
    most_words: int = Field(default=60, ge=1, le=MOST_WORDS)
    target_words: int | None = Field(
        default=None, ge=1, description="shown by the counter, and not enforced"
    )
    # Applies to any maximum number of words; ten times the length of a long sentence.
    most_characters: int = Field(default=2_000, ge=1, le=MOST_CHARACTERS)
    forbid_there_is: bool = True
    forbid_line_breaks: bool = True
    forbid_urls: bool = True
    forbid_keyword_lists: bool = True
    show_context: bool = Field(
        default=False, description="show workers the text in which the image stands"
    )
    cannot_describe: tuple[Reason, ...] = Field(
        default=(), max_length=20, description="reasons to choose in place of a caption"
    )
    cannot_describe_quorum: int = Field(
        default=3, ge=1, description="workers with a reason after whom nobody is asked any more"
    )
    remarks: bool = Field(default=False, description="a field for a remark to the researcher")
    rate_first: str = Field(
        default="", max_length=100, description="caption set whose captions workers rate first"
    )
    rate_first_captions: int = Field(
        default=1, ge=1, le=5, description="captions of each image to rate, at most"
    )

    @property
    def usual_words(self) -> int:
        """The number of words to expect in a caption."""
        usual = PARAGRAPH_WORDS if self.style == "paragraph" else SENTENCE_WORDS
        return self.target_words or max(self.least_words, usual)

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_style(cls, values: Any) -> Any:
        is_long = isinstance(values, Mapping) and values.get("style") == "paragraph"
        return {**PARAGRAPH, **values} if is_long else values

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.least_words > self.most_words:
            raise ValueError("least_words is greater than most_words")
        if self.target_words and not self.least_words <= self.target_words <= self.most_words:
            raise ValueError("target_words is not between least_words and most_words")
        if len({*self.cannot_describe}) < len(self.cannot_describe):
            raise ValueError("cannot_describe has a reason twice")
        return self


WHITE_SPACE = re.compile(r"\s+")
LINE_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Control, format (zero-width, direction marks), and halves of surrogate pairs, but not the visible
# signs among the format characters, such as the Arabic sign before a year. The groups keep those
# that belong to the spelling: joiners between letters, marks or emoji (Persian, Sinhala, families),
# once if they are typed twice, at the end of a word in older Malayalam, and the tags of a region's
# flag. Without a look behind, as in `static/hits/task.js`.
_JOINED = r"[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]"
_TAGS = r"[\U000E0030-\U000E0039\U000E0061-\U000E007A]{3,6}\U000E007F"
_FORMAT = r"(?!\p{Prepended_Concatenation_Mark})[\p{Cc}\p{Cf}\p{Cs}]"
_OTHERS = rf"(?![\u200C\u200D]){_FORMAT}"
INVISIBLE = regex.compile(
    rf"(\u0D4D\u200D|\U0001F3F4{_TAGS})"
    rf"|({_JOINED})(?:{_OTHERS})*([\u200C\u200D])(?:\3|{_OTHERS})*(?={_JOINED})"
    rf"|{_FORMAT}"
)
# Letters and marks that show nothing, such as the Hangul filler and variation selectors.
BLANK = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Z}\u2800]+")
URL = re.compile(r"(https?://|www\.)\S|\b[\w-]{1,63}\.(com|org|net|edu|gov|io)\b", re.IGNORECASE)
FEWEST_ITEMS, LONGEST_ITEM, FEWEST_MARKS = 4, 2, 2
MARKS = ",;:/|•·、，；،؛"
# A text with this many words, of which no more than this share are different, says nothing. Only
# its beginning counts, because long texts of all writers repeat more.
FEWEST_REPEATED, MOST_COMPARED, LEAST_DIFFERENT = 6, 60, 1 / 3


@dataclass(frozen=True)
class Problem:
    """A rule that an answer breaks; `{names}` in the sentence stand for the values."""

    code: str
    sentence: str
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def message(self) -> str:
        # Without values, the sentence may quote braces.
        return self.sentence.format_map(self.values) if self.values else self.sentence


def gettext_noop(sentence: str) -> str:
    """The sentence itself. `makemessages` finds texts to translate by this function's name."""
    return sentence


class Text(NamedTuple):
    """A caption to check: as submitted, as stored, with its language and what the worker saw."""

    raw: str
    normal: str
    rules: CaptionRules
    keywords: Sequence[str]
    language: Language


def normalise(text: str) -> str:
    """The text in NFC without control and zero-width characters, with single spaces; empty if it
    shows nothing.

    Spelling and case are not changed.
    """
    spaced = WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()
    hides = not spaced.isprintable()
    visible: str = INVISIBLE.sub(r"\1\2\3", spaced) if hides else spaced
    # Removing a character can bring together two spaces, or two characters that compose.
    if visible != text:
        return normalise(visible)
    return "" if BLANK.fullmatch(text) else text


def problems(
    raw: str, *, rules: CaptionRules, keywords: Sequence[str] = (), language: str = ENGLISH
) -> list[Problem]:
    """The reasons to refuse a caption, in the order to show them; empty if it is acceptable.

    `raw` is the text as submitted, `keywords` are those that the worker was shown, and `language`
    is the tag of the language that the campaign asks for.
    """
    if len(raw) > rules.most_characters:
        # Stop here: some of the other checks would take long.
        sentence = gettext_noop("Please use at most {most} characters.")
        return [Problem("too_long", sentence, {"most": f"{rules.most_characters:,}"})]
    text = Text(raw, normalise(raw), rules, keywords, language_of(language))
    if not text.normal:
        return [Problem("empty", gettext_noop("Please write a sentence that describes the image."))]
    problems = [check(text) for check in CHECKS]
    return [problem for problem in problems if problem is not None]


def is_keyword_list(
    text: str, keywords: Sequence[str], language: Language = LANGUAGES[ENGLISH]
) -> bool:
    """Whether a text consists of keywords only, or lists all of them in a row."""
    folded, names = _folded(text), [name for name in map(_folded, keywords) if name]
    if not names:
        return False
    return _has_nothing_but(names, folded, language) or _enumerates(names, folded, language)


# Both look first for what needs no pattern: a pattern of the keywords serves one image only, and
# compiling it takes longer than all other checks.


def _has_nothing_but(names: Sequence[str], folded: str, language: Language) -> bool:
    """Whether a text has nothing but keywords and the words that connect a list."""
    parts = {part for name in names for part in name.split()}
    own = (word for word in folded.split() if word not in language.listing_words)
    if any(all(part not in word for part in parts) for word in own):
        return False
    longest_first = sorted(set(names), key=len, reverse=True)
    joined = "|".join(re.escape(name) + "s?" for name in longest_first)
    remainder = re.sub(rf"\b({joined})\b", " ", folded)
    return remainder != folded and not set(remainder.split()) - language.listing_words


def _enumerates(names: Sequence[str], folded: str, language: Language) -> bool:
    """Whether a text has all keywords in a row, at least three, and little else."""
    if len(names) < 3 or any(name not in folded for name in names):
        return False
    if len(folded.split()) > MOST_COMPARED:
        return False
    between = "".join(rf"({re.escape(word)}\W+)?" for word in language.conjunctions)
    enumeration = rf"\W+{between}".join(map(re.escape, names))
    return re.search(rf"\b{enumeration}\b", folded) is not None


def is_bare_list(text: str, language: Language = LANGUAGES[ENGLISH]) -> bool:
    """Whether a text only lists words, such as “photo, thing, photo, thing”, or repeats a few.

    An item has one or two words besides articles, so the parts of a sentence are not items.
    """
    words = _folded(text).split()
    first = words[:MOST_COMPARED]
    if len(first) >= FEWEST_REPEATED and len(set(first)) <= LEAST_DIFFERENT * len(first):
        return True
    if language.joining_words.intersection(words) or sum(map(text.count, MARKS)) < FEWEST_MARKS:
        return False
    contents = [_content(item, language) for item in _between_items(language).split(text)]
    items = [item for item in contents if item]
    return len(items) >= FEWEST_ITEMS and all(len(item) <= LONGEST_ITEM for item in items)


@cache
def _between_items(language: Language) -> re.Pattern[str]:
    """What stands between the items of a list."""
    marks = rf"[{re.escape(MARKS)}.!?–—。！？؟]+|\s-+\s"
    words = "|".join(map(re.escape, language.conjunctions))
    return re.compile(rf"{marks}|\b(?:{words})\b" if words else marks, re.IGNORECASE)


def _content(item: str, language: Language) -> list[str]:
    return [word for word in _folded(item).split() if word not in language.listing_words]


def _folded(text: str) -> str:
    """The words of a text in lower case, separated by spaces."""
    return " ".join(written(text.casefold()))


def _line_breaks(text: Text) -> Problem | None:
    if text.rules.forbid_line_breaks and LINE_BREAK.search(text.raw.strip()):
        return Problem("line_break", gettext_noop("Please write one sentence on a single line."))
    return None


def _too_short(text: Text) -> Problem | None:
    count, least = len(written(text.normal)), text.rules.least_words
    if count >= least:
        return None
    sentence = gettext_noop(
        "Please write at least {least} words; this has {count}. What else is important in the "
        "image?"
    )
    return Problem("too_short", sentence, {"least": least, "count": count})


def _too_long(text: Text) -> Problem | None:
    count, most = len(written(text.normal)), text.rules.most_words
    if count <= most:
        return None
    sentence = gettext_noop(
        "Please use at most {most} words; this has {count}. Leave out what is not important."
    )
    return Problem("too_long", sentence, {"most": most, "count": count})


def _there_is(text: Text) -> Problem | None:
    openings = text.language.openings
    if not text.rules.forbid_there_is or openings is None or not openings.match(text.normal):
        return None
    sentence = gettext_noop("Please do not start with {openings}; start with what you see.")
    return Problem("there_is", sentence, {"openings": text.language.openings_in_words})


def _url(text: Text) -> Problem | None:
    if text.rules.forbid_urls and URL.search(text.normal):
        return Problem("url", gettext_noop("Please take the web address out of your sentence."))
    return None


def _keyword_list(text: Text) -> Problem | None:
    if not text.rules.forbid_keyword_lists:
        return None
    if is_keyword_list(text.normal, text.keywords, text.language):
        sentence = gettext_noop(
            "Please write a sentence of your own that says what is going on; a list of the "
            "keywords is not a description."
        )
        return Problem("keyword_list", sentence)
    if is_bare_list(text.normal, text.language):
        sentence = gettext_noop(
            "Please write a sentence that says what is going on; a list of words is not a "
            "description."
        )
        return Problem("keyword_list", sentence)
    return None


Check = Callable[[Text], Problem | None]
CHECKS: tuple[Check, ...] = (_line_breaks, _too_short, _too_long, _there_is, _url, _keyword_list)
