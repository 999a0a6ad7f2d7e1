"""Send the requests of botocore's `mturk` clients to a marketplace instead of Amazon.

Every botocore session calls event handlers just before a request is signed. This module adds one
that changes the host in the URL, so that the signature covers the new host. It only changes URLs of
Amazon's MTurk hosts, production and sandbox. All other requests stay as they are.
"""

import functools
import re
import sys
from importlib.machinery import PathFinder
from typing import Any
from urllib.parse import urlsplit, urlunsplit

MODULE = "botocore.session"
EVENT = "before-sign"
_AMAZON = re.compile(
    r"mturk-requester(-[a-z]+)*\.([a-z0-9-]+\.)?(amazonaws\.com(\.cn)?|api\.aws)", re.IGNORECASE
)


def install(endpoint: str) -> None:
    """Redirect from now on. Does not import botocore itself."""
    if MODULE in sys.modules:
        _patch(sys.modules[MODULE], endpoint)
    else:
        sys.meta_path.insert(0, _Finder(endpoint))


def redirected_url(url: str, endpoint: str) -> str:
    """The URL with the endpoint in place of an Amazon host; other URLs are not changed."""
    parts = urlsplit(url)
    if not _AMAZON.fullmatch(parts.hostname or ""):
        return url
    target = urlsplit(endpoint)
    path = target.path.rstrip("/") + parts.path
    return urlunsplit((target.scheme, target.netloc, path, parts.query, ""))


class _Finder:
    """An import finder that patches botocore's session module after it is loaded."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != MODULE:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        @functools.wraps(execute)
        def exec_module(module: Any) -> None:
            execute(module)
            # A loader may be shared by several modules.
            if module.__name__ == MODULE:
                _patch(module, self.endpoint)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _patch(module: Any, endpoint: str) -> None:
    original = module.Session.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.get_component("event_emitter").register_first(EVENT, handler)

    def handler(request: Any, **_: Any) -> None:
        request.url = redirected_url(request.url, endpoint)

    module.Session.__init__ = __init__
