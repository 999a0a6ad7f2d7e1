"""Parts of pages that need more than a template, and the hidden fields of every form."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import template
from django.conf import settings
from django.forms import BoundField
from django.template import Context
from django.template.context import RequestContext
from django.template.defaulttags import CsrfTokenNode
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html

from accounts.rights import FORM_TEAM, current_team

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


@register.inclusion_tag("parts/breadcrumbs.html", takes_context=True)
def breadcrumbs(context: RequestContext) -> dict[str, Any]:
    """The way to this page, for signed-in users, if it has more than one part."""
    request = context.get("request")
    if request is None or request.resolver_match is None or not request.user.is_authenticated:
        return {"crumbs": []}
    crumbs = trail(request.resolver_match.view_name, request.resolver_match.kwargs)
    return {"crumbs": crumbs if len(crumbs) > 1 else []}


@dataclass(frozen=True)
class Crumb:
    """A part of the trail; `address` is empty if it is not a page."""

    name: str
    address: str = ""


def trail(route: str, arguments: Mapping[str, Any]) -> list[Crumb]:
    """The pages from the top to the route's own page; empty for a route without a name."""
    crumbs: list[Crumb] = []
    pages = settings.BREADCRUMBS
    while route in pages:
        name, above = pages[route]
        crumbs.insert(0, Crumb(name.format_map(dict(arguments)), _address(route, arguments)))
        route = above
    if route and crumbs:
        crumbs.insert(0, Crumb(route))
    return crumbs


def _address(route: str, arguments: Mapping[str, Any]) -> str:
    """The route's address with as many of the arguments as it takes, from the first on."""
    names = list(arguments)
    for length in range(len(names), -1, -1):
        try:
            return reverse(route, kwargs={name: arguments[name] for name in names[:length]})
        except NoReverseMatch:
            continue
    return ""


@register.filter
def focused(field: BoundField) -> str:
    """The field, focused when the page opens: that brings it and its error into sight."""
    return field.as_widget(attrs={"autofocus": True})


@register.simple_tag(takes_context=True)
def csrf_token(context: RequestContext) -> str:
    """The form's token, and the team for which the page shows it: what the form creates belongs to
    this team, also if the user switches to another one in another tab."""
    token = CsrfTokenNode().render(context)
    request = context.get("request")
    team = current_team(request) if hasattr(request, "user") else None
    if team is None:
        return token
    return token + format_html('<input type="hidden" name="{}" value="{}">', FORM_TEAM, team.pk)
