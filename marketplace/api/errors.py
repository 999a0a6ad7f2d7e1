"""How a request fails, in the forms that clients know."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings

from marketplace.errors import DomainError, QuestionRefused, UnknownWorker


class ApiError(Exception):
    """A request that cannot be answered; becomes a JSON document and an HTTP status."""

    status = 400
    type_name = "RequestError"

    def body(self, _at: datetime) -> dict[str, Any]:
        return {"__type": self.type_name, "Message": str(self), "message": str(self)}


class UnknownOperation(ApiError):
    type_name = "UnknownOperationException"


class SerializationError(ApiError):
    type_name = "SerializationException"


class NotAuthorized(ApiError):
    """No valid signature; the type says what is wrong with it."""

    status = 400

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(message)
        self.type_name = type_name

    def body(self, at: datetime) -> dict[str, Any]:
        # The front door's type, and the code that the service itself gave in older versions.
        is_unknown = self.type_name == "UnrecognizedClientException"
        code = "AWS.BadCredentialSupplied" if is_unknown else "AWS.NotAuthorized"
        return {**super().body(at), "TurkErrorCode": code}


class ValidationError(ApiError):
    """The request breaks a constraint of the model."""

    type_name = "ValidationException"

    def __init__(self, problems: Sequence[str]) -> None:
        count = "1 validation error" if len(problems) == 1 else f"{len(problems)} validation errors"
        super().__init__(f"{count} detected: {'; '.join(problems)}")


class Throttled(ApiError):
    type_name = "ThrottlingException"


class ServiceFault(ApiError):
    """The marketplace's own failure; the client may try again."""

    type_name = "ServiceFault"

    @property
    def status(self) -> int:  # type: ignore[override]
        return settings.MTURK_SERVICE_FAULT_STATUS

    def body(self, at: datetime) -> dict[str, Any]:
        return _turk_error(self.type_name, str(self), "ServiceFault", at)


class RequestError(ApiError):
    """The domain refused the request."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code

    def body(self, at: datetime) -> dict[str, Any]:
        return _turk_error(self.type_name, str(self), self.code, at)


def _turk_error(type_name: str, message: str, code: str, at: datetime) -> dict[str, Any]:
    milliseconds = int(at.timestamp() * 1000)
    return {
        "__type": type_name,
        "Message": f"{message} ({milliseconds})",
        "TurkErrorCode": f"AWS.MechanicalTurk.{code}",
    }


class _ParameterError(ApiError):
    type_name = "ParameterValidationError"


def from_domain(error: DomainError) -> ApiError:
    """The form in which an API client learns of an error of the domain."""
    if isinstance(error, UnknownWorker):
        return _ParameterError(str(error))
    if isinstance(error, QuestionRefused) and error.code == QuestionRefused.code:
        return RequestError(str(error), "InvalidParameterValue")
    return RequestError(str(error), error.code)
