"""The schema of the API describes every address and property."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from tests.factories import (
    UserFactory,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def test_the_schema_is_made_without_a_warning_and_names_every_address(tmp_path):
    file = tmp_path / "schema.json"
    errors = StringIO()

    call_command(
        "spectacular",
        file=str(file),
        format="openapi-json",
        validate=True,
        fail_on_warn=True,
        stderr=errors,
    )

    paths = json.loads(file.read_text())["paths"]
    assert {
        "/api/campaigns/",
        "/api/campaigns/{slug}/",
        "/api/campaigns/{slug}/responses/",
        "/api/releases/",
        "/api/releases/{name}/",
        "/api/releases/{name}/{file}",
        "/api/token/",
    } <= set(paths)
    assert reverse("api-schema") == "/api/schema/"


def undescribed(schema, place):
    """The properties of the schema that have no description, those inside others too."""
    for name, value in schema.get("properties", {}).items():
        if not value.get("description"):
            yield f"{place}.{name}"
        yield from undescribed(value, f"{place}.{name}")
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            yield from undescribed(schema[part], f"{place}[]")


def test_everything_in_the_schema_is_described(client):
    schema = client.get("/api/schema/?format=json").json()
    missing, tags = [], set()

    for name, component in schema["components"]["schemas"].items():
        missing += undescribed(component, name)
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            place = f"{method} {path}"
            tags |= {*operation["tags"]}
            missing += [] if operation.get("description", ".") != "." else [place]
            for each in operation.get("parameters", []):
                missing += [] if each.get("description") else [f"{place}: {each['name']}"]
            for each in operation.get("requestBody", {}).get("content", {}).values():
                missing += undescribed(each["schema"], place)

    assert missing == []
    assert {tag["name"] for tag in schema["tags"] if tag["description"]} == tags
    assert [each["url"] for each in schema["servers"]] == ["/"]
    assert '"default"' not in json.dumps(schema)


@pytest.mark.django_db(transaction=True)
def test_several_readers_get_the_schema_at_once():
    user = UserFactory()

    def read(_):
        client = Client()
        client.force_login(user)
        return client.get("/api/schema/").status_code

    assert at_once(read, range(8)) == 8 * [200]
