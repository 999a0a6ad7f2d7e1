"""A signed-in researcher, and a draft of theirs."""

import pytest

from annotate.services.drafts import begin_draft
from tests.factories import NOON, UserFactory


@pytest.fixture
def user():
    return UserFactory()


@pytest.fixture
def signed_in(client, user):
    client.force_login(user)
    return client


@pytest.fixture
def draft(user):
    return begin_draft(owner=user, file={}, at=NOON)
