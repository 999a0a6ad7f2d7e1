"""Who is who: names of own people from a real marketplace, as far as their consent goes."""

import pytest
from bs4 import BeautifulSoup

from hits.models import WorkerAccount
from hits.reconcile.reconciler import reconcile
from tests.factories import NOON, UserFactory, make_campaign
from tests.hits.framed_work import work
from tests.hits.marketplace_process import Person
from tests.hits.own_people import link_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture
def campaign(client, requester):
    found = make_campaign(tasks=2, workers={"who": "own"})
    reconcile(found)
    return found


@pytest.fixture
def page(client, campaign):
    """A function that returns the page's rows and text for a researcher."""

    def shown():
        client.force_login(UserFactory())
        answer = client.get(f"/campaigns/{campaign.slug}/who-is-who/")
        assert answer.status_code == 200
        main = BeautifulSoup(answer.content, "html.parser").select_one("main")
        rows = [[cell.text.strip() for cell in row.select("th, td")] for row in main.select("tr")]
        return rows[1:], " ".join(main.text.split())

    return shown


def test_names_stand_beside_pseudonyms(client, campaign, page):
    link = link_of(campaign, shows_names=True)
    mia, _ = (Person.join(link, f"{name} of {campaign}") for name in ("Mia", "Ben"))
    for _ in range(2):
        work(client, mia, campaign)
    reconcile(campaign)

    rows, _ = page()

    pseudonym = WorkerAccount.objects.get().worker.pseudonym
    assert rows == [
        [f"Ben of {campaign}", "none", "0"],
        [f"Mia of {campaign}", pseudonym, "2"],
    ]
    mia.withdraw()
    rows, text = page()
    assert [row[0] for row in rows] == [f"Ben of {campaign}"]
    assert "1 other person is not named" in text


def test_without_consent_the_page_says_why_there_are_no_names(client, campaign, page):
    Person.join(link_of(campaign), f"Mia of {campaign}")

    rows, text = page()

    assert rows == []
    assert "1 person is not named: the text that they agreed to does not say" in text
    assert "Mia" not in text


def test_a_deleted_id_is_not_found_by_the_name(client, campaign, page):
    mia = Person.join(link_of(campaign, shows_names=True), f"Mia of {campaign}")
    work(client, mia, campaign)
    reconcile(campaign)
    WorkerAccount.objects.update(marketplace_id="deleted:1", id_deleted_at=NOON)

    rows, _ = page()

    assert rows == [[f"Mia of {campaign}", "none", "0"]]


def test_reviewers_see_no_names_and_no_link_to_them(client, campaign):
    client.force_login(UserFactory(team__role="REVIEWER"))

    assert client.get(f"/campaigns/{campaign.slug}/who-is-who/").status_code == 403
    workers = client.get(f"/campaigns/{campaign.slug}/workers/").content.decode()
    assert "who-is-who" not in workers


def test_a_marketplace_that_is_away_is_named(client, campaign, page, settings):
    settings.MARKETPLACE_URL = "http://127.0.0.1:9"

    assert "did not answer" in page()[1]
