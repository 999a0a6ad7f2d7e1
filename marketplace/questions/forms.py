"""QuestionForm documents as what a page draws and a worker fills in."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html import escape

from lxml import etree

from marketplace.errors import QuestionRefused

from . import xml
from .patterns import pattern_check

# What a requester's formatted text may hold; everything else is shown as plain text.
TAGS = {
    "a", "b", "big", "blockquote", "br", "caption", "cite", "code", "dd", "del", "dfn", "div",
    "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li",
    "ol", "p", "pre", "q", "samp", "small", "span", "strong", "sub", "sup", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul", "var",
}  # fmt: skip
LINKS = {"a": "href", "img": "src"}
EMPTY = {"br", "hr", "img"}
# Each check of an answer takes a bounded time; so do all checks of a form.
MOST_PATTERNS = 50
Values = Callable[[str], list[str]]


@dataclass(frozen=True)
class Block:
    """A piece of content; `html` is safe to show, and only set where there is formatted text."""

    kind: str
    text: str = ""
    items: tuple[str, ...] = ()
    url: str = ""
    html: str = ""


@dataclass(frozen=True)
class Option:
    identifier: str
    block: Block


@dataclass(frozen=True)
class Field:
    """One question of a form."""

    identifier: str
    display_name: str
    is_required: bool
    content: tuple[Block, ...]
    kind: str
    options: tuple[Option, ...] = ()
    has_other: bool = False
    least: int = 0
    most: int = 1
    lines: int = 1
    default: str = ""
    checks: tuple[tuple[Callable[[str], bool], str], ...] = field(default=(), compare=False)

    @property
    def other_name(self) -> str:
        """The name of the field for an answer that is none of the options."""
        return f"{self.identifier}.other"

    def answer(self, values: Values) -> tuple[list[tuple[str, str]], str]:
        """What was answered, as (element, text) pairs, and what is wrong with it."""
        if self.kind == "text":
            return self._text_answer((values(self.identifier) or [""])[-1])
        known = {option.identifier for option in self.options}
        chosen = [each for each in dict.fromkeys(values(self.identifier)) if each in known]
        other = (values(self.other_name) or [""])[-1].strip() if self.has_other else ""
        answer = [("SelectionIdentifier", each) for each in chosen]
        if other:
            answer.append(("OtherSelectionText", other))
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
        problem = next((told for check, told in self.checks if not check(text)), "")
        return [("FreeText", text)], problem


def parse_form(root: etree._Element) -> list[Block | Field]:
    """What the form holds, in its order; raises QuestionRefused for what cannot be drawn."""
    if sum(1 for _ in root.iter("{*}AnswerFormatRegex")) > MOST_PATTERNS:
        raise QuestionRefused(f"A form may have {MOST_PATTERNS} AnswerFormatRegex at most.")
    parts: list[Block | Field] = []
    for element in xml.children(root):
        if xml.local_name(element) == "Overview":
            parts.extend(_blocks(element))
        else:
            parts.append(_field(element))
    identifiers = [part.identifier for part in parts if isinstance(part, Field)]
    if len(set(identifiers)) != len(identifiers):
        raise QuestionRefused("Every QuestionIdentifier of a form must be different.")
    return parts


def _blocks(element: etree._Element) -> tuple[Block, ...]:
    return tuple(_block(each) for each in xml.children(element))


def _block(element: etree._Element) -> Block:
    name = xml.local_name(element)
    text = (element.text or "").strip()
    if name == "List":
        return Block("list", items=tuple(each.text or "" for each in xml.children(element)))
    if name == "FormattedContent":
        return Block("html", html=formatted(text))
    if name in ("Binary", "EmbeddedBinary"):
        url = xml.text_of(element, "DataURL")
        if not url.startswith("https://"):
            raise QuestionRefused(f'The DataURL "{url}" must be an https address.')
        mime = xml.child(element, "MimeType")
        is_image = mime is None or xml.text_of(mime, "Type") in ("image", "")
        return Block("image" if is_image else "link", xml.text_of(element, "AltText"), url=url)
    return Block("title" if name == "Title" else "text", text)


def formatted(text: str) -> str:
    """Formatted text with what is allowed in it; raises QuestionRefused if it is no XHTML."""
    root = xml.read(f"<div>{text}</div>", what="FormattedContent")
    return "".join((escape(root.text or ""), *(_safe(child) for child in root)))


def _safe(element: etree._Element) -> str:
    tail = escape(element.tail or "")
    if not isinstance(element.tag, str):
        return tail
    inner = escape(element.text or "") + "".join(_safe(child) for child in element)
    tag = element.tag.lower()
    if tag not in TAGS:
        return inner + tail
    attributes = ""
    link = LINKS.get(tag)
    if link and element.get(link, "").startswith("https://"):
        attributes = f' {link}="{escape(element.get(link, ""))}"'
    if tag == "a":
        attributes += ' target="_blank" rel="noopener noreferrer"'
    if tag == "img":
        attributes += f' alt="{escape(element.get("alt", ""))}"'
    return (
        f"<{tag}{attributes}>{tail}"
        if tag in EMPTY
        else f"<{tag}{attributes}>{inner}</{tag}>{tail}"
    )


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
        "content": _blocks(content),
    }
    name = xml.local_name(answer)
    if name == "FileUploadAnswer":
        raise QuestionRefused("Uploads (FileUploadAnswer) are not supported.")
    return _text_field(answer, common) if name == "FreeTextAnswer" else _choice(answer, common)


def _text_field(answer: etree._Element, common: dict) -> Field:
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
    told = constraint.get("errorText") or "The answer does not have the form that is asked for."
    return pattern_check(constraint.get("regex") or "", constraint.get("flags") or ""), told


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _range_check(
    constraint: etree._Element, low: str, high: str, measure: Callable, what: str
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


def _choice(answer: etree._Element, common: dict) -> Field:
    selections = xml.child(answer, "Selections")
    assert selections is not None, "the schema demands it"
    options = tuple(
        Option(xml.text_of(each, "SelectionIdentifier"), _block(xml.children(each)[1]))
        for each in xml.children(selections, "Selection")
    )
    has_other = xml.child(selections, "OtherSelection") is not None
    most = int(xml.text_of(answer, "MaxSelectionCount", "1"))
    style = xml.text_of(answer, "StyleSuggestion")
    kind = "checkbox" if most > 1 or style in ("checkbox", "multichooser") else "radio"
    if kind == "radio" and style in ("dropdown", "combobox") and not has_other:
        kind = "select"
    return Field(
        **common,
        kind=kind,
        options=options,
        has_other=has_other,
        least=int(xml.text_of(answer, "MinSelectionCount", "0")),
        most=most,
    )


@dataclass(frozen=True)
class Filled:
    """A form that was filled in: the answers, and what is wrong with them by question."""

    answers: list[tuple[str, list[tuple[str, str]]]]
    problems: dict[str, str]


def fill(parts: Iterable[Block | Field], values: Values) -> Filled:
    """Read a worker's answers to a form."""
    answers, problems = [], {}
    for part in parts:
        if isinstance(part, Field):
            answer, problem = part.answer(values)
            answers.append((part.identifier, answer))
            if problem:
                problems[part.identifier] = problem
    return Filled(answers, problems)
