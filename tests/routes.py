"""The addresses of the requester site, from its URL list, so that a test forgets none of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse


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


EXAMPLES = {
    "slug": "pilot",
    "pseudonym": "W-00000000",
    "name": "v1",
    "file": "captions.json",
    "file_format": "csv",
    "pk": 1,
    "number": 1,
    "key": "00000000-0000-4000-8000-000000000002",
    "act": "pause",
    "id": 1,
    "app_label": "auth",
    "url": "nothing",
    "object_id": "1",
    "content_type_id": "1",
    "path": "cat.jpg",
    "size": "copies",
    "code": "0",
    "text": "none",
    "state": "preview",
    "uidb64": "MQ",
    "token": "none",
}


def named_addresses(
    resolver: URLResolver | None = None, namespace: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """All named URLs of the site, those of the admin too, with example arguments."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from named_addresses(pattern, inner)
        elif isinstance(pattern, URLPattern) and pattern.name:
            arguments = {name: EXAMPLES[name] for name in pattern.pattern.regex.groupindex}
            yield f"{namespace}{pattern.name}", arguments
