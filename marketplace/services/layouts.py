"""HIT layouts: pages with gaps that requesters fill for each HIT.

Mechanical Turk makes them in its requester's pages only, so its API has no call for it.
"""

from datetime import datetime

from django.db import IntegrityError, transaction

from marketplace.errors import DomainError
from marketplace.models import HitLayout, Requester
from marketplace.questions import documents, layouts
from marketplace.questions.xml import NAMESPACE


class LayoutRefused(DomainError):
    """The layout cannot be made."""


def create_layout(
    *, requester: Requester, name: str, page: str, frame_height: int = 0, at: datetime
) -> HitLayout:
    """A layout from an HTML page with `${name}` gaps; raises LayoutRefused for a name that is
    taken, QuestionRefused for a page that no HIT could show."""
    template = html_question(page, frame_height)
    documents.check_question(layouts.fill(template, dict.fromkeys(layouts.gaps(template), "")))
    try:
        with transaction.atomic():
            return HitLayout.objects.create(
                requester=requester, name=name, template=template, created_at=at
            )
    except IntegrityError as error:
        raise LayoutRefused(f"{requester} has a layout {name!r} already.") from error


def html_question(page: str, frame_height: int) -> str:
    """The page as an HTMLQuestion document."""
    if "]]>" in page:
        raise LayoutRefused("The page contains “]]>”, which is not allowed in a layout.")
    return (
        f'<HTMLQuestion xmlns="{NAMESPACE}2011-11-11/HTMLQuestion.xsd">'
        f"<HTMLContent><![CDATA[{page}]]></HTMLContent>"
        f"<FrameHeight>{frame_height}</FrameHeight></HTMLQuestion>"
    )
