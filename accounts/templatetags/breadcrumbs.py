"""The breadcrumbs of a page."""

from typing import Any

from django import template
from django.template.context import RequestContext

from accounts.pages.breadcrumbs import trail

register = template.Library()


@register.inclusion_tag("parts/breadcrumbs.html", takes_context=True)
def breadcrumbs(context: RequestContext) -> dict[str, Any]:
    """The way to this page, for signed-in users, if it has more than one part."""
    request = context.get("request")
    if request is None or request.resolver_match is None or not request.user.is_authenticated:
        return {"crumbs": []}
    crumbs = trail(request.resolver_match.view_name, request.resolver_match.kwargs)
    return {"crumbs": crumbs if len(crumbs) > 1 else []}
