"""Schemathesis: requests made from the schema get only answers that the schema describes."""

from itertools import count
from typing import Any

import pytest
import schemathesis
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accounts.services.api_tokens import issue_token
from tests.factories import (
    CampaignFactory,
    ImageFactory,
    ResponseFactory,
    SelectionFactory,
    SpotCheckFactory,
    TaskFactory,
    TeamFactory,
    UserFactory,
)
from tests.servers import PATIENCE

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    pytest.mark.one_database,
]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# A role that may change much comes late: the others meet the rows before.
ROLES = ("stranger", "outsider", "viewer", "reviewer", "researcher", "operator")
# Requests of a researcher for each operation. The others send the first one, about a row that
# exists.
EXAMPLES = 4
CREATE = ("POST", "/api/campaigns/")
KEY = "Idempotency-Key"
FILE = {
    "kind": "caption",
    "preset": "nocaps",
    "selection": "scenes",
    "release": None,
    "caption_set": None,
    "budget": "50.00",
}
# It would end the test's own token.
LEFT_OUT = {("DELETE", "/api/token/")}


@pytest.fixture
def known(requester):
    """Path parameters of rows that exist."""
    selection = SelectionFactory(name="scenes", images=[ImageFactory(split="s")])
    campaign = CampaignFactory(slug="pilot", selection=selection, budget="50.00")
    task = TaskFactory(campaign=campaign)
    response = ResponseFactory(task=task)
    SpotCheckFactory(response=response)
    return {
        "slug": "pilot",
        "pseudonym": response.worker.pseudonym,
        "key": str(response.key),
        "name": "scenes",
    }


def account(role):
    """A user with this role; an outsider is a researcher of another team."""
    if role == "operator":
        return UserFactory(is_superuser=True)
    if role == "outsider":
        return UserFactory(team=TeamFactory())
    return UserFactory(team__role=role.upper())


def headers_of(role):
    if role == "stranger":
        return {}
    _, text = issue_token(user=account(role), at=timezone.now())
    return {"Authorization": f"Token {text}"}


def test_every_answer_is_one_that_the_schema_describes(live_server, known, settings):
    settings.API_READS_PER_MINUTE = settings.API_WRITES_PER_MINUTE = 0
    headers = {role: headers_of(role) for role in ROLES}
    schema = schemathesis.openapi.from_url(
        f"{live_server.url}/api/schema/?format=json", timeout=PATIENCE
    )
    schema.config.update(base_url=live_server.url)

    for found in schema.get_all_operations():
        operation = found.ok()
        address = (operation.method.upper(), operation.path)
        if address not in LEFT_OUT:
            check(operation, headers, known)
        if address == CREATE:
            for role in ROLES:
                created = create_campaigns(operation, role, headers[role])
                assert bool(created) is (role in {"operator", "researcher"}), role


def create_campaigns(operation: Any, role: str, headers: dict[str, str]) -> int:
    """Send campaign files that are valid by the schema; return how many made a campaign.

    Some break rules that a schema cannot say, and the site must refuse these in its documented
    way. The first one is as short as possible, so it must be accepted.
    """
    statuses = []

    @settings(max_examples=4, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy())
    def send(case: Any) -> None:
        sections = case.body if statuses and isinstance(case.body, dict) else {}
        number = len(statuses)
        case.body = {**sections, **FILE, "name": f"{role}-{number}"}
        case.headers = {name: text for name, text in (case.headers or {}).items() if name != KEY}
        statuses.append(case.call_and_validate(checks=CHECKS, headers=headers).status_code)

    send()
    return statuses.count(201)


def check(operation: Any, headers: dict[str, dict[str, str]], known: dict[str, str]) -> None:
    """Send a fixed number of requests made from the schema; fails at an unexpected answer."""
    made = count()

    @settings(
        max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(), exists=st.sampled_from([True, False]))
    def send(case: Any, exists: bool) -> None:
        if exists:
            for name in set(case.path_parameters or {}) & set(known):
                case.path_parameters[name] = known[name]
        for role in ROLES if next(made) == 0 else ("researcher",):
            case.call_and_validate(checks=CHECKS, headers=headers[role])

    send()
