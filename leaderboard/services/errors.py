"""Errors of this app's services. Their messages are shown to submitters and researchers."""

from corpora.errors import DomainError


class ChallengeRefused(DomainError):
    """The challenge cannot be created or changed like this."""


class NotOpen(DomainError):
    """The challenge takes no submissions now."""


class LimitReached(DomainError):
    """The submitter has used all submissions of the day or of the challenge."""


class SubmittedBefore(DomainError):
    """The submitter has submitted the same file to the same track before."""


class SubmissionRefused(DomainError):
    """The submission cannot be made or changed like this."""


class SignUpRefused(DomainError):
    """The account cannot be created."""
