"""Parse QuestionForm documents into fields, and check the answers to them."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from lxml import etree

from marketplace.errors import QuestionRefused

from . import xml
from .content import Block, block, blocks
from .patterns import pattern_check

# Each check takes a limited time. This limits the time for a whole form.
MOST_PATTERNS = 50
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
    """One question of a form."""

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
        chosen = [each for each in dict.fromkeys(values(self.identifier)) if each in known]
        answer = [("SelectionIdentifier", each) for each in chosen]
        if self.other is not None:
            [(_element, text)], problem = self.other.answer(values)
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
        problem = next((message for check, message in self.checks if not check(text)), "")
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
    identifiers = [part.identifier for part in parts if isinstance(part, Field)]
    if not identifiers:
        raise QuestionRefused("A form needs a Question.")
    if len(set(identifiers)) != len(identifiers):
        raise QuestionRefused("Every QuestionIdentifier of a form must be different.")
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
        Option(xml.text_of(each, "SelectionIdentifier"), block(xml.children(each)[1]))
        for each in xml.children(selections, "Selection")
    )
    most = int(xml.text_of(answer, "MaxSelectionCount", "1"))
    style = xml.text_of(answer, "StyleSuggestion")
    other = _other(selections, common["identifier"])
    kind = "checkbox" if most > 1 or style in ("checkbox", "multichooser") else "radio"
    if kind == "radio" and style in ("dropdown", "combobox") and other is None:
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
