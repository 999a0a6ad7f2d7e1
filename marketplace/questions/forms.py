"""QuestionForm documents: their content, their fields, and the answers to them.

Answers are checked with requesters' regular expressions, in limited time. On a short text, some
patterns take practically forever, or use up the memory when compiled. PCRE2 refuses to compile
patterns that become too large, and stops a match after a number of steps. It counts steps
separately for each start position. So the positions are tried one by one, until a limit of
processor time for the whole text.
"""

import logging
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from html.entities import name2codepoint
from typing import Any

import nh3
import pcre2
from lxml import etree

from marketplace.errors import QuestionRefused
from marketplace.questions import xml
from shared.once import FIELD

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


# Elements allowed in formatted text. Others are reduced to their text.
TAGS = {
    "a", "b", "big", "blockquote", "br", "caption", "center", "cite", "code", "col", "colgroup",
    "dd", "del", "dfn", "div", "dl", "dt", "em", "font", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "i", "img", "ins", "kbd", "li", "ol", "p", "pre", "q", "s", "samp", "small", "span", "strike",
    "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul",
    "var",
}  # fmt: skip
# Attributes that cannot contain a script or URL.
ATTRIBUTES = {
    "align", "alt", "border", "cellpadding", "cellspacing", "color", "colspan", "dir", "height",
    "lang", "rowspan", "size", "span", "start", "title", "type", "valign", "width",
}  # fmt: skip
MEDIA = {"image", "audio", "video"}
_OF_XML = {"amp", "lt", "gt", "quot", "apos"}
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")


@dataclass(frozen=True)
class Block:
    """A piece of content. `html` is sanitised and set only for formatted text."""

    kind: str
    text: str = ""
    items: tuple[str, ...] = ()
    url: str = ""
    html: str = ""


def blocks(element: etree._Element) -> tuple[Block, ...]:
    """The pieces in an Overview or QuestionContent; raises QuestionRefused for invalid ones."""
    return tuple(block(child) for child in xml.children(element))


def block(element: etree._Element) -> Block:
    """One piece of content; raises QuestionRefused if it cannot be shown."""
    name = xml.local_name(element)
    text = (element.text or "").strip()
    if name == "List":
        return Block("list", items=tuple(item.text or "" for item in xml.children(element)))
    if name == "FormattedContent":
        return Block("html", html=formatted(text))
    if name in ("Binary", "EmbeddedBinary"):
        return _media(element)
    return Block("title" if name == "Title" else "text", text)


def _media(element: etree._Element) -> Block:
    url = xml.text_of(element, "DataURL")
    if not _is_web_address(url):
        raise QuestionRefused(f'The DataURL "{url}" must be an http or https address.')
    mime = xml.child(element, "MimeType")
    if mime is None:
        mime = xml.child(element, "EmbeddedMimeType")
    kind = "image" if mime is None else xml.text_of(mime, "Type").lower()
    return Block(kind if kind in MEDIA else "link", xml.text_of(element, "AltText"), url=url)


def _is_web_address(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def formatted(text: str) -> str:
    """Sanitised formatted text; raises QuestionRefused if it is not XHTML."""
    # XHTML defines named characters that XML does not.
    text = _ENTITY.sub(_character, text)
    try:
        root = xml.read(f"<body>{text}</body>", what="FormattedContent")
    except QuestionRefused as error:
        raise QuestionRefused(str(error), code="XHTMLParseError") from error
    for image in root.iter("img"):
        image.set("alt", image.get("alt", ""))
    safe: str = _CLEANER.clean(etree.tostring(root, encoding="unicode", method="html"))
    return safe


def _character(entity: re.Match[str]) -> str:
    name = entity[1]
    known = name in name2codepoint and name not in _OF_XML
    return chr(name2codepoint[name]) if known else entity[0]


def _only_web_addresses(_tag: str, name: str, value: str) -> str | None:
    return value if name not in ("href", "src") or _is_web_address(value) else None


_CLEANER = nh3.Cleaner(
    tags=TAGS,
    # The text of a script is shown.
    clean_content_tags=set(),
    attributes={"*": ATTRIBUTES, "a": {"href"}, "img": {"src"}},
    attribute_filter=_only_web_addresses,
    link_rel="noopener noreferrer",
    set_tag_attribute_values={"a": {"target": "_blank"}},
)


# Each check takes a limited time. This limits the time for a whole form.
MOST_PATTERNS = 50
# Hidden fields of the pages that show forms.
OF_PAGES = {"assignmentId", "csrfmiddlewaretoken", FIELD}
_NUMBER = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?", re.ASCII | re.IGNORECASE
)
Values = Callable[[str], list[str]]


