"""Template filters and tags for money, marketplaces and task types."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.timesince import timeuntil

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS, TaskKind
from annotate.models import Campaign, Release, ReleasedImage, Response
from corpora.language.languages import is_english, language_of
from corpora.wording import exact_percent, percent

register = template.Library()

NAMED_ENDPOINTS = {"local", "sandbox", "production"}


@register.filter
def dollars(amount: Decimal | float | None) -> str:
    """`$1,234.50`; empty for None."""
    return "" if amount is None else f"${amount:,.2f}"


@register.filter
def endpoint_label(endpoint: str) -> str:
    """A marketplace's name for its badge: local, sandbox, production, or its host."""
    return endpoint if endpoint in NAMED_ENDPOINTS else urlsplit(endpoint).netloc or endpoint


@register.filter
def endpoint_tone(endpoint: str) -> str:
    """The CSS class of the badge; a marketplace at another URL looks like the local one."""
    return endpoint if endpoint in {"sandbox", "production"} else "local"


@register.filter
def language_name(campaign: Campaign) -> str:
    """The name of the language of the campaign's captions, or its tag."""
    return language_of(campaign.config.language).name


@register.filter
def task_kind(campaign: Campaign) -> TaskKind:
    """The campaign's task type."""
    return KINDS[campaign.kind]


@register.filter
def kind_rules(campaign: Campaign) -> Any:
    """The section of the campaign file for the campaign's task type."""
    return KINDS[campaign.kind].rules(campaign.config)


@register.filter
def answer_word(number: int, kind: TaskKind) -> str:
    """The word for this many answers: "caption" for 1, otherwise "captions"."""
    return kind.answer_name if number == 1 else kind.answers_name


@register.filter
def assignment_word(number: int, config: CampaignConfig) -> str:
    """The word for this many assignments. Where nobody reads a list of HITs, researchers know them
    as the task pages that people open."""
    word = "assignment" if config.workers.has_requirements else "task page"
    return word if number == 1 else f"{word}s"


@register.filter
def in_words(response: Response | None, kind: TaskKind) -> str:
    """A one-line summary of the answer; empty for None."""
    return "" if response is None else kind.summary(response)


@register.simple_tag
def show_answer(kind: TaskKind, response: Response, language: str = "") -> SafeString:
    """A response in this language, rendered with the template of its task type."""
    context = {"response": response, "language": language, **kind.answer_context(response)}
    return render_to_string(kind.templates.answer, context)


@register.simple_tag
def show_released(kind: TaskKind, image: ReleasedImage, language: str = "") -> SafeString:
    """An item of a release in this language, rendered with the template of its task type."""
    context = {"image": image, "language": language, **kind.released_context(image)}
    return render_to_string(kind.templates.released, context)


@register.simple_tag
def released_figures(kind: TaskKind, release: Release) -> dict[str, Any]:
    """The figures of a release as its page shows them."""
    return kind.released_figures(release)


register.filter("percent", percent)
register.filter("exact_percent", exact_percent)


@register.filter
def in_about(at: datetime) -> str:
    """The time until then in its largest unit: `4 days`."""
    return timeuntil(at, depth=1)


@register.filter
def other_language_written(campaign: Campaign) -> str:
    """The name of the language that workers write; empty for English, and if they write nothing."""
    tag, kind = campaign.config.language, KINDS[campaign.kind]
    writes = kind.has_references or kind.builds_on_answers
    return language_of(tag).name if writes and not is_english(tag) else ""
