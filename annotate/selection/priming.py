"""The keywords that prime a worker: what is in the image, in an order that ranks nothing."""

from collections.abc import Iterable


def keywords(names: Iterable[str]) -> list[str]:
    """The names once each, in the order of the alphabet whatever their case."""
    return sorted(set(names), key=lambda name: (name.casefold(), name))
