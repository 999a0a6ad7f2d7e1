"""Where a page is: the names of the pages above it, from settings.BREADCRUMBS."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import NoReverseMatch, reverse


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
        crumbs.insert(0, Crumb(_named(name, arguments), _address(route, arguments)))
        route = above
    if route and crumbs:
        crumbs.insert(0, Crumb(route))
    return crumbs


def _named(name: str, arguments: Mapping[str, Any]) -> str:
    return name.format_map(dict(arguments))


def _address(route: str, arguments: Mapping[str, Any]) -> str:
    """The route's address with as many of the arguments as it takes, from the first on."""
    names = list(arguments)
    for length in range(len(names), -1, -1):
        try:
            return reverse(route, kwargs={name: arguments[name] for name in names[:length]})
        except NoReverseMatch:
            continue
    return ""
