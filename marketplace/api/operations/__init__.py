"""The operations of the API, one small function each: look up, call one service, answer."""

from importlib import import_module

MODULES = [
    "account",
    "assignments",
    "hits",
    "notifications",
    "qualifications",
    "reviews",
    "workers",
]


def load() -> None:
    """Import every module of operations, which registers them."""
    for name in MODULES:
        import_module(f"{__name__}.{name}")
