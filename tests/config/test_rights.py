"""Every address of the site with every verb, as each sort of user, against RULES."""

import pytest
from django.db import connection
from django.urls import reverse

from accounts.models import RIGHTS, Right, TeamRole
from tests.config import rules
from tests.config.every_row import BUDGET, NAME, REWARD
from tests.config.rules import RULES, Rule, ask
from tests.factories import CampaignFactory
from tests.routes import ROUTES, address_of, named_addresses

# On both databases: here the statements of each page meet PostgreSQL.
pytestmark = [pytest.mark.django_db, pytest.mark.database]

# Who may do what does not depend on the database, and these two take each statement.
ACCOUNTS = ["researcher", "operator"]
if connection.vendor == "sqlite":
    ACCOUNTS += ["stranger", "outsider", "viewer", "reviewer"]
VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
REFUSED = {401, 403, 404, 405}


def test_every_route_has_a_rule():
    missing, gone = sorted(ROUTES.keys() - RULES), sorted(RULES.keys() - ROUTES)

    assert not missing, (
        f"Add a line to RULES in {rules.__file__} for each of these routes, such as "
        f'"{missing[0]}": team(get=VIEW): {", ".join(missing)}'
    )
    assert not gone, f"Remove these routes from RULES in {rules.__file__}: {', '.join(gone)}"


def is_sign_in(answer) -> bool:
    return answer.status_code == 302 and answer["Location"].startswith("/sign-in/")


def verbs_of(who: str, rule: Rule) -> list[str]:
    """A verb that the rule does not name is refused to everybody, so two try it. HEAD is GET, and a
    researcher tries it in place of GET."""
    named = rule.verbs.keys() - {"HEAD"} or {"GET"}
    if who == "stranger":
        named = {*VERBS}
    elif who == "researcher":
        named = {*VERBS} - ({"GET"} if "HEAD" in rule.verbs else set())
    return [verb for verb in VERBS if verb in named]


@pytest.mark.parametrize("route", sorted(RULES.keys() & ROUTES))
def test_a_route_lets_in_whom_its_rule_names(route, world):
    names, clients = world
    rule, address = RULES[route], address_of(route, names)
    for who in ACCOUNTS:
        for verb in verbs_of(who, rule):
            answer, body = ask(clients[who], verb, address)
            status = answer.status_code
            said = f"{verb} {address} as {who}: {status} {answer.get('Location', '')}"
            assert status < 500, said
            if rule.scope == "public":
                continue
            if who == "stranger":
                assert status == 401 or is_sign_in(answer), said
                continue
            if who == "outsider" and NAME not in address:
                assert NAME not in body, f"{said} shows {NAME}"
            if who == "reviewer" and status == 200:
                shown = [one for one in (BUDGET, "98,765.43", f"${REWARD}") if one in body]
                assert not shown, f"{said} shows {shown}"
            if rule.scope != "account":
                check(rule, who, verb, status, said)


def check(rule: Rule, who: str, verb: str, status: int, said: str) -> None:
    right = rule.verbs.get(verb)
    if right is None:
        # OPTIONS and further verbs of the API say 405, or 403 or 404 before they look at the verb.
        assert status in REFUSED, f"{said}: the rule does not name this verb"
    elif rule.scope == "operators" and who != "operator":
        assert status == 403, f"{said}: this is for operators"
    elif rule.scope == "draft" and who != "researcher":
        assert status in {403, 404}, f"{said}: this is another user's draft"
    elif rule.scope == "team" and who == "outsider":
        assert status == 404, f"{said}: this is another team's"
    elif may(who, right):
        assert status not in REFUSED or (rule.is_missing and status == 404), f"{said}: may"
    else:
        assert status == 403, f"{said}: may not"


def may(who: str, right: Right) -> bool:
    if who in {"operator", "outsider", "researcher"}:
        return True
    return right in RIGHTS[TeamRole(who.upper())]


# Addresses that are there for workers' browsers, for signing in, and for the signed-out.
OPEN_TO_ALL = {
    "login",
    "logout",
    "image-copy",
    "hits:task",
    "hits:told",
    "admin:login",
    "api-token",
    "api-schema",
    "leaderboard:board",
    "leaderboard:sign_up",
    "account:invitation",
    "password_reset",
    "password_reset_done",
    "password_reset_confirm",
    "healthz",
    "readyz",
    "metrics",
}


def test_every_address_asks_the_signed_out_to_sign_in(client):
    CampaignFactory(slug="pilot")
    seen = set()

    for name, arguments in named_addresses():
        if name in OPEN_TO_ALL:
            continue
        answer = client.get(reverse(name, kwargs=arguments))
        asks = answer.status_code == 401 or (
            answer.status_code == 302 and answer.url.startswith(("/sign-in/", "/admin/login/"))
        )
        assert asks, f"{name} answers {answer.status_code}"
        seen.add(name)

    assert {"hits:campaign", "qualcontrol:queue", "annotate:release", "api-release-file"} <= seen
