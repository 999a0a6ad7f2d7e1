"""A worker's answer as the marketplace gives it: QuestionFormAnswers, an XML document."""

from xml.etree.ElementTree import Element, ParseError

from defusedxml.ElementTree import fromstring


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
