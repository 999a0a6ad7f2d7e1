"""The operations of the API, one function each: look up objects, call a service, respond."""

from importlib import import_module

MODULES = ["account", "assignments", "hits", "qualifications"]


def load() -> None:
    """Import all modules of operations, which registers them."""
    for name in MODULES:
        import_module(f"{__name__}.{name}")
