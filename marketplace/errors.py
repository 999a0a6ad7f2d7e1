"""What can go wrong in the domain, each with the code that an API client is told."""


class DomainError(Exception):
    """The change is not possible now; the message is fit for a requester or worker to read."""

    code = "InvalidParameterValue"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class DoesNotExist(DomainError):
    """Nothing of that id is visible to whoever asks."""


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
    """The same request token came before; nothing was done again."""


class QuestionRefused(DomainError):
    """A question, test or answer key that does not fit its schema."""

    code = "ParameterValidationError"


class UnknownWorker(DomainError):
    """No worker of that id is known here; an API client sees a ParameterValidationError."""

    def __init__(self, public_id: str) -> None:
        super().__init__(f'The value "{public_id}" is not valid for the parameter WorkerId.')


class NothingToAccept(DomainError):
    """No HIT of the group is left for this worker."""


class NotQualified(DomainError):
    """The worker does not meet what guards the action."""

    code = "DoesNotMeetRequirements"


class AssignmentClosed(DomainError):
    """The assignment was submitted before, or its time is over, or it is not this worker's."""

    code = "InvalidAssignmentState"


class AccountRefused(DomainError):
    """The account cannot be made or changed like this; `field` is the one to look at."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class SignInRefused(DomainError):
    """Name and password do not belong together."""


class TooManyAttempts(DomainError):
    """The limit of tries is reached for now."""


class LinkRefused(DomainError):
    """A signed link is forged, cut off, used up or too old."""


class PasswordNeeded(DomainError):
    """The account has a password, so nothing else opens it."""


class StudyRefused(DomainError):
    """The study cannot be made or joined like this."""
