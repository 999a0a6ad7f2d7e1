"""The parts of the task page that are the same for every worker and image of a campaign.

They depend on the task type and the campaign file only. Each process renders them once for each
file, and finds them by the whole file, so they are never out of date.
"""

from dataclasses import dataclass
from functools import lru_cache

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
