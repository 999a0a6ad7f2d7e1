"""A worker's answer as the marketplace gives it: QuestionFormAnswers, an XML document."""

from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

# Characters of an answer that a page shows.
MOST_SHOWN = 2_000


class UnreadableAnswer(ValueError):
    """The answer is not a QuestionFormAnswers document."""


def parse_answer(xml: str) -> dict[str, str]:
    """The answer's fields; of a field given twice, the first. Raises UnreadableAnswer, or
    defusedxml's DefusedXmlException for entities and other tricks."""
    try:
        root: Element = fromstring(xml)
    except ParseError as error:
        raise UnreadableAnswer(str(error)) from error
    fields: dict[str, str] = {}
    for answer in root.findall("{*}Answer"):
        name = answer.findtext("{*}QuestionIdentifier")
        if name:
            fields.setdefault(name.strip(), answer.findtext("{*}FreeText") or "")
    return fields


def shown_answer(xml: str) -> str:
    """The answer for a person to read, a line for each field; one that cannot be parsed, as one
    that was cut short, as it is. No more than a page can show."""
    try:
        fields = parse_answer(xml)
    except (UnreadableAnswer, DefusedXmlException):
        fields = {}
    text = "\n".join(f"{name}: {value}" for name, value in fields.items()) or xml
    if len(text) <= MOST_SHOWN:
        return text
    return f"{text[:MOST_SHOWN]} …"
