"""HIT types, and HIT layouts: pages with placeholders that requesters fill for each HIT.

Mechanical Turk creates layouts only on its requester site, so its API has no operation for it.
"""

import hashlib
import json
import re
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction

from marketplace import requirements
from marketplace.errors import DomainError
from marketplace.models import HitLayout, HitType, Requester
from marketplace.questions import documents
from marketplace.questions.xml import NAMESPACE
from marketplace.services.qualification_types import check_types_usable

LANGUAGE = re.compile("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", re.ASCII)
WEB_ADDRESS = re.compile("https?://[^/@\\s]+/[!-~]*", re.ASCII)
LONGEST_ADDRESS = 500
LONGEST_LAYOUT_NAME = 100


# The properties that identify a HIT type.
PROPERTIES = (
    "title", "description", "keywords", "reward", "assignment_duration", "auto_approval_delay",
    "qualification_requirements",
)  # fmt: skip


def get_or_create_hit_type(*, hit_type: HitType, at: datetime) -> HitType:
    """The requester's HIT type with these properties; raises DomainError if they are invalid."""
    _check_type(hit_type)
    values = {name: getattr(hit_type, name) for name in PROPERTIES}
    # A default is the same as not to give it, and the order of keys does not matter.
    completed = [*map(requirements.completed, hit_type.qualification_requirements)]
    same = {**values, "qualification_requirements": completed}
    text = json.dumps(same, sort_keys=True, default=str)
    return HitType.objects.get_or_create(
        requester=hit_type.requester,
        properties_digest=hashlib.sha256(text.encode()).hexdigest(),
        defaults={**values, "created_at": at},
    )[0]


def describe(*, hit_type: HitType, campaign: str, language: str, url: str) -> None:
    """Note what the HITs belong to; raises DomainError if a value is invalid."""
    if len(campaign) > 100 or not campaign.isprintable():
        raise DomainError("The name of a campaign has at most 100 printable characters.")
    if language and not (len(language) <= 35 and LANGUAGE.fullmatch(language)):
        raise DomainError("A language is a BCP 47 tag, such as de or pt-BR.")
    # A link on operators' pages. A host without a dot is one of a machine's or a network's own.
    if url and not (len(url) <= LONGEST_ADDRESS and WEB_ADDRESS.fullmatch(url)):
        raise DomainError("The address of a page begins with https:// or http://.")
    values = {"campaign": campaign, "language": language, "campaign_url": url}
    # Programs repeat it at each of their rounds.
    if any(getattr(hit_type, name) != value for name, value in values.items()):
        HitType.objects.filter(pk=hit_type.pk).update(**values)


def _check_type(hit_type: HitType) -> None:
    check_range("AssignmentDurationInSeconds", hit_type.assignment_duration.total_seconds(),
                 settings.MTURK_DURATION_SECONDS)  # fmt: skip
    check_range("AutoApprovalDelayInSeconds", hit_type.auto_approval_delay.total_seconds(),
                 settings.MTURK_AUTO_APPROVAL_SECONDS)  # fmt: skip
    if hit_type.reward > settings.MTURK_MOST_REWARD:
        raise DomainError(f"Reward must be at most {settings.MTURK_MOST_REWARD}.")
    for name, text, longest in (
        ("Title", hit_type.title, 128),
        ("Description", hit_type.description, 2000),
        ("Keywords", hit_type.keywords, 1000),
    ):
        if len(text) > longest:
            raise DomainError(f"{name} has {len(text)} characters; at most {longest} are allowed.")
    for name, text in (("Title", hit_type.title), ("Description", hit_type.description)):
        if not text.strip():
            raise DomainError(f"{name} must not be empty.")
    for problem in requirements.problems(hit_type.qualification_requirements):
        raise DomainError(problem)
    check_types_usable(hit_type.qualification_requirements)


def check_range(name: str, value: float, limits: tuple[int, int]) -> None:
    least, most = limits
    if not least <= value <= most:
        raise DomainError(f"{name} must be between {least} and {most}, not {value:.0f}.")


def create_layout(
    *, requester: Requester, name: str, page: str, frame_height: int = 0, at: datetime
) -> HitLayout:
    """Create a layout from an HTML page with `${name}` placeholders.

    Raises DomainError if the name is taken or too long, and QuestionRefused if no HIT could show
    the page.
    """
    if not 1 <= len(name) <= LONGEST_LAYOUT_NAME:
        raise DomainError(f"The name of a layout has 1 to {LONGEST_LAYOUT_NAME} characters.")
    template = html_question(page, frame_height)
    documents.check_question(documents.fill(template, dict.fromkeys(documents.gaps(template), "")))
    try:
        with transaction.atomic():
            return HitLayout.objects.create(
                requester=requester, name=name, template=template, created_at=at
            )
    except IntegrityError as error:
        raise DomainError(f"{requester} has a layout {name!r} already.") from error


def html_question(page: str, frame_height: int) -> str:
    """The page as an HTMLQuestion document; raises DomainError."""
    if "]]>" in page:
        raise DomainError("The page contains “]]>”, which is not allowed in a layout.")
    return (
        f'<HTMLQuestion xmlns="{NAMESPACE}2011-11-11/HTMLQuestion.xsd">'
        f"<HTMLContent><![CDATA[{page}]]></HTMLContent>"
        f"<FrameHeight>{frame_height}</FrameHeight></HTMLQuestion>"
    )
