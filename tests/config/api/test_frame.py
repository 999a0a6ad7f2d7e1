"""Rules of all addresses of the API: errors, pages, names of fields, and limits."""

import base64
import json
import re
from datetime import timedelta

import pytest
from drf_spectacular.renderers import OpenApiJsonRenderer

from accounts.api.schema import written
from tests.api import problem_of, put
from tests.factories import NOON, CampaignFactory, SelectionFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_an_unknown_campaign_is_a_problem(api):
    problem = problem_of(api.get("/api/campaigns/nothing/"), 404)

    assert (problem["type"], problem["title"], problem["code"]) == (
        "about:blank",
        "Not Found",
        "not_found",
    )


def test_an_address_that_does_not_exist_is_a_problem(api):
    assert "nothing at this address" in problem_of(api.get("/api/nothing/"), 404)["detail"]


def test_a_page_that_does_not_exist_is_still_a_page(client):
    client.force_login(UserFactory())

    assert "text/html" in client.get("/nothing/at/all/").headers["Content-Type"]


def test_a_method_that_an_address_does_not_have_is_a_problem(api):
    answer = api.delete("/api/campaigns/")

    assert problem_of(answer, 405)["code"] == "method_not_allowed"
    assert "GET" in answer.headers["Allow"]


def test_a_request_without_an_account_is_a_problem(client):
    answer = client.get("/api/campaigns/")

    assert problem_of(answer, 401)["code"] == "not_authenticated"
    assert answer.headers["WWW-Authenticate"] == "Token"


@pytest.mark.parametrize("address", ["/api/schema/", "/api/documentation/"])
def test_an_error_is_json_where_other_answers_are_not(api, address):
    assert problem_of(api.post(address), 405)["code"] == "method_not_allowed"
    assert problem_of(api.get(address, headers={"accept": "image/png"}), 406)["detail"]


def test_a_body_of_another_type_is_a_problem(api):
    answer = api.post("/api/campaigns/", "a = 1", content_type="application/toml")

    assert problem_of(answer, 415)["code"] == "unsupported_media_type"


def operations():
    """Each operation of the schema: its method, an address that fits it, and its body's type."""
    for path, methods in json.loads(written(OpenApiJsonRenderer))["paths"].items():
        for method, operation in methods.items():
            (content,) = operation.get("requestBody", {"content": {"application/json": {}}})[
                "content"
            ]
            key = "00000000-0000-0000-0000-000000000001" if "/{key}" in path else "1"
            yield method, re.sub(r"{\w+}", key, path), content


@pytest.mark.parametrize(("method", "address", "content"), [*operations()])
def test_no_address_ignores_a_name_that_it_does_not_have(api, method, address, content):
    send = getattr(api, method)
    if address == "/api/token/" and method == "post":
        del api.defaults["HTTP_AUTHORIZATION"]
    options = {"content_type": content} if content == "application/json" else {}

    asked = send(f"{address}?statuss=DISCARDED", headers={"Accept": "*/*"})
    assert "statuss" in problem_of(asked, 400)["errors"]
    if method == "get":
        return
    body = {"statuss": "DISCARDED"}
    if method == "delete":
        body = json.dumps(body)
    sent = send(address, body, **options)
    problem = problem_of(sent, 400)
    assert "no field of this name" in problem["errors"]["statuss"][0]


@pytest.mark.parametrize("value", ["csv", "json", "api"])
def test_a_format_is_refused_as_other_parameters_are(api, value):
    answer = api.get("/api/selections/", {"format": value})

    assert "format" in problem_of(answer, 400)["errors"]


def test_a_refused_name_is_told_those_that_there_are(api):
    asked = api.get("/api/selections/?splitt=val")

    sentence = problem_of(asked, 400)["detail"]
    assert sentence == (
        "splitt: This address has no query parameter of this name. It takes: cursor, limit, split."
    )


@pytest.mark.parametrize("value", ["yes", "maybe", "2", "tru"])
def test_a_filter_that_is_neither_true_nor_false_is_refused(api, value):
    campaign = CampaignFactory()

    for list_, name in [("tasks", "unfinished"), ("spot-checks", "open"), ("appeals", "open")]:
        answer = api.get(f"/api/campaigns/{campaign.slug}/{list_}/?{name}={value}")
        assert problem_of(answer, 400)["errors"] == {name: ["Use true or false."]}


def test_a_field_of_another_kind_of_import_is_refused(api):
    fields = {"kind": "own", "split": "mine", "base_url": "https://images.example.org"}

    problem = problem_of(api.post("/api/imports/", fields), 400)

    assert "own does not take" in problem["errors"]["base_url"][0]


