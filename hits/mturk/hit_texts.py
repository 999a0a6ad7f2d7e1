"""The texts of a HIT: its question and the answers of its assignments, as XML, and its annotation.

An account at the marketplace may also have HITs of other programs and of other installations of
this program. The annotation therefore contains the name of the installation (a random name stored
in its database), the campaign, and the token of the HIT.
"""

from dataclasses import dataclass
from typing import Self
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from django.conf import settings
from django.urls import reverse

from annotate.models import Campaign
from hits.models import Installation

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/"


def task_page_url(campaign: Campaign) -> str:
    """The address of the task page. The marketplace appends the ids of the assignment."""
    return settings.SITE_URL + reverse("hits:task", args=[campaign.slug])


def external_question(campaign: Campaign) -> str:
    """The question as XML. A frame height of 0 fills the window."""
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
    """The fields of the answer; if a field is repeated, the first value counts.

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
    """The answer as text for a person, with one line per field and at most MOST_SHOWN
    characters. An answer that cannot be parsed, such as a cut one, is returned as XML."""
    try:
        fields = parse_answer(xml)
    except (UnreadableAnswer, DefusedXmlException):
        fields = {}
    text = "\n".join(f"{name}: {value}" for name, value in fields.items()) or xml
    if len(text) <= MOST_SHOWN:
        return text
    return f"{text[:MOST_SHOWN]} …"


SEPARATOR = ":"


@dataclass(frozen=True)
class Annotation:
    """The installation, campaign and token of a HIT.

    The campaign is given by its name and its time of creation, since a name may be used again.
    """

    installation: str
    campaign: str
    token: str

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Parse a HIT's annotation; return None if it has another form."""
        parts = text.split(SEPARATOR)
        return cls(*parts) if len(parts) == 3 and all(parts) else None

    def __str__(self) -> str:
        return SEPARATOR.join([self.installation, self.campaign, self.token])


def campaign_mark(campaign: Campaign) -> str:
    """The campaign's name and time of creation. They never contain SEPARATOR."""
    return f"{campaign.slug}@{campaign.created_at:%Y%m%d%H%M%S}"


def installation_name() -> str:
    """The random name of this database, created at the first call.

    A copy of the database has the same name.
    """
    return Installation.objects.get_or_create(pk=Installation.ONLY)[0].name
