"""The pages that submitters, researchers and strangers may open."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.urls import reverse
from django.utils import timezone

from accounts.services.api_tokens import issue_token
from leaderboard.models import Submitter
from leaderboard.services.challenges import hide_board, publish_board
from tests.factories import CampaignFactory, UserFactory
from tests.leaderboard.making import NOON, make_challenge, make_submission, make_submitter
from tests.routes import EXAMPLES, named_addresses

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

# What a submitter may open, besides what needs no sign-in. Everything else is refused.
OPEN_TO_SUBMITTERS = {
    "account:password",
    "account:second_factor",
    "account:tokens",
    "account:withdraw_token",
    "leaderboard:challenges",
    "leaderboard:challenge",
    "leaderboard:images",
    "leaderboard:board",
    "leaderboard:sign_up",
    "api-token",
    "api-schema",
    "api-challenge-list",
    "api-challenge-detail",
    "api-challenge-images",
    "api-challenge-submissions",
    "api-challenge-submission",
    "api-challenge-board",
}
NO_SIGN_IN = {
    "login",
    "logout",
    "password_reset",
    "password_reset_done",
    "password_reset_confirm",
    "image-copy",
    "hits:task",
    "hits:told",
    "admin:login",
    "healthz",
    "readyz",
    "metrics",
}
VERBS = ("get", "post", "put", "patch", "delete")


@pytest.fixture
def grace(challenge):
    CampaignFactory(slug="pilot")
    return make_submitter()


def refused():
    """The addresses that submitters may not open, with example arguments."""
    return [
        (name, reverse(name, kwargs=arguments))
        for name, arguments in named_addresses()
        if name not in OPEN_TO_SUBMITTERS | NO_SIGN_IN
    ]


@pytest.mark.parametrize("verb", ["get", "post"])
def test_a_submitter_who_is_signed_in_sees_nothing_else(client, grace, verb):
    client.force_login(grace)
    seen = set()

    for name, address in refused():
        answer = getattr(client, verb)(address)
        if name == "hits:campaigns":
            assert answer.url == "/challenges/"
        elif name.startswith("admin:"):
            assert answer.status_code in {302, 403}, name
        else:
            assert answer.status_code == 403, f"{name} answers {answer.status_code}"
        seen.add(name)

    assert {"hits:campaign", "annotate:release", "media", "api-release-file"} <= seen
    assert {"leaderboard:manage", "leaderboard:csv", "leaderboard:new"} <= seen


@pytest.mark.parametrize("verb", VERBS)
def test_a_submitters_token_opens_nothing_else(client, grace, verb):
    _, text = issue_token(user=grace, at=timezone.now())
    addresses = [(name, url) for name, url in refused() if url.startswith("/api/")]

    answers = {
        name: getattr(client, verb)(url, headers={"Authorization": f"Token {text}"}).status_code
        for name, url in addresses
    }

    assert {"api-campaign-list", "api-campaign-responses", "api-release-file"} <= answers.keys()
    assert set(answers.values()) == {403}


def test_a_submitter_may_use_the_account_pages_and_withdraw_a_token(client, grace):
    _, text = issue_token(user=grace, at=timezone.now())
    client.force_login(grace)

    assert client.get("/account/tokens/").status_code == 200
    assert client.get("/account/password/").status_code == 200
    header = {"Authorization": f"Token {text}"}
    assert client.delete("/api/token/", headers=header).status_code == 204


def test_every_example_address_of_the_evaluation_server_is_tried():
    names = {name for name, _ in named_addresses()}

    assert names >= OPEN_TO_SUBMITTERS
    assert EXAMPLES["name"] == "v1"


def test_a_submitter_sees_no_link_to_a_campaign(client, grace):
    client.force_login(grace)

    page = client.get("/challenges/").content.decode()

    assert "Campaigns</a>" not in page
    assert "Releases</a>" not in page
    assert "Marketplace:" not in page
    assert "Challenges</a>" in page


def test_a_private_board_is_for_researchers_and_a_published_one_for_everybody(client, challenge):
    stranger, submitter, researcher = type(client)(), type(client)(), client
    submitter.force_login(make_submitter())
    researcher.force_login(UserFactory())

    def statuses():
        everybody = (stranger, submitter, researcher)
        return [each.get("/challenges/kites/board/").status_code for each in everybody]

    assert statuses() == [404, 404, 200]
    assert submitter.get("/api/challenges/kites/board/").status_code == 404
    publish_board(challenge=challenge, at=NOON)
    assert statuses() == [200, 200, 200]
    assert submitter.get("/api/challenges/kites/board/").status_code == 200
    hide_board(challenge=challenge)
    assert statuses() == [404, 404, 200]


def test_a_public_board_is_limited_for_each_address(client, challenge, settings):
    settings.PUBLIC_READS_PER_MINUTE = 2
    publish_board(challenge=challenge, at=NOON)
    researcher = type(client)()
    researcher.force_login(UserFactory())

    answers = [client.get("/challenges/kites/board/") for _ in range(3)]
    other = client.get("/challenges/kites/board/", REMOTE_ADDR="192.0.2.9")

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].headers["Retry-After"] == "60"
    assert other.status_code == 200
    for _ in range(3):
        assert researcher.get("/challenges/kites/board/").status_code == 200


def test_a_challenge_is_hidden_from_submitters_until_it_opens(client, release):
    later = timezone.now() + timedelta(days=1)
    make_challenge(release, name="later", opens_at=later)
    client.force_login(make_submitter())

    assert "/challenges/later/" not in client.get("/challenges/").content.decode()
    for address in (
        "/challenges/later/",
        "/challenges/later/images.json",
        "/api/challenges/later/",
    ):
        assert client.get(address).status_code == 404


def test_a_submitter_sees_only_their_own_submissions(client, challenge, results):
    other = make_submission(challenge, make_submitter("ada"), results(), method="Adanet")
    client.force_login(make_submitter("grace"))

    assert "Adanet" not in client.get("/challenges/kites/").content.decode()
    assert client.get("/api/challenges/kites/submissions/").json()["count"] == 0
    assert client.get(f"/api/challenges/kites/submissions/{other.pk}/").status_code == 404


SIGN_UP = {"name": "grace", "team": "Team Grace", "password": "a long pass phrase"}


def test_nobody_can_sign_up_unless_the_site_allows_it(client):
    assert settings.SUBMITTERS_MAY_SIGN_UP is False
    assert client.get("/challenges/sign-up/").status_code == 404
    assert client.post("/challenges/sign-up/", SIGN_UP).status_code == 404
    assert "create an account" not in client.get("/sign-in/").content.decode()


def test_a_person_who_signs_up_is_a_submitter(client, settings, challenge):
    settings.SUBMITTERS_MAY_SIGN_UP = True
    assert "create an account" in client.get("/sign-in/").content.decode()

    answer = client.post("/challenges/sign-up/", SIGN_UP)
    client.post("/sign-in/", {"username": "grace", "password": "a long pass phrase"})

    assert answer.url == "/sign-in/"
    assert client.session[SESSION_KEY]
    assert Submitter.objects.get().team == "Team Grace"
    assert client.get("/campaigns/pilot/").status_code == 403


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": "ada"}, "The name ada is in use"),
        ({"name": "ADA"}, "The name ADA is in use"),
        ({"name": "\N{CYRILLIC SMALL LETTER A}da"}, "unaccented"),
        ({"name": "two words"}, "Enter a valid username"),
        ({"password": "12345"}, "too short"),
        ({"password": "password1"}, "too common"),
        ({"team": ""}, "required"),
    ],
)
def test_a_wrong_sign_up_is_refused_with_the_reason(client, settings, changes, reason):
    settings.SUBMITTERS_MAY_SIGN_UP = True
    UserFactory(username="ada")

    answer = client.post("/challenges/sign-up/", SIGN_UP | changes)

    assert answer.status_code == 422
    assert reason in answer.content.decode()
    assert not Submitter.objects.exists()


def test_an_address_may_create_five_accounts_a_day(client, settings):
    settings.SUBMITTERS_MAY_SIGN_UP = True

    def sign_up(number, address="192.0.2.1"):
        fields = SIGN_UP | {"name": f"team{number}"}
        return client.post("/challenges/sign-up/", fields, REMOTE_ADDR=address).status_code

    assert [sign_up(number) for number in range(6)] == [302] * 5 + [422]
    assert sign_up(7, address="192.0.2.2") == 302
    Submitter.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert sign_up(8) == 302
    # As by a clock that was ahead.
    Submitter.objects.update(created_at=timezone.now() + timedelta(days=2))
    assert sign_up(9) == 302


def test_the_address_of_an_account_is_not_stored_in_plain(client, settings):
    settings.SUBMITTERS_MAY_SIGN_UP = True

    client.post("/challenges/sign-up/", SIGN_UP, REMOTE_ADDR="192.0.2.1")

    assert "192.0.2.1" not in Submitter.objects.get().address
