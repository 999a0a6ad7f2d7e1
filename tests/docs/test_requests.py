"""Commands and requests in the docs, as they are written there."""

import json
import re
import shlex
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.test import Client

from accounts.api.schema import fields_of, operations_at, query_of
from tests.docs.written import OUR_APPS, check_arguments, commands, lines, page
from tests.factories import CampaignFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
PASSWORD = "a long pass phrase"
# A row of the tables of addresses: where it is, and what it says.
ROW = re.compile(r"^\| (`/api/.*?|`….*?) \| .*? \| (.*) \|$", re.MULTILINE)


@pytest.mark.parametrize("words", [*commands(OUR_APPS)])
def test_a_command_takes_the_arguments_that_the_docs_give_it(words):
    check_arguments(words)


class Curl:
    """A request that a command of curl sends."""

    def __init__(self, line):
        words = iter(shlex.split(line)[1:])
        self.headers, self.fields, self.is_upload, self.method = {}, [], False, ""
        for word in words:
            if word in {"-d", "-F"}:
                self.fields.append(tuple(next(words).split("=", 1)))
                self.is_upload = word == "-F"
            elif word == "-H":
                name, _, text = next(words).partition(": ")
                self.headers[name] = text
            elif word == "-X":
                self.method = next(words)
            else:
                self.url = urlsplit(word)
        self.method = self.method or ("POST" if self.fields else "GET")

    def send(self, **changes):
        """The site's answer; `changes` are fields whose values the docs leave out."""
        form = urlencode({**dict(self.fields), **changes})
        return Client().generic(
            self.method,
            self.url.path,
            form if self.fields else "",
            "application/x-www-form-urlencoded",
            headers=self.headers,
        )


def requests():
    return [Curl(line) for _, line in lines() if line.startswith("curl ") and "/api/" in line]


def test_the_documented_token_opens_the_documented_list():
    user = UserFactory(username="ada")
    user.set_password(PASSWORD)
    user.save()
    CampaignFactory(slug="pilot")
    asks, lists = requests()[:2]

    token = asks.send(password=PASSWORD).json()
    lists.headers["Authorization"] = f"Token {token['token']}"

    assert set(token) == {"token", "expires_at", "scopes"}
    assert token["scopes"] == ["read", "review", "run", "pay"]
    assert [row["slug"] for row in lists.send().json()["results"]] == ["pilot"]


def test_each_documented_request_has_an_operation_that_takes_it():
    asked = requests()

    assert len(asked) >= 3
    for each in asked:
        operation = operations_at(each.url.path)[each.method.lower()]
        assert {name for name, _ in each.fields} <= fields_of(operation), each.url.path


def addresses():
    """The addresses of a row of the tables, and the bodies and parameters that it names."""
    before = ""
    for place, about in ROW.findall(page("api.md")):
        paths = re.findall(r"`(.*?)`", place)
        first = paths[0] if paths[0].startswith("/api/") else before + paths[0].removeprefix("…/")
        if first.endswith("/PSEUDONYM/"):
            before = first
        method = "delete" if about.startswith("DELETE") else "post"
        yield first, method, re.findall(r"`({\".*?})`", about), re.findall(r"`\?(\w+)=", about)


def test_the_bodies_and_parameters_of_the_tables_are_those_of_the_schema():
    seen = 0

    for address, method, bodies, parameters in addresses():
        operations = operations_at(re.sub(r"[A-Z]{2,}", "1", address))
        for body in bodies:
            seen += 1
            assert set(json.loads(body)) <= fields_of(operations[method]), address
        unknown = {*parameters} - query_of(operations.get("get", {})) - {"format"}
        assert unknown == set(), address

    assert seen > 15


def test_the_example_requests_of_the_page_are_answered_in_their_form():
    blocks = re.findall(r"^```\nGET (\S+)\n(.*?)^```", page("api.md"), re.MULTILINE | re.DOTALL)
    client, campaign = Client(), CampaignFactory(slug="demo")
    client.force_login(UserFactory(team=campaign.team))

    assert len(blocks) == 2
    for address, shown in blocks:
        url = urlsplit(address)
        operation = operations_at(url.path)["get"]
        assert {name for name, _ in parse_qsl(url.query)} <= query_of(operation)
        answer = client.get(address)
        assert answer.status_code == 200
        assert set(json.loads(shown)) == set(answer.json())
