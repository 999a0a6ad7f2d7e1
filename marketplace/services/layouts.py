"""HIT layouts: pages with placeholders that requesters fill for each HIT.

Mechanical Turk creates layouts only on its requester site, so its API has no operation for it.
"""

from datetime import datetime

from django.db import IntegrityError, transaction

from marketplace.errors import DomainError
from marketplace.models import HitLayout, Requester
from marketplace.questions import documents
from marketplace.questions.xml import NAMESPACE


class LayoutRefused(DomainError):
    """The layout cannot be created."""


def create_layout(
    *, requester: Requester, name: str, page: str, frame_height: int = 0, at: datetime
) -> HitLayout:
    """Create a layout from an HTML page with `${name}` placeholders.

    Raises LayoutRefused if the name is taken, and QuestionRefused if no HIT could show the page.
    """
    template = html_question(page, frame_height)
    documents.check_question(documents.fill(template, dict.fromkeys(documents.gaps(template), "")))
    try:
        with transaction.atomic():
            return HitLayout.objects.create(
                requester=requester, name=name, template=template, created_at=at
            )
    except IntegrityError as error:
        raise LayoutRefused(f"{requester} has a layout {name!r} already.") from error


def html_question(page: str, frame_height: int) -> str:
    """The page as an HTMLQuestion document; raises LayoutRefused."""
    if "]]>" in page:
        raise LayoutRefused("The page contains “]]>”, which is not allowed in a layout.")
    return (
        f'<HTMLQuestion xmlns="{NAMESPACE}2011-11-11/HTMLQuestion.xsd">'
        f"<HTMLContent><![CDATA[{page}]]></HTMLContent>"
        f"<FrameHeight>{frame_height}</FrameHeight></HTMLQuestion>"
    )
