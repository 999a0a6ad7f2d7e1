"""The addresses of the requester site, from its URL list, so that a test forgets none of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.urls import URLResolver, get_resolver, reverse


def routes(
    resolver: URLResolver | None = None,
    namespaces: Sequence[str] = (),
    arguments: Sequence[str] = (),
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name and the names of the arguments of each route, without those of the admin."""
    for one in (resolver or get_resolver()).url_patterns:
        pattern = one.pattern
        names = getattr(pattern, "converters", {}) or getattr(pattern, "regex", re.compile(""))
        own = tuple(names if isinstance(names, dict) else names.groupindex)
        if isinstance(one, URLResolver):
            if one.namespace != "admin":
                inside = (*namespaces, one.namespace) if one.namespace else namespaces
                yield from routes(one, inside, (*arguments, *own))
        else:
            yield ":".join([*namespaces, one.name or str(pattern)]), (*arguments, *own)


ROUTES = dict(routes())


def address_of(route: str, names: Mapping[str, Any]) -> str:
    """The address of a route with the arguments in `names`. A name such as `jobs.key` is the
    argument `key` of the routes whose names begin with `jobs`."""

    def value(argument: str) -> Any:
        fitting = [
            key
            for key in names
            if key.endswith(f".{argument}") and route.startswith(key.rpartition(".")[0])
        ]
        return names[max(fitting, key=len) if fitting else argument]

    return reverse(route, kwargs={one: value(one) for one in ROUTES[route]})
