"""The question of a HIT and the answer of an assignment, as XML."""

from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from django.conf import settings
from django.urls import reverse

from annotate.models import Campaign

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/"


def task_page_url(campaign: Campaign) -> str:
    """Return the address of the task page. The marketplace appends the ids of the assignment."""
    return settings.SITE_URL + reverse("hits:task", args=[campaign.slug])


def external_question(campaign: Campaign) -> str:
    """Return the question as XML. A frame height of 0 fills the window."""
    return (
        f'<ExternalQuestion xmlns="{NAMESPACE}ExternalQuestion.xsd">'
        f"<ExternalURL>{escape(task_page_url(campaign))}</ExternalURL>"
        "<FrameHeight>0</FrameHeight>"
        "</ExternalQuestion>"
    )


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
