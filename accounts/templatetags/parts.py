"""Parts of pages that need more than a template."""

from typing import Any

from django import template
from django.template import Context

register = template.Library()


@register.inclusion_tag("parts/sorted_by.html", takes_context=True)
def sorted_by(context: Context, order: str, label: str) -> dict[str, Any]:
    """The head of a column; a link that sorts the list by it if the list can be sorted."""
    filters = context.get("filters")
    return {
        "request": context.get("request"),
        "order": order,
        "label": label[:1].upper() + label[1:],
        "is_link": filters is not None and order in filters.orders,
        "is_current": filters is not None and order == filters.order,
    }


@register.inclusion_tag("parts/bar.html")
def bar(label: str, whole: float, *parts: Any) -> dict[str, Any]:
    """A horizontal bar: `parts` are name, amount, name, amount, …, of the `whole`.

    Drawn as SVG, because the Content-Security-Policy allows no inline styles.
    """
    whole = float(whole) or 1.0
    pieces, offset = [], 0.0
    for name, amount in zip(parts[::2], parts[1::2], strict=True):
        width = max(0.0, min(float(amount) / whole * 100, 100 - offset))
        pieces.append({"name": name, "x": f"{offset:.3f}", "width": f"{width:.3f}"})
        offset += width
    return {"label": label, "pieces": pieces}
