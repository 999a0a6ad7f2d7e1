"""What the pages' templates need beyond Django's own: money, bars, a marketplace's name."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.timesince import timeuntil

from annotate.kinds import KINDS, TaskKind
from annotate.models import Campaign, ReleasedImage, Response

register = template.Library()

NAMED_ENDPOINTS = {"local", "sandbox", "production"}


@register.filter
def dollars(amount: Decimal | float | None) -> str:
    """`$1,234.50`; an empty string for no amount."""
    return "" if amount is None else f"${amount:,.2f}"


@register.filter
def endpoint_label(endpoint: str) -> str:
    """A marketplace's name for its badge: local, sandbox, production, or its host."""
    return endpoint if endpoint in NAMED_ENDPOINTS else urlsplit(endpoint).netloc or endpoint


@register.filter
def endpoint_tone(endpoint: str) -> str:
    """The badge's style; a marketplace at an address of its own looks like the local one."""
    return endpoint if endpoint in {"sandbox", "production"} else "local"


@register.filter
def task_kind(campaign: Campaign) -> TaskKind:
    """The campaign's kind of task, for its names and templates."""
    return KINDS[campaign.kind]


@register.filter
def kind_rules(campaign: Campaign) -> Any:
    """The section of the campaign file that belongs to the kind of task."""
    return KINDS[campaign.kind].rules(campaign.config)


@register.filter
def in_words(response: Response | None, kind: TaskKind) -> str:
    """A line that says what was answered; an empty string for no response."""
    return "" if response is None else kind.summary(response)


@register.simple_tag
def show_answer(kind: TaskKind, response: Response) -> SafeString:
    """One response, by the template of its kind."""
    context = {"response": response, **kind.answer_context(response)}
    return render_to_string(kind.templates.answer, context)


@register.simple_tag
def show_released(kind: TaskKind, image: ReleasedImage) -> SafeString:
    """One item of a release, by the template of its kind."""
    return render_to_string(
        kind.templates.released, {"image": image, **kind.released_context(image)}
    )


@register.filter
def percent(share: float) -> str:
    """`12%`, where all and nothing are said only if they are true."""
    whole = round(share * 100)
    if 0 < share < 1:
        whole = min(99, max(1, whole))
    return f"{whole}%"


@register.filter
def in_about(at: datetime) -> str:
    """How long it is until then, in the largest unit alone: `4 days`."""
    return timeuntil(at, depth=1)


@register.inclusion_tag("annotate/bar.html")
def bar(label: str, whole: float, *parts: Any) -> dict[str, Any]:
    """A horizontal bar: `parts` are name, amount, name, amount, …, of the `whole`.

    It is drawn as SVG, since the pages' security policy allows no inline style.
    """
    whole = float(whole) or 1.0
    pieces, offset = [], 0.0
    for name, amount in zip(parts[::2], parts[1::2], strict=True):
        width = max(0.0, min(float(amount) / whole * 100, 100 - offset))
        pieces.append({"name": name, "x": f"{offset:.3f}", "width": f"{width:.3f}"})
        offset += width
    return {"label": label, "pieces": pieces}
