"""Submitted answers as a QuestionFormAnswers document.

Each field is one answer, in the order of the form. XML cannot represent most control characters, so
these are removed. Everything else, including line breaks, is preserved.
"""

import math
import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.conf import settings
from lxml import etree

from marketplace.errors import DomainError, QuestionRefused
from marketplace.questions import xml

NAMESPACE = f"{xml.NAMESPACE}2005-10-01/QuestionFormAnswers.xsd"
# Parameters of the frame, which are not answers.
RESERVED = {"assignmentId", "hitId", "workerId", "turkSubmitTo"}
# psiTurk's last page sends only these.
ANSWERS_ALONE = {"hitId", "workerId"}
SEPARATOR = "|"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
NAMESPACES: Any = {None: NAMESPACE}
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def build(fields: Iterable[tuple[str, list[str]]]) -> str:
    """The document for a form's fields; raises DomainError if there are none or too much text."""
    sent = list(fields)
    own = [(name, values) for name, values in sent if name not in RESERVED]
    if not own and settings.MTURK_FRAME_FIELDS_ALONE_ARE_ANSWERS:
        own = [(name, values) for name, values in sent if name in ANSWERS_ALONE]
    if settings.MTURK_REPEATED_FIELDS == "join":
        own = [(name, [SEPARATOR.join(values)]) for name, values in own]
    answers = [(name, [("FreeText", value)]) for name, values in own for value in values]
    if not answers:
        raise DomainError("The form contains no answer. Fill in at least one field.")
    return build_for_form(answers)


def build_for_form(answers: Iterable[tuple[str, list[tuple[str, str]]]]) -> str:
    """The document for a QuestionForm's answers: identifiers with (element, text) pairs.

    Raises DomainError if it is too long.
    """
    root = etree.Element(f"{{{NAMESPACE}}}QuestionFormAnswers", nsmap=NAMESPACES)
    for identifier, values in answers:
        answer = etree.SubElement(root, f"{{{NAMESPACE}}}Answer")
        _add(answer, "QuestionIdentifier", identifier)
        for element, text in values:
            _add(answer, element, text)
    document = f"{DECLARATION}\n{etree.tostring(root, encoding='unicode')}"
    if len(document.encode()) > settings.MTURK_ANSWERS_MAX_BYTES:
        raise DomainError(
            f"The answers are too long: at most {settings.MTURK_ANSWERS_MAX_BYTES} bytes can be "
            "submitted. Please shorten them."
        )
    return document


def read(document: str) -> dict[str, list[str]]:
    """The values of each question in a document; raises QuestionRefused if it is invalid."""
    root = xml.read(document.removeprefix(DECLARATION), what="Answer")
    values: dict[str, list[str]] = {}
    for answer in xml.children(root, "Answer"):
        # With MTURK_REPEATED_FIELDS, several answers may be to one question.
        values.setdefault(xml.text_of(answer, "QuestionIdentifier"), []).extend(
            child.text or ""
            for child in xml.children(answer)
            if xml.local_name(child) != "QuestionIdentifier"
        )
    return values


def writing_in(document: str) -> str:
    """What a person seems to have written: the longest value with a space or with letters beyond
    ASCII, without JSON. Empty if there is none, for example for choices and markings."""
    try:
        values = [text for answers in read(document).values() for text in answers]
    except QuestionRefused:
        return ""
    written = [
        text
        for text in map(str.strip, values)
        if not text.startswith(("{", "[")) and (" " in text or not text.isascii())
    ]
    return max(written, key=len, default="")


def _add(parent: etree._Element, name: str, text: str) -> None:
    etree.SubElement(parent, f"{{{NAMESPACE}}}{name}").text = _FORBIDDEN.sub("", text)


ROOT = f"{{{xml.NAMESPACE}2005-10-01/AnswerKey.xsd}}AnswerKey"
MOST_BYTES = 65_535
# A qualification's value is a 32-bit integer.
LEAST_VALUE, MOST_VALUE = -(2**31), 2**31 - 1


def parse_key(text: str) -> etree._Element:
    """The parsed answer key; raises QuestionRefused if it is invalid."""
    if len(text.encode()) > MOST_BYTES:
        raise QuestionRefused(f"AnswerKey must have at most {MOST_BYTES} bytes.")
    root = xml.read(text, what="AnswerKey")
    if root.tag != ROOT:
        raise QuestionRefused(
            f"There was an error parsing the XML AnswerKey: {root.tag} is not an AnswerKey.",
            code="XMLParseError",
        )
    xml.validate(root, "answer_key.xsd", what="AnswerKey")
    for factor in root.iter("{*}SummedScoreMultiplier"):
        if not math.isfinite(float(factor.text or "")):
            raise QuestionRefused("A SummedScoreMultiplier must be a finite number.")
    return root


def score_by_key(key: str, document: str) -> int:
    """The value that the answers earn, clipped to the range of qualification values."""
    root = parse_key(key)
    given = read(document)
    questions = xml.children(root, "Question")
    total = sum(_score_question(question, given) for question in questions)
    mapping = xml.child(root, "QualificationValueMapping")
    return _whole(Decimal(total if mapping is None else _mapped(mapping, total)))


def _whole(value: Decimal) -> int:
    within = max(Decimal(LEAST_VALUE), min(value, Decimal(MOST_VALUE)))
    return int(within.quantize(Decimal(1), ROUND_HALF_UP))


def _score_question(question: etree._Element, given: dict[str, list[str]]) -> int:
    chosen = set(given.get(xml.text_of(question, "QuestionIdentifier"), []))
    for option in xml.children(question, "AnswerOption"):
        wanted = {
            (identifier.text or "").strip()
            for identifier in xml.children(option, "SelectionIdentifier")
        }
        if chosen == wanted:
            return int(xml.text_of(option, "AnswerScore"))
    return int(xml.text_of(question, "DefaultScore", "0"))


def _mapped(mapping: etree._Element, total: int) -> int:
    percentage = xml.child(mapping, "PercentageMapping")
    if percentage is not None:
        most = Decimal(xml.text_of(percentage, "MaximumSummedScore"))
        return _whole(Decimal(total) * 100 / most)
    scale = xml.child(mapping, "ScaleMapping")
    if scale is not None:
        factor = float(xml.text_of(scale, "SummedScoreMultiplier"))
        return _whole(total * Decimal(str(factor)))
    ranges = xml.child(mapping, "RangeMapping")
    assert ranges is not None, "the schema demands one of the three mappings"
    for score_range in xml.children(ranges, "SummedScoreRange"):
        if (
            int(xml.text_of(score_range, "InclusiveLowerBound"))
            <= total
            <= int(xml.text_of(score_range, "InclusiveUpperBound"))
        ):
            return int(xml.text_of(score_range, "QualificationValue"))
    return int(xml.text_of(ranges, "OutOfRangeQualificationValue"))
