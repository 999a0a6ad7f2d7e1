"""Score a qualification test with its AnswerKey."""

import math
from decimal import ROUND_HALF_UP, Decimal

from lxml import etree

from marketplace.errors import QuestionRefused

from . import answers, xml

ROOT = f"{{{xml.NAMESPACE}2005-10-01/AnswerKey.xsd}}AnswerKey"
MOST_BYTES = 65_535
# A qualification's value is a 32-bit integer.
LEAST_VALUE, MOST_VALUE = -(2**31), 2**31 - 1


def parse(text: str) -> etree._Element:
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


def score(key: str, document: str) -> int:
    """The value that the answers earn, clipped to the range of qualification values."""
    root = parse(key)
    given = answers.read(document)
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
        wanted = {each.text or "" for each in xml.children(option, "SelectionIdentifier")}
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
    for each in xml.children(ranges, "SummedScoreRange"):
        if (
            int(xml.text_of(each, "InclusiveLowerBound"))
            <= total
            <= int(xml.text_of(each, "InclusiveUpperBound"))
        ):
            return int(xml.text_of(each, "QualificationValue"))
    return int(xml.text_of(ranges, "OutOfRangeQualificationValue"))
