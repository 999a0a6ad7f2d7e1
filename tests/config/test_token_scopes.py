"""Every address of the API with tokens of each scope: a token never does more than its scopes and
its account's role allow. RULES says which right each verb needs."""

from itertools import product
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import RIGHTS, ApiToken, Right, Scope, Team, TeamRole
from accounts.services.api_tokens import issue_token
from tests.config.every_row import NAME
from tests.config.rules import RULES, ask
from tests.factories import UserFactory
from tests.routes import address_of

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

OF_ROWS = {name: rule for name, rule in RULES.items() if name.startswith("api-") and rule.verbs}
# Not a right of the account alone: what a token adds to its account with this verb.
WRITES = {"POST", "PUT", "PATCH", "DELETE"}


def client_with(user, *scopes) -> Client:
    _, text = issue_token(user=user, scopes=scopes, at=timezone.now())
    return Client(headers={"Authorization": f"Token {text}"}, raise_request_exception=True)


def needed_scope(route, verb, right):
    # Everybody may submit to a challenge, but not with a token that only reads.
    is_write_of_viewers = verb in WRITES and right == Right.VIEW
    return Scope.RUN if is_write_of_viewers else Scope.for_right(right)


@pytest.fixture(scope="module")
def tokens(shared_world):
    """For each role in the team and each scope, a client with it alone, and one with all others."""
    team = Team.objects.get(slug=f"{NAME}-team")
    users = {role: UserFactory(team=team, team__role=role) for role in TeamRole}
    return {
        (role, scope): (client_with(user, scope), client_with(user, *set(Scope) - {scope}))
        for role, user in users.items()
        for scope in Scope
    }


@pytest.mark.parametrize("route", sorted(OF_ROWS))
def test_a_token_does_what_its_scopes_and_its_role_allow(route, world, tokens):
    names, _ = world
    address = address_of(route, names)
    for role, (verb, right) in product(TeamRole, OF_ROWS[route].verbs.items()):
        needed = needed_scope(route, verb, right)
        with_it, with_all_others = tokens[role, needed]
        if needed != Scope.READ:
            refused, _ = ask(with_all_others, verb, address)
            said = f"{verb} {address} as {role} without {needed}: {refused.status_code}"
            assert refused.status_code == 403, said
            assert verb == "HEAD" or f"the scope {needed.value}" in refused.json()["detail"], said
        answer, _ = ask(with_it, verb, address)
        said = f"{verb} {address} as {role} with {needed}: {answer.status_code}"
        if right in RIGHTS[role]:
            assert answer.status_code not in {401, 403}, said
        else:
            assert answer.status_code == 403, said


def test_a_token_that_reads_is_told_which_scope_it_lacks(world):
    names, _ = world
    reader = client_with(UserFactory(team=False, is_superuser=True))

    answer = reader.post(f"/api/campaigns/{names['slug']}/pause/")

    assert answer.status_code == 403
    assert answer.json()["detail"] == (
        "This request needs a token with the scope run. Yours has: read. Create another token."
    )


def test_a_token_made_without_a_choice_has_all_scopes_and_read_is_always_there():
    user = UserFactory()

    every, _ = issue_token(user=user, at=timezone.now())
    some, _ = issue_token(user=user, scopes=["pay"], at=timezone.now())

    assert every.scopes == ["read", "review", "run", "pay"]
    assert some.scopes == ["read", "pay"]


def test_the_page_and_the_address_of_tokens_take_scopes(client):
    ada = UserFactory(username="ada")
    ada.set_password("a long pass phrase")
    ada.save()
    fields = {"username": "ada", "password": "a long pass phrase", "scopes": ["review"]}

    given = client.post("/api/token/", fields).json()
    odd = client.post("/api/token/", {**fields, "scopes": ["everything"]})
    client.force_login(ada)
    client.post("/account/tokens/", {"name": "pay", "days": 1, "scopes": ["pay"]})
    page = client.get("/account/tokens/").content.decode()

    assert given["scopes"] == ["read", "review"]
    assert odd.status_code == 400
    assert ApiToken.objects.get(name="pay").scopes == ["read", "pay"]
    assert "read, pay" in page


def test_an_unknown_address_says_nothing_of_scopes():
    reader = client_with(UserFactory())

    assert reader.get(f"/api/jobs/{uuid4()}/").status_code == 404
