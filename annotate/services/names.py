"""Names that are unique on the whole site, because they are part of addresses and commands.

A team cannot be kept from learning that a name is not free. It learns nothing else about it.
"""

import re
import secrets
from itertools import count
from typing import Any

from django.utils.text import slugify

from accounts.models import Team, TeamRows
from corpora.errors import DomainError

LONGEST = 100
SLUG = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}")


def check(name: str, noun: str) -> None:
    """Raise DomainError if an address or a command cannot have this name."""
    if not SLUG.fullmatch(name):
        raise DomainError(
            f"{name!r} cannot be the name of a {noun}: use up to {LONGEST} letters, digits, "
            "hyphens and underscores."
        )


def refusal(rows: TeamRows[Any], *, name: str, team: Team, noun: str, field: str = "name") -> str:
    """Why nothing new of the team can have the name that one of the rows has.

    It names the kind of the row only if the row is the team's own. For others it proposes a free
    one.
    """
    if rows.of_team(team).filter(**{field: name}).exists():
        return f"A {noun} named {name!r} already exists. Choose another name."
    ending = slugify(team.slug.replace("_", "-"))[:40] or "2"
    free = _with_ending(name, ending)
    if rows.filter(**{field: free}).exists():
        free = _with_ending(name, secrets.token_hex(3))
    return f"The name {name!r} is not available. Choose another one, for example {free!r}."


def address_of(name: str, otherwise: str) -> str:
    """A typed name in lower-case ASCII letters, digits and single hyphens.

    `otherwise` is for a name of other letters only.
    """
    words = re.sub(r"[_./:&,;]+", " ", name)
    return slugify(words)[:LONGEST].strip("-") or otherwise


def free_name(rows: TeamRows[Any], name: str, *, field: str = "name") -> str:
    """The name, or with the first number that none of the rows has: `scenes-2`, `scenes-3`."""
    if not rows.filter(**{field: name}).exists():
        return name
    stem, _, number = name.rpartition("-")
    is_numbered = number.isdigit() and rows.filter(**{field: stem}).exists()
    base = (stem if is_numbered else name)[: LONGEST - 10].rstrip("-")
    taken = {*rows.filter(**{f"{field}__startswith": base}).values_list(field, flat=True)}
    return next(
        candidate for candidate in (f"{base}-{n}" for n in count(2)) if candidate not in taken
    )


def _with_ending(name: str, ending: str) -> str:
    return f"{name[: LONGEST - 1 - len(ending)].rstrip('-')}-{ending}"
