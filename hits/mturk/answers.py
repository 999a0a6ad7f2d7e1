"""Parse workers' answers, which the marketplace gives as QuestionFormAnswers (XML)."""

from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

# Number of characters of an answer that a page shows.
MOST_SHOWN = 2_000


class UnreadableAnswer(ValueError):
    """The answer is not a QuestionFormAnswers document."""


def parse_answer(xml: str) -> dict[str, str]:
    """Return the fields of the answer; if a field is repeated, the first value counts.

    Raises UnreadableAnswer, or DefusedXmlException if the XML has entities or other unsafe parts.
    """
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
    """Return the answer as text for a person, with one line per field and at most MOST_SHOWN
    characters. An answer that cannot be parsed, such as a cut one, is returned as XML."""
    try:
        fields = parse_answer(xml)
    except (UnreadableAnswer, DefusedXmlException):
        fields = {}
    text = "\n".join(f"{name}: {value}" for name, value in fields.items()) or xml
    if len(text) <= MOST_SHOWN:
        return text
    return f"{text[:MOST_SHOWN]} …"
