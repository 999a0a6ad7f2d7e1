"""Errors in the words of people who do not know a marketplace."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from marketplace.errors import (
    AssignmentClosed,
    DomainError,
    NothingToAccept,
    NotQualified,
)

SENTENCES: dict[type[DomainError], str] = {
    NothingToAccept: gettext_noop("There are no tasks for you at the moment. Look again later."),
    NotQualified: gettext_noop("You cannot get a task now. Ask the person who invited you."),
    AssignmentClosed: gettext_noop(
        "This task is closed: it was sent or returned before, or its time is over. Nothing was "
        "changed."
    ),
}


def plainly(error: DomainError) -> str:
    """The error's sentence for people; its own message if that is written for them."""
    sentence = SENTENCES.get(type(error))
    return _(sentence) if sentence else str(error)
