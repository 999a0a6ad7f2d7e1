"""The parts of the task page that are the same for every worker and image of a campaign.

They depend on the task type and the campaign file only. Each process renders them once for each
file, and finds them by the whole file, so they are never out of date.
"""

from dataclasses import dataclass
from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS
from annotate.models import Campaign
from annotate.site.languages import in_language
from hits.task_page.texts import script_texts

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
