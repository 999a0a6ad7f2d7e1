"""The steps of the practice before a worker's first task.

Nothing is stored until its end: a signed token in each form has the frame's parameters and the
marks so far. So the address of a page that somebody made up affects that page alone.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.core import signing
from django.utils.translation import gettext

from annotate.images.copies import display_srcset, display_url
from annotate.kinds.practice import Question, is_passed, marked, question
from annotate.models import Campaign
from hits.pages.task_page.form import TokenRefused
from hits.services.hit_pages import FrameParameters

SALT = "hits.practice"


def sign(campaign: Campaign, frame: FrameParameters, marks: str) -> str:
    return signing.dumps([campaign.pk, asdict(frame), marks], salt=SALT, compress=True)


def read(campaign: Campaign, token: str, *, max_age: timedelta) -> tuple[FrameParameters, str]:
    """The frame's parameters and the marks so far; raises TokenRefused."""
    try:
        signed_for, frame, marks = signing.loads(token, salt=SALT, max_age=max_age)
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise TokenRefused(gettext("This page is too old. Please open the task again.")) from error
    if signed_for != campaign.pk:
        raise TokenRefused(
            gettext("This form was not made by this site. Please open the task again.")
        )
    return FrameParameters(**frame), marks


def step(
    campaign: Campaign,
    frame: FrameParameters,
    marks: str = "",
    fields: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Template variables of the next question or, with an answer to it, of the marked answer."""
    config, asked = campaign.config, question(campaign, len(marks))
    answer = (fields or {}).get("answer", "").strip()
    context = {**shown(campaign, asked), "number": len(marks) + 1}
    if answer and (config.practice.way == "write" or answer in {"good", "bad"}):
        context["marked"] = marks_given = marked(config, asked, answer)
        marks += "1" if marks_given.is_right else "0"
    return {
        **context,
        "token": sign(campaign, frame, marks),
        "right": marks.count("1"),
        "is_over": len(marks) == len(config.practice.items),
        "is_passed": is_passed(config, marks),
    }


def shown(campaign: Campaign, asked: Question) -> dict[str, Any]:
    """Template variables of a question."""
    image = asked.image
    return {
        "item": {"image": image, "url": display_url(image), "srcset": display_srcset(image)},
        "captions": asked.captions,
        "practice": campaign.config.practice,
        "total": len(campaign.config.practice.items),
    }
