"""Errors of the API, in the formats that clients expect."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings

from marketplace.errors import DomainError, QuestionRefused, UnknownWorker


class ApiError(Exception):
    """A request that failed; becomes a JSON document with an HTTP status."""

    status = 400
    type_name = "RequestError"

    def body(self, _at: datetime) -> dict[str, Any]:
        return {"__type": self.type_name, "Message": str(self), "message": str(self)}


class UnknownOperation(ApiError):
    type_name = "UnknownOperationException"


class SerializationError(ApiError):
    type_name = "SerializationException"


class NotAuthorized(ApiError):
    """The request has no valid signature; the type names the reason."""

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(message)
        self.type_name = type_name

    def body(self, at: datetime) -> dict[str, Any]:
        # The type is that of AWS's gateway; the code is the one that MTurk itself used in older
        # versions.
        is_unknown = self.type_name == "UnrecognizedClientException"
        code = "AWS.BadCredentialSupplied" if is_unknown else "AWS.NotAuthorized"
        return {**super().body(at), "TurkErrorCode": code}


class ValidationError(ApiError):
    """The request violates a constraint of the service model."""

    type_name = "ValidationException"

    def __init__(self, problems: Sequence[str]) -> None:
        count = "1 validation error" if len(problems) == 1 else f"{len(problems)} validation errors"
        super().__init__(f"{count} detected: {'; '.join(problems)}")


class Throttled(ApiError):
    type_name = "ThrottlingException"


class RequestError(ApiError):
    """A service refused the request."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code

    def body(self, at: datetime) -> dict[str, Any]:
        milliseconds = int(at.timestamp() * 1000)
        return {
            "__type": self.type_name,
            "Message": f"{self} ({milliseconds})",
            "TurkErrorCode": f"AWS.MechanicalTurk.{self.code}",
        }


class ServiceFault(RequestError):
    """An internal error of the marketplace; the client may retry."""

    type_name = "ServiceFault"

    def __init__(self, message: str) -> None:
        super().__init__(message, "ServiceFault")

    @property
    def status(self) -> int:  # type: ignore[override]
        return settings.MTURK_SERVICE_FAULT_STATUS


class _ParameterError(ApiError):
    type_name = "ParameterValidationError"


def from_domain(error: DomainError) -> ApiError:
    """The API error for a DomainError."""
    if isinstance(error, UnknownWorker):
        return _ParameterError(str(error))
    if isinstance(error, QuestionRefused) and error.code == QuestionRefused.code:
        return RequestError(str(error), "InvalidParameterValue")
    return RequestError(str(error), error.code)
