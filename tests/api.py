"""A client of the requester site's API, and what tests send with it."""

from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from PIL import Image as Picture

from accounts.services.api_tokens import issue_token
from tests.factories import UserFactory


@pytest.fixture
def api(client):
    """A client of the API that uses a token, like a script."""
    _, text = issue_token(user=UserFactory(), at=timezone.now())
    client.defaults["HTTP_AUTHORIZATION"] = f"Token {text}"
    # The first use in an hour is noted, which would be one more query.
    client.get("/api/")
    return client


def photograph(name="park.jpg", colour="red"):
    content = BytesIO()
    Picture.new("RGB", (32, 24), colour).save(content, "JPEG")
    return SimpleUploadedFile(name, content.getvalue(), "image/jpeg")


def send(api, address, **fields):
    return api.post(address, fields, content_type="application/json")
