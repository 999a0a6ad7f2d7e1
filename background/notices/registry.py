"""The kinds of notices.

An app registers its kinds in its module `notice_kinds`, which is imported when kinds are first
looked up.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils.module_loading import autodiscover_modules

from accounts.models import Team


@dataclass(frozen=True)
class Event:
    """Something to tell people.

    `subject` tells it from other events of its kind, such as the campaign's key for a state of a
    campaign. With `only`, e-mail goes to this user alone. `of_team` is
    for events about nothing that has a team. Only the team's members and operators get e-mail.
    """

    subject: str
    title: str
    text: str
    path: str
    # A campaign, or another row that has a team.
    about: Any = None
    only: User | None = None
    of_team: Team | None = None

    @property
    def team(self) -> Team | None:
        return self.about.team if self.about else self.of_team


@dataclass(frozen=True)
class NoticeKind:
    """A kind of notice; `find` yields what is so now.

    A state (`is_state`) that is over and comes back is noticed again, at most once a day for each
    recipient. Anything else is a single event, which is noticed once. `is_about_money` keeps it
    from people who may see no amounts.
    """

    name: str
    label: str
    about: str
    find: Callable[[datetime], Iterable[Event]]
    is_state: bool = True
    is_about_money: bool = False


_kinds: dict[str, NoticeKind] = {}


def register(kind: NoticeKind) -> None:
    """Add a kind; raises ValueError if another one has its name."""
    if _kinds.setdefault(kind.name, kind) is not kind:
        raise ValueError(f"The kind of notice {kind.name!r} is registered already.")


def notice_kinds() -> dict[str, NoticeKind]:
    """All kinds by name, in a fixed order."""
    autodiscover_modules("notice_kinds")
    return dict(sorted(_kinds.items()))


def notice_choices() -> list[tuple[str, str]]:
    """All kinds for a form in which a person chooses some."""
    return [(kind.name, f"{kind.label}: {kind.about}") for kind in notice_kinds().values()]