def test_a_body_that_is_a_form_is_refused_rather_than_read_in_part(api):
    campaign = CampaignFactory()

    answer = api.post(f"/api/campaigns/{campaign.slug}/budget/", {"amount": "5.00"})

    assert answer.status_code == 415


@pytest.mark.parametrize("debug", [False, True])
def test_a_request_without_the_last_slash_keeps_its_method_and_body(api, settings, debug):
    settings.DEBUG = debug
    SelectionFactory(name="scenes", images=2)
    file = {"name": "pilot", "selection": "scenes", "budget": "20.00", "references": 2}

    sent = api.post("/api/campaigns", file, content_type="application/json")
    followed = api.post("/api/campaigns", file, content_type="application/json", follow=True)

    assert (sent.status_code, sent.headers["Location"]) == (308, "/api/campaigns/")
    assert followed.status_code == 201


def test_a_change_that_is_not_possible_names_the_kind_of_error(api):
    campaign = CampaignFactory(status="FINISHED")

    problem = problem_of(api.post(f"/api/campaigns/{campaign.slug}/pause/"), 409)

    assert problem["code"] == "cannot_move"
    assert "cannot become paused" in problem["detail"]


def test_a_wrong_field_is_named(api):
    campaign = CampaignFactory()

    answer = put(api, campaign, "much", "k")

    problem = problem_of(answer, 400)
    assert problem["errors"] == {"amount": ["A valid number is required."]}
    assert problem["detail"] == "amount: A valid number is required."


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"amount": NaN}', "not a value of JSON"),
        (b'{"amount": 1e999}', "too large"),
        (b'{"amount": "\\u0000"}', "cannot be stored"),
        (b'{"\\ud800": 1}', "cannot be stored"),
    ],
)
def test_a_body_that_is_not_usable_json_is_a_problem(api, body, message):
    campaign = CampaignFactory()

    answer = api.post(
        f"/api/campaigns/{campaign.slug}/budget/", body, content_type="application/json"
    )

    assert message in problem_of(answer, 400)["detail"]


def test_a_body_that_is_too_large_is_a_problem(api, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000

    answer = api.post("/api/campaigns/", {"name": "x" * 1000}, content_type="application/json")

    assert problem_of(answer, 413)["code"] == "too_large"


@pytest.mark.parametrize("limit", ["0", "501", "many", "-1", "1.5", "", "9" * 30])
def test_a_page_has_one_to_five_hundred_rows(api, limit):
    answer = api.get("/api/campaigns/", {"limit": limit})

    assert "limit" in problem_of(answer, 400)["errors"]


@pytest.mark.parametrize(
    "position", ["o=1", "p=noon", "p=%00", "p=" + "9" * 99, "p=0001-01-01T00%3A00%2B14%3A00"]
)
def test_a_made_up_cursor_does_no_harm(api, position):
    CampaignFactory()
    cursor = base64.b64encode(position.encode()).decode()

    answer = api.get("/api/campaigns/", {"cursor": cursor})

    assert answer.status_code in {200, 400}


@pytest.mark.parametrize("cursor", ["abc", "\N{SNOWMAN}"])
def test_a_cut_or_foreign_cursor_is_a_wrong_parameter(api, cursor):
    answer = api.get("/api/campaigns/", {"cursor": cursor})

    assert "cursor" in problem_of(answer, 400)["errors"]


def test_lists_are_paged_by_cursor_without_gap_or_repeat(api):
    made = [CampaignFactory(created_at=NOON + timedelta(hours=n // 2)).slug for n in range(7)]

    seen, address = [], "/api/campaigns/?limit=2"
    while address:
        page = api.get(address).json()
        seen += [row["slug"] for row in page["results"]]
        address = page["next"]

    assert page["count"] == 7
    assert seen == made[::-1]


def test_a_token_reads_no_more_often_than_the_site_allows(api, settings):
    settings.API_READS_PER_MINUTE = 2

    # The fixture has read once.
    first, second = api.get("/api/campaigns/"), api.get("/api/campaigns/")

    assert first.status_code == 200
    assert problem_of(second, 429)["code"] == "throttled"
    assert 0 < int(second.headers["Retry-After"]) <= 60
    assert api.post("/api/campaigns/").status_code != 429


def test_a_token_writes_no_more_often_than_the_site_allows(api, settings):
    settings.API_WRITES_PER_MINUTE = 1
    campaign = CampaignFactory()

    first, second = (put(api, campaign, "1.00", key) for key in "ab")

    assert (first.status_code, second.status_code) == (200, 429)


def test_a_limit_of_zero_is_no_limit(api, settings):
    settings.API_READS_PER_MINUTE = 0

    assert {api.get("/api/").status_code for _ in range(10)} == {200}
