"""The question of our HITs: an ExternalQuestion that names the campaign's task page."""

from xml.sax.saxutils import escape

from django.conf import settings
from django.urls import reverse

from annotate.models import Campaign

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/"


def task_page_url(campaign: Campaign) -> str:
    """The address that the marketplace's frame opens; it adds who opens it."""
    return settings.SITE_URL + reverse("hits:task", args=[campaign.slug])


def external_question(campaign: Campaign) -> str:
    """The question as XML; the frame is as high as the window has room for."""
    return (
        f'<ExternalQuestion xmlns="{NAMESPACE}ExternalQuestion.xsd">'
        f"<ExternalURL>{escape(task_page_url(campaign))}</ExternalURL>"
        "<FrameHeight>0</FrameHeight>"
        "</ExternalQuestion>"
    )
