"""Redirect another program's `mturk` client to a marketplace.

The folder `hook` is put first on the program's PYTHONPATH.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

HOOK = Path(__file__).resolve().parent / "hook"
# Read by the hook. Not MARKETPLACE_URL, which the program may use itself.
VARIABLE = "MARKETPLACE_REDIRECT_URL"
AMAZON_HOSTS = (
    "mturk-requester.us-east-1.amazonaws.com",
    "mturk-requester-sandbox.us-east-1.amazonaws.com",
)


def checked_endpoint(url: str) -> str:
    """The marketplace's URL without a trailing slash; raises ValueError if it is invalid."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{url!r} is no address such as http://127.0.0.1:8001")
    return url.rstrip("/")


def redirected(environment: Mapping[str, str], *, endpoint: str) -> dict[str, str]:
    """The environment in which a Python program's `mturk` calls go to the endpoint."""
    result = dict(environment)
    result[VARIABLE] = endpoint
    result["PYTHONPATH"] = _first(str(HOOK), result.get("PYTHONPATH", ""), os.pathsep)
    # Botocore uses a proxy depending on Amazon's host names, and a proxy cannot reach the
    # marketplace.
    for name in ("no_proxy", "NO_PROXY"):
        if name in result or _has_proxy(environment):
            result[name] = _first(",".join(AMAZON_HOSTS), result.get(name, ""), ",")
    return result


def _first(text: str, rest: str, separator: str) -> str:
    return f"{text}{separator}{rest}" if rest else text


def _has_proxy(environment: Mapping[str, str]) -> bool:
    return any(re.fullmatch("(http|https|all)_proxy", name, re.IGNORECASE) for name in environment)
