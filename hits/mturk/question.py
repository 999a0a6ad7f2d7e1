"""The question of our HITs: an ExternalQuestion with the address of the campaign's task page."""

from xml.sax.saxutils import escape

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
