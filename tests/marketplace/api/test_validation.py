"""The installed botocore still has MTurk's service model."""

import boto3
import botocore
import botocore.session
import pytest
from botocore.loaders import Loader
from django.core.exceptions import ImproperlyConfigured

from marketplace.api import validation


def test_the_pinned_botocore_still_has_the_client_of_mechanical_turk():
    assert "mturk" in boto3.Session().get_available_services(), (
        f"botocore {botocore.__version__} has no mturk model any more. Pin boto3 and botocore to "
        "the last versions that have it, in requirements.in and in docs/marketplace.md."
    )


def test_the_marketplace_says_what_to_install_when_the_model_is_gone(monkeypatch):
    session = botocore.session.Session()
    session.register_component("data_loader", Loader(include_default_search_paths=False))
    monkeypatch.setattr(botocore.session, "get_session", lambda: session)
    validation.service.cache_clear()
    try:
        with pytest.raises(ImproperlyConfigured, match="the version that requirements.txt pins"):
            validation.service()
    finally:
        validation.service.cache_clear()
