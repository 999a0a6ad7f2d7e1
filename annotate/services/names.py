"""Names that are unique on the whole site, because they are part of addresses and commands.

A team cannot be kept from learning that a name is not free. It learns nothing else about it.
"""

import secrets
from typing import Any

from django.utils.text import slugify

from annotate.models import Team
from annotate.models.teams import TeamRows

LONGEST = 100


def refusal(rows: TeamRows[Any], *, name: str, team: Team, noun: str, field: str = "name") -> str:
    """Why nothing new of the team can have the name that one of the rows has.

    Only of a row of the team itself it says what has the name. For others it proposes a free one.
    """
    if rows.of_team(team).filter(**{field: name}).exists():
        return f"A {noun} named {name!r} already exists. Choose another name."
    ending = slugify(team.slug.replace("_", "-"))[:40] or "2"
    free = _with_ending(name, ending)
    if rows.filter(**{field: free}).exists():
        free = _with_ending(name, secrets.token_hex(3))
    return f"The name {name!r} is not available. Choose another one, for example {free!r}."


def _with_ending(name: str, ending: str) -> str:
    return f"{name[: LONGEST - 1 - len(ending)].rstrip('-')}-{ending}"