@dataclass(frozen=True)
class Option:
    identifier: str
    block: Block


@dataclass(frozen=True)
class Field:
    identifier: str
    display_name: str
    is_required: bool
    content: tuple[Block, ...]
    kind: str
    options: tuple[Option, ...] = ()
    # Free text that workers can enter instead of, or in addition to, an option.
    other: "Field | None" = None
    least: int = 0
    most: int = 1
    lines: int = 1
    default: str = ""
    checks: tuple[tuple[Callable[[str], bool], str], ...] = field(default=(), compare=False)

    def answer(self, values: Values) -> tuple[list[tuple[str, str]], str]:
        """The answer as (element, text) pairs, and an error message or an empty text."""
        if self.kind == "text":
            return self._text_answer((values(self.identifier) or [""])[-1])
        known = {option.identifier for option in self.options}
        chosen = [
            identifier
            for identifier in dict.fromkeys(values(self.identifier))
            if identifier in known
        ]
        answer = [("SelectionIdentifier", identifier) for identifier in chosen]
        if self.other is not None:
            [(_element, text)], problem = self.other.answer(values)
            if self.kind == "radio" and chosen and text == self.other.default:
                text, problem = "", ""  # the form began with it
            if text.strip():
                answer.append(("OtherSelectionText", text.strip()))
            if problem:
                return answer, problem
        least = max(self.least, int(self.is_required))
        if len(answer) < least:
            return answer, f"Choose at least {least}."
        if len(answer) > self.most:
            return answer, f"Choose at most {self.most}."
        return answer, ""

    def _text_answer(self, text: str) -> tuple[list[tuple[str, str]], str]:
        if not text.strip():
            problem = "Please answer this question." if self.is_required else ""
            return [("FreeText", text)], problem
        # Browsers send two characters for a line break.
        lines = text.replace("\r\n", "\n")
        problem = next((message for check, message in self.checks if not check(lines)), "")
        return [("FreeText", text)], problem


def parse_form(root: etree._Element) -> list[Block | Field]:
    """The parts of the form in order; raises QuestionRefused if a part is not supported."""
    if sum(1 for _ in root.iter("{*}AnswerFormatRegex")) > MOST_PATTERNS:
        raise QuestionRefused(f"A form may have {MOST_PATTERNS} AnswerFormatRegex at most.")
    parts: list[Block | Field] = []
    for element in xml.children(root):
        if xml.local_name(element) == "Overview":
            parts.extend(blocks(element))
        else:
            parts.append(_field(element))
    fields = [part for part in parts if isinstance(part, Field)]
    identifiers = [field.identifier for field in fields]
    if not identifiers:
        raise QuestionRefused("A form needs a Question.")
    if len(set(identifiers)) != len(identifiers):
        raise QuestionRefused("Every QuestionIdentifier of a form must be different.")
    others = {field.other.identifier for field in fields if field.other is not None}
    if taken := (OF_PAGES | others).intersection(identifiers):
        raise QuestionRefused(
            f'The QuestionIdentifier "{min(taken)}" is the name of another field of the page. '
            "Choose another one."
        )
    return parts


