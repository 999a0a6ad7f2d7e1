"""What a service of quality control may refuse, and why."""

from annotate.errors import DomainError


class AlreadyJudged(DomainError):
    """The response needs no judgement of this reviewer's any more."""


JUDGED_BY_YOU = "You have already judged this response."


class ReasonMissing(DomainError):
    """An act against a worker says why."""


class CannotReject(DomainError):
    """The work is used, or its rejection was asked for before."""


class AlreadyExcluded(DomainError):
    """The worker is kept out of the campaign already."""


class NotExcluded(DomainError):
    """The worker is not kept out of the campaign."""


class AlreadyPaused(DomainError):
    """The worker gets no new tasks already."""


class NotPaused(DomainError):
    """The worker is not paused."""


class NothingProposed(DomainError):
    """No proposal to exclude the worker waits for an answer."""


class CannotAppeal(DomainError):
    """There is no exclusion to appeal against, or its appeal waits already."""


class AlreadyDecided(DomainError):
    """Somebody has decided about the payment."""


class AlreadyAnswered(DomainError):
    """The appeal was answered before."""


class NoGold(DomainError):
    """This cannot be made gold."""


def text_given(text: str, what: str) -> str:
    """The text without surrounding white space; raises ReasonMissing if nothing is left."""
    text = text.strip()
    if not text:
        raise ReasonMissing(f"Enter {what}.")
    return text


def reason_given(reason: str, what: str) -> str:
    """The reason without surrounding white space; raises ReasonMissing if nothing is left."""
    return text_given(reason, f"a reason for the {what}")
