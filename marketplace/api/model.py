"""Botocore's own model of the service: what requests must look like, and answers do."""

from functools import cache

import botocore.session
from botocore.model import OperationModel, ServiceModel
from django.core.exceptions import ImproperlyConfigured


@cache
def service() -> ServiceModel:
    """The `mturk` model; raises ImproperlyConfigured where this botocore has dropped it."""
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