def _field(element: etree._Element) -> Field:
    specification = xml.child(element, "AnswerSpecification")
    content = xml.child(element, "QuestionContent")
    assert specification is not None, "the schema demands it"
    assert content is not None, "the schema demands it"
    answer = xml.children(specification)[0]
    common = {
        "identifier": xml.text_of(element, "QuestionIdentifier"),
        "display_name": xml.text_of(element, "DisplayName"),
        "is_required": xml.text_of(element, "IsRequired") in ("true", "1"),
        "content": blocks(content),
    }
    name = xml.local_name(answer)
    if name == "FileUploadAnswer":
        raise QuestionRefused("Uploads (FileUploadAnswer) are not supported.")
    return _text_field(answer, common) if name == "FreeTextAnswer" else _choice(answer, common)


def _text_field(answer: etree._Element, common: dict[str, Any]) -> Field:
    constraints = xml.child(answer, "Constraints")
    return Field(
        **common,
        kind="text",
        lines=min(int(xml.text_of(answer, "NumberOfLinesSuggestion", "1")), 40),
        default=xml.text_of(answer, "DefaultText"),
        checks=() if constraints is None else tuple(map(_check, xml.children(constraints))),
    )


def _check(constraint: etree._Element) -> tuple[Callable[[str], bool], str]:
    name = xml.local_name(constraint)
    if name == "IsNumeric":
        return _range_check(constraint, "minValue", "maxValue", _number, "a number")
    if name == "Length":
        return _range_check(constraint, "minLength", "maxLength", len, "a text whose length is")
    message = constraint.get("errorText") or "The answer does not have the required form."
    return pattern_check(constraint.get("regex") or "", constraint.get("flags") or ""), message


def _number(text: str) -> Decimal | None:
    # Decimal also accepts underscores, infinity and NaN, which are not numbers here.
    return Decimal(text.strip()) if _NUMBER.fullmatch(text.strip()) else None


def _range_check(
    constraint: etree._Element,
    low: str,
    high: str,
    measure: Callable[[str], Decimal | int | None],
    what: str,
) -> tuple[Callable[[str], bool], str]:
    least, most = constraint.get(low), constraint.get(high)

    def check(text: str) -> bool:
        value = measure(text)
        return (
            value is not None
            and (least is None or value >= int(least))
            and (most is None or value <= int(most))
        )

    limits = [f"at least {least}" if least else "", f"at most {most}" if most else ""]
    return check, f"Enter {what} {' and '.join(filter(None, limits))}".strip() + "."


def _choice(answer: etree._Element, common: dict[str, Any]) -> Field:
    selections = xml.child(answer, "Selections")
    assert selections is not None, "the schema demands it"
    options = tuple(
        Option(xml.text_of(selection, "SelectionIdentifier"), block(xml.children(selection)[1]))
        for selection in xml.children(selections, "Selection")
    )
    most = int(xml.text_of(answer, "MaxSelectionCount", "1"))
    style = xml.text_of(answer, "StyleSuggestion")
    other = _other(selections, common["identifier"])
    kind = "checkbox" if most > 1 or style in ("checkbox", "multichooser") else "radio"
    # A menu shows neither pictures nor formatted text.
    fits_menu = other is None and all(option.block.kind == "text" for option in options)
    if kind == "radio" and style in ("dropdown", "combobox") and fits_menu:
        kind = "select"
    return Field(
        **common,
        kind=kind,
        options=options,
        other=other,
        least=int(xml.text_of(answer, "MinSelectionCount", "0")),
        most=most,
    )


def _other(selections: etree._Element, identifier: str) -> Field | None:
    other = xml.child(selections, "OtherSelection")
    if other is None:
        return None
    own = {"identifier": f"{identifier}.other", "display_name": "Other"}
    return _text_field(other, {**own, "is_required": False, "content": ()})


@dataclass(frozen=True)
class Filled:
    """A form's answers, and error messages by question."""

    answers: list[tuple[str, list[tuple[str, str]]]]
    problems: dict[str, str]


def fill(parts: Iterable[Block | Field], values: Values) -> Filled:
    """Read and check a worker's answers to a form."""
    answers, problems = [], {}
    for part in parts:
        if isinstance(part, Field):
            answer, problem = part.answer(values)
            answers.append((part.identifier, answer))
            if problem:
                problems[part.identifier] = problem
    return Filled(answers, problems)
