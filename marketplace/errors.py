"""Errors that services raise, with the code for API clients."""


class DomainError(Exception):
    """The change is not possible now; the message can be shown to requesters and workers."""

    code = "InvalidParameterValue"
    # Of the page that shows the message.
    status = 400

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class DoesNotExist(DomainError):
    """No object with this id is visible to the caller."""


class InvalidHitState(DomainError):
    code = "InvalidHITState"


class InvalidAssignmentState(DomainError):
    code = "InvalidAssignmentState"


class InsufficientFunds(DomainError):
    code = "InsufficientFunds"

    def __init__(self) -> None:
        super().__init__(
            "This Requester has insufficient funds in their account to complete this transaction."
        )


class AlreadyDone(DomainError):
    """The request token was used before; nothing was changed."""


class QuestionRefused(DomainError):
    """A question, test or answer key does not conform to its schema."""

    code = "ParameterValidationError"


class UnknownWorker(DomainError):
    """There is no worker with this id; API clients get a ParameterValidationError."""

    def __init__(self, public_id: str) -> None:
        super().__init__(f'The value "{public_id}" is not valid for the parameter WorkerId.')


class NothingToAccept(DomainError):
    """The group has no HIT left for this worker."""

    status = 409


class NotQualified(DomainError):
    """The worker does not meet the requirements of the action."""

    status = 403
    code = "DoesNotMeetRequirements"


class AssignmentClosed(DomainError):
    """The assignment was submitted, has expired, or belongs to another worker."""

    status = 409
    code = "InvalidAssignmentState"


class FieldRefused(DomainError):
    """The entered value is not possible; `field` is the invalid field, if it is one."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class AccountRefused(FieldRefused):
    """The account cannot be created or changed."""


class SignInRefused(DomainError):
    """Wrong name or password."""

    status = 403


class TooManyAttempts(DomainError):
    """The limit of attempts has been reached for now."""

    status = 429


class LinkRefused(DomainError):
    """A signed link is forged, incomplete, used or expired."""


class PasswordNeeded(DomainError):
    """The account has a password, so a participant must sign in with it."""


class StudyRefused(DomainError):
    """The study cannot be created or joined."""


class GroupRefused(FieldRefused):
    """The group of people cannot be changed or joined."""


class ConsentNeeded(DomainError):
    """The member has not agreed to the current consent text."""


class ShareDone(DomainError):
    """The member has done their share of the tasks."""
