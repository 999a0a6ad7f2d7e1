"""Botocore's model of the service, which defines requests and responses."""

from functools import cache

import botocore.session
from botocore.model import OperationModel, ServiceModel
from django.core.exceptions import ImproperlyConfigured


@cache
def service() -> ServiceModel:
    """The `mturk` model; raises ImproperlyConfigured if this botocore no longer has it."""
    try:
        return botocore.session.get_session().get_service_model("mturk")
    except botocore.exceptions.UnknownServiceError as error:
        raise ImproperlyConfigured(
            "The installed botocore no longer has the model of Mechanical Turk. Install the "
            "version that requirements.txt pins."
        ) from error


@cache
def operation(name: str) -> OperationModel:
    """The model of one operation."""
    return service().operation_model(name)
