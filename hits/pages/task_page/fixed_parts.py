"""The parts of the task page that are the same for every worker and image of a campaign.

They depend on the task type and the campaign file only. Each process renders them once for each
file, and finds them by the whole file, so they are never out of date. `record_page` keeps the words
of the page as workers read it, for releases.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from bs4 import BeautifulSoup
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS
from annotate.kinds.wording import in_language
from annotate.models import Campaign


def script_texts() -> dict[str, str]:
    """By the names that `static/hits/task.js` uses; the script fills in what is in braces."""
    return {
        "tooFew": gettext("Words: {count}; write at least {least}."),
        "tooMany": gettext("Words: {count}; write at most {most}."),
        "enough": gettext("Words: {count}"),
        "ofTarget": gettext("Words: {count} of about {target}"),
        "saving": gettext("Saving…"),
        "saved": gettext("Saved. Submitting to the marketplace…"),
        "correct": gettext("Please correct the marked fields."),
        "restored": gettext("What you had entered is back. It is not sent yet."),
        "notSent": gettext("Not sent. Your text is kept."),
        "tryAgain": gettext("Try again"),
        "sent": gettext("Sent. Thank you!"),
        "timeOver": gettext("The time is over"),
        "timeIsOver": gettext(
            "The time for this task is over, so you can no longer send it. You can still copy "
            "your text."
        ),
        "closed": gettext("Closed"),
    }


# Campaign files whose parts a process keeps, with open and with folded instructions.
MOST_KEPT = 100


@dataclass(frozen=True)
class FixedParts:
    """Three parts of the page, as HTML."""

    instructions: SafeString
    footer: SafeString
    scripts: SafeString


def fixed_parts(campaign: Campaign, *, shows_instructions: bool) -> FixedParts:
    """The parts for the campaign's language, with the instructions open or folded."""
    return _rendered(campaign.kind, campaign.config.model_dump_json(), shows_instructions)


@lru_cache(maxsize=MOST_KEPT)
def _rendered(kind_name: str, file: str, shows_instructions: bool) -> FixedParts:
    kind, config = KINDS[kind_name], CampaignConfig.model_validate_json(file)
    context = {
        **kind.instructions_context(config),
        "config": config,
        "shows_instructions": shows_instructions,
        "scripts": kind.scripts,
    }
    with in_language(config.language):
        context["texts"] = {**script_texts(), **kind.script_texts()}
        return FixedParts(
            *(
                render_to_string(template, context)
                for template in (
                    kind.templates.instructions,
                    "hits/task_footer.html",
                    "hits/task_scripts.html",
                )
            )
        )


# What leads to files or shows nothing, and has no place in a text.
ADDRESSES = ("src", "srcset", "sizes", "href")
NO_WORDS = "script, svg, input, button, link"
BLOCKS = ["h1", "h2", "p", "summary", "legend", "label", "output", "figcaption", "div"]
ITEMS = ["li", "option"]


class Words(NamedTuple):
    """The page as HTML without addresses, and as plain text with a line for each block."""

    html: str
    text: str


def record_page(campaign: Campaign, at: datetime) -> None:
    """Store the page that workers read from `at` on, unless it is stored already. Takes a query.

    Its example is the campaign's first task, so that the record is the same for all workers.
    """
    words = _words(campaign.slug, fixed_parts(campaign, shows_instructions=True))
    digest = sha256(words.text.encode()).hexdigest()
    if not campaign.worker_pages.filter(sha256=digest).exists():
        new = {"html": words.html, "text": words.text, "first_shown_at": at}
        campaign.worker_pages.get_or_create(sha256=digest, defaults=new)


@lru_cache(maxsize=MOST_KEPT)
def _words(slug: str, fixed: FixedParts) -> Words:
    campaign = Campaign.objects.get(slug=slug)
    kind, config = KINDS[campaign.kind], campaign.config
    task = campaign.tasks.with_subject().order_by("number").first()
    assert task is not None, "a page was opened about a task"
    task.primed = config.priming.share > 0
    # With empty fields: a text in rounds would be the last worker's, who may withdraw it.
    empty = dict.fromkeys(kind.field_names(task), "")
    item = {**kind.context(task, config, empty), "number": 1, "problems": []}
    context = {"config": config, "fixed": fixed, "item": item, "template": kind.templates.task}
    soup = BeautifulSoup(render_to_string("hits/page_record.html", context), "lxml")
    for tag in soup.select(NO_WORDS):
        tag.decompose()
    for name in ADDRESSES:
        for tag in soup.select(f"[{name}]"):
            del tag[name]
    return Words(str(soup), _plain(soup))


def _plain(soup: BeautifulSoup) -> str:
    """The text of the body, with a line for each block; changes the document."""
    body = soup.body or soup
    for string in list(body.find_all(string=True)):
        string.replace_with(re.sub(r"\s+", " ", string))
    for block in body.find_all([*BLOCKS, *ITEMS]):
        block.insert(0, "\n- " if block.name in ITEMS else "\n")
        block.append("\n")
    lines = (" ".join(line.split()) for line in body.get_text().split("\n"))
    return "\n".join(line for line in lines if line) + "\n"
