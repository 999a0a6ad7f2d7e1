"""One sign-in for both sites: what the requester site tells the marketplace, and whom."""

from urllib.parse import parse_qs, urlsplit

import pytest

from hits.mturk import people
from hits.mturk.people import Described, NoPeople
from shared import hand_over
from shared.hand_over import SignedIn
from tests.factories import UserFactory, make_campaign
from tests.hits.framed_work import published
from tests.hits.own_people import TEXTS

pytestmark = pytest.mark.django_db

STATE = "A" * 32


@pytest.fixture(autouse=True)
def both_sites(settings):
    settings.HAND_OVER_SECRET = "a secret of both sites, and of nobody else"
    settings.MARKETPLACE_URL = "https://marketplace.example"
    settings.MTURK_ENDPOINT = "local"


@pytest.mark.parametrize("is_operator", [True, False])
def test_the_marketplace_alone_is_told_who_is_signed_in(client, is_operator):
    client.force_login(UserFactory(username="karin", is_superuser=is_operator))

    answer = client.get("/hand-over/", {"state": STATE, "next": "https://evil.example/"})

    parts = urlsplit(answer.url)
    assert (parts.netloc, parts.path) == ("marketplace.example", "/operator/hand-over/end")
    [text] = parse_qs(parts.query)["text"]
    told = hand_over.read(text, to="https://marketplace.example", state=STATE)
    assert told == SignedIn("karin", is_operator=is_operator, has_second_factor=False)
    assert "no-store" in answer["Cache-Control"]


def test_strangers_sign_in_first_and_come_back(client):
    answer = client.get("/hand-over/", {"state": STATE})

    assert answer.url.startswith("/sign-in/?next=")
    assert STATE in answer.url


@pytest.mark.parametrize(
    "state", ["", "A" * 31, "A" * 31 + "\n", "https://evil.example/aaaaaaaaaaa"]
)
def test_a_state_that_no_marketplace_made_is_not_answered(client, state):
    client.force_login(UserFactory())

    assert client.get("/hand-over/", {"state": state}).status_code == 404


@pytest.mark.parametrize("change", [{"HAND_OVER_SECRET": ""}, {"MTURK_ENDPOINT": "production"}])
def test_nothing_is_handed_over_without_a_secret_or_to_amazon(client, settings, change):
    for name, value in change.items():
        setattr(settings, name, value)
    client.force_login(UserFactory())

    assert client.get("/hand-over/", {"state": STATE}).status_code == 404


@pytest.fixture
def campaign(requester):
    return published(tasks=1, workers={"who": "own"})


@pytest.mark.django_db(transaction=True)
def test_a_campaign_leads_to_its_group_at_the_marketplace(client, campaign, settings, requester):
    group = people.make_group(campaign, {**TEXTS, "name": f"Group of {campaign}"})
    client.force_login(UserFactory())
    url = f"/campaigns/{campaign.slug}/marketplace/"

    signed_in = urlsplit(client.get(url).url)
    settings.HAND_OVER_SECRET = ""
    plain = client.get(url).url

    assert signed_in.path == "/operator/hand-over"
    assert parse_qs(signed_in.query)["next"] == [f"/operator/people/{group.id}"]
    assert plain == group.page


def test_a_marketplace_without_such_pages_is_said(client, monkeypatch):
    def none(*_):
        raise NoPeople("The marketplace has no groups of people.")

    campaign = make_campaign(tasks=1)
    client.force_login(UserFactory())
    monkeypatch.setattr(people, "hit_types", lambda _: ["TYPE"])
    monkeypatch.setattr(people, "describe", none)

    answer = client.get(f"/campaigns/{campaign.slug}/marketplace/", follow=True)

    assert "The marketplace has no groups of people." in answer.content.decode()


def test_a_page_elsewhere_is_not_handed_over_to(client, monkeypatch):
    campaign = make_campaign(tasks=1)
    client.force_login(UserFactory())
    monkeypatch.setattr(people, "hit_types", lambda _: ["TYPE"])
    elsewhere = Described(
        page="https://marketplace.example.evil/operator/", withdrawn=0, members=[]
    )
    monkeypatch.setattr(people, "describe", lambda *_: elsewhere)

    answer = client.get(f"/campaigns/{campaign.slug}/marketplace/")

    assert "hand-over" not in answer.url
