"""Errors of quality control's services."""

from corpora.errors import DomainError


class AlreadyJudged(DomainError):
    """The response no longer needs this reviewer's judgement."""


JUDGED_BY_YOU = "You have already judged this response."


class ReasonMissing(DomainError):
    """A decision against a worker needs a reason."""


class CannotReject(DomainError):
    """The response is in use, or its rejection was requested before."""


class AlreadyExcluded(DomainError):
    """The worker is excluded from the campaign already."""


class NotExcluded(DomainError):
    """The worker is not excluded from the campaign."""


class AlreadyPaused(DomainError):
    """The worker is paused already."""


class NotPaused(DomainError):
    """The worker is not paused."""


class NothingProposed(DomainError):
    """There is no open proposal to exclude the worker."""


class NothingToTakeBack(DomainError):
    """There is no verdict that could be taken back or changed."""


class CannotRestore(DomainError):
    """The discarded response cannot count again."""


class CannotAppeal(DomainError):
    """There is no exclusion to appeal against, or its appeal is open already."""


class AlreadyDecided(DomainError):
    """The payment is decided already."""


class AlreadyAnswered(DomainError):
    """The appeal is answered already."""


class CannotAsk(DomainError):
    """A second opinion cannot be asked for, or the request cannot be withdrawn."""


class NoGold(DomainError):
    """The response or task cannot have a gold item."""


def text_given(text: str, what: str) -> str:
    """The text without surrounding white space. Raises ReasonMissing if nothing is left."""
    text = text.strip()
    if not text:
        raise ReasonMissing(f"Enter {what}.")
    return text


def reason_given(reason: str, what: str) -> str:
    """The reason without surrounding white space. Raises ReasonMissing if nothing is left."""
    return text_given(reason, f"a reason for the {what}")
