"""The keywords that prime workers."""

from collections.abc import Iterable


def keywords(names: Iterable[str]) -> list[str]:
    """The distinct names in alphabetical order, ignoring case. The order implies no ranking."""
    return sorted(set(names), key=lambda name: (name.casefold(), name))
