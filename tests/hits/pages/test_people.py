"""Inviting people, and their names: a campaign's group at a real marketplace."""

from decimal import Decimal

import pytest
import requests
from bs4 import BeautifulSoup
from django.utils import timezone

from annotate.models import Campaign
from hits.models import WorkerAccount
from hits.mturk import people
from hits.mturk.connection import MarketplaceError
from hits.reconcile.reconciler import reconcile
from hits.services.lifecycle import change_reward
from tests.factories import NOON, ImageFactory, TeamFactory, UserFactory, make_campaign
from tests.hits.framed_work import published, work
from tests.hits.marketplace_process import Person
from tests.hits.own_people import TEXTS, link_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture
def campaign(requester):
    return published(tasks=4, workers={"who": "own"})


@pytest.fixture
def page(client, campaign):
    """The page's address, for a signed-in researcher."""
    client.force_login(UserFactory(is_superuser=True, email="lab@university.example"))
    return f"/campaigns/{campaign.slug}/invite/"


def shown(client, page):
    return BeautifulSoup(client.get(page).content, "html.parser")


def values_of(form):
    fields = form.select("input[name], textarea[name]")
    return {each["name"]: each.get("value", each.text.strip()) for each in fields}


def make_link(client, page, **texts):
    form = shown(client, page).select_one("main details form")
    answer = client.post(page, {**values_of(form), **texts})
    assert answer.status_code == 302, answer.content.decode()
    return shown(client, page).select_one("section a code").text


def test_one_press_makes_a_link_by_which_people_find_the_tasks(client, campaign, page):
    link = make_link(client, page)

    welcome = requests.get(link, timeout=20).text
    [group] = people.groups_of(campaign)
    assert "lab@university.example" in welcome
    assert "I agree to take part." in welcome
    assert [tasks.hit_type_id for tasks in group.tasks] == [campaign.hit_types.get().hit_type_id]


def test_others_get_a_qr_code_and_of_a_link_of_this_computer_what_to_start_instead(
    client, page, monkeypatch
):
    make_link(client, page)
    here = shown(client, page)
    monkeypatch.setattr("hits.pages.people.LOOPBACK_HOSTS", ())
    on_a_server = shown(client, page)

    assert "Only this computer can open this link." in here.text
    assert "docker compose --file deploy/compose.yaml up" in here.text
    assert not here.select("img.qr")
    assert "Only this computer" not in on_a_server.text
    assert on_a_server.select_one("img.qr")["src"].startswith("data:image/svg+xml")


def test_mail_is_not_offered_by_a_marketplace_that_sends_none(client, page):
    make_link(client, page)

    assert "Mail the link" not in shown(client, page).text


def test_texts_that_people_read_name_no_account_and_no_first_team(client, page):
    client.force_login(UserFactory(is_superuser=True, username="admin", email=""))

    values = values_of(shown(client, page).select_one("main details form"))

    assert values["organizer"] == "The person who sent you the link"
    assert values["contact"] == "the person who sent you the link"  # after “Ask”


def test_the_texts_are_in_the_campaigns_language(client, page):
    client.force_login(UserFactory(is_superuser=True, email=""))
    campaign = Campaign.objects.get()
    campaign.config_json["language"] = "de"
    campaign.save()

    values = values_of(shown(client, page).select_one("main details form"))

    assert values["organizer"] == "Die absendende Person des Links"
    assert values["consent"].startswith("Die Teilnahme ist freiwillig.")
    assert values["consent"].endswith("bin mit der Teilnahme einverstanden.")


def test_the_page_counts_again_by_itself_and_keeps_what_it_has(client, page, settings):
    make_link(client, page)
    polled = shown(client, page).select_one("#needed")
    joined = shown(client, page).select_one(polled["hx-select-oob"])
    settings.MARKETPLACE_URL = "http://127.0.0.1:9"

    again = client.get(page, headers={"HX-Request": "true"})

    assert polled["hx-get"] == page
    assert "0 people have joined" in " ".join(joined.text.split())
    assert again.status_code == 204


def test_too_few_people_are_told_where_others_are_invited_whatever_the_latest_sync_counted(
    client, campaign, page
):
    link = make_link(client, page)
    wanted = campaign.config.wanted

    campaign.syncs.update(people_missing=0)
    Person.join(link, f"Ada of {campaign}")
    one = shown(client, page).select_one("#needed").text
    campaign.syncs.update(people_missing=1)
    for number in range(1, wanted):
        Person.join(link, f"Ada {number} of {campaign}")
    enough = shown(client, page).select_one("#needed").text

    assert f"invite at least {wanted - 1} more" in one
    assert not enough.strip()


def test_the_page_counts_what_came_and_leads_to_what_is_next(client, campaign, page):
    link = make_link(client, page)
    work(client, Person.join(link, f"Ada of {campaign}"), campaign)
    reconcile(campaign)

    polled = shown(client, page).select_one("#needed")

    wanted = 4 * campaign.config.wanted
    assert f"1 of {wanted} wanted captions have been submitted." in " ".join(polled.text.split())
    assert polled.select_one("a")["href"] == campaign.get_absolute_url()


def test_a_name_that_is_taken_is_refused_at_its_field(client, page):
    make_link(client, page, name="Our class")

    form = shown(client, page).select_one("main details form")
    answer = client.post(page, {**values_of(form), "name": "Our class"})

    assert answer.status_code == 422
    assert "There is a group called" in answer.content.decode()


def test_a_group_has_its_tasks_although_the_answer_was_lost(client, campaign, page, monkeypatch):
    send = people._send

    def lose(campaign, method, *given):
        answer = send(campaign, method, *given)
        if method == "POST":
            raise MarketplaceError("The answer was lost.")
        return answer

    form = shown(client, page).select_one("main details form")
    with monkeypatch.context() as patch:
        patch.setattr(people, "_send", lose)
        answer = client.post(page, values_of(form))

    assert "The answer was lost." in answer.content.decode()
    assert shown(client, page).select_one("section a code")
    assert len(people.groups_of(campaign)) == 1


def test_a_group_without_tasks_that_somebody_else_made_is_not_used(client, campaign, page):
    people._send(campaign, "POST", "/groups", {**TEXTS, "name": "Our class"})

    form = shown(client, page).select_one("main details form")
    answer = client.post(page, {**values_of(form), "name": "Our class"})

    assert "There is a group called" in answer.content.decode()
    assert people.groups_of(campaign) == []


def pay(campaign, reward):
    """Change the campaign's reward, and let a sync renew its HITs."""
    current = Campaign.objects.get(pk=campaign.pk)
    change_reward(
        campaign=current,
        reward=Decimal(reward),
        seen=current.config.hit.reward,
        reason="",
        actor=UserFactory(),
        at=timezone.now(),
    )
    reconcile(Campaign.objects.get(pk=campaign.pk))


def press_tasks(client, page):
    button = shown(client, page).select_one("button[name=tasks]")
    client.post(page, {"tasks": button["value"]})


def test_tasks_at_a_new_reward_are_shown_to_the_group_by_a_button(client, campaign, page):
    make_link(client, page)
    pay(campaign, "0.25")
    press_tasks(client, page)

    assert shown(client, page).select_one("button[name=tasks]") is None


def test_tasks_at_a_reward_that_was_changed_back_are_shown_by_the_button(client, campaign, page):
    first = campaign.hit_types.get().hit_type_id
    pay(campaign, "0.25")
    make_link(client, page)
    pay(campaign, "0.10")
    press_tasks(client, page)

    [group] = people.groups_of(campaign)
    assert first in {tasks.hit_type_id for tasks in group.tasks if tasks.is_open}
    assert shown(client, page).select_one("button[name=tasks]") is None


def test_a_paid_practice_takes_no_task_from_anybody(client, page):
    graded = {"image": ImageFactory().key, "text": "A dog runs.", "good": True, "why": "Clear."}
    practice = {"captions": [graded], "paid": True}
    one_slot = {"assignments": 1}
    campaign = published(tasks=1, workers={"who": "own"}, practice=practice, hit=one_slot)
    person = Person.join(make_link(client, f"/campaigns/{campaign.slug}/invite/"), "Ada")
    frame = person.accept("")
    person.submit(frame.assignment_id, practice="1")

    assert person.accept("").assignment_id != frame.assignment_id


def test_a_page_with_fewer_images_than_others_takes_no_later_page_from_anybody(client, page):
    campaign = published(
        tasks=2, workers={"who": "own"}, hit={"assignments": 1, "images": 2, "reward": "0.20"}
    )
    person = Person.join(make_link(client, f"/campaigns/{campaign.slug}/invite/"), "Berta")
    frame = person.accept("")
    person.submit(frame.assignment_id, **{"caption-1": "Two dogs run over a long sandy beach."})

    assert person.accept("").assignment_id != frame.assignment_id


def test_groups_of_another_campaign_are_neither_shown_nor_used(client, campaign, page, requester):
    make_link(client, page)
    [group] = people.groups_of(campaign)
    other = make_campaign(tasks=1, workers={"who": "own"})
    Campaign.objects.filter(pk=other.pk).update(team=TeamFactory())
    reconcile(other)
    address = f"/campaigns/{other.slug}/invite/"

    answers = [
        client.post(address, {"tasks": group.id}),
        client.post(address, {"group": group.id, "addresses": "a@university.example"}),
        client.post(address, {"group": "x", "addresses": "a@university.example"}),
    ]

    assert [answer.status_code for answer in answers] == [302, 422, 422]
    assert people.groups_of(other) == []
    assert shown(client, address).select("section a code") == []


def test_tasks_that_the_marketplace_refuses_are_no_fault_of_the_texts(client, page, monkeypatch):
    def refuse(*_):
        raise MarketplaceError("The group is closed.")

    make_link(client, page)
    monkeypatch.setattr(people, "give_tasks", refuse)
    [group] = people.groups_of(Campaign.objects.get())

    answer = client.post(page, {"tasks": group.id}, follow=True).content.decode()

    assert "The group is closed." in answer
    assert "This field is required" not in answer
    assert "I agree to take part." in answer


def test_a_marketplace_that_is_away_is_named(client, page, settings):
    settings.MARKETPLACE_URL = "http://127.0.0.1:9"

    answer = client.get(page)

    assert answer.status_code == 200
    assert "did not answer" in answer.content.decode()


@pytest.mark.parametrize(("who", "status"), [("own", 200), ("panel", 302), ("nocaps", 302)])
def test_the_page_is_for_campaigns_of_own_people(client, settings, who, status):
    settings.MARKETPLACE_URL = "http://127.0.0.1:9"
    client.force_login(UserFactory(is_superuser=True))
    campaign = make_campaign(tasks=1, status="DRAFT", workers={"who": who})

    answer = client.get(f"/campaigns/{campaign.slug}/invite/")

    assert answer.status_code == status
    assert status == 302 or "when the campaign runs" in answer.content.decode()


@pytest.fixture
def names(client, campaign):
    """A function that returns the page's rows and text for a researcher."""

    def shown():
        client.force_login(UserFactory())
        answer = client.get(f"/campaigns/{campaign.slug}/who-is-who/")
        assert answer.status_code == 200
        main = BeautifulSoup(answer.content, "html.parser").select_one("main")
        rows = [[cell.text.strip() for cell in row.select("th, td")] for row in main.select("tr")]
        return rows[1:], " ".join(main.text.split())

    return shown


def test_names_stand_beside_pseudonyms(client, campaign, names):
    link = link_of(campaign, shows_names=True)
    mia, _ = (Person.join(link, f"{name} of {campaign}") for name in ("Mia", "Ben"))
    for _ in range(2):
        work(client, mia, campaign)
    reconcile(campaign)

    rows, _ = names()

    pseudonym = WorkerAccount.objects.get().worker.pseudonym
    assert rows == [
        [f"Ben of {campaign}", "none", "0"],
        [f"Mia of {campaign}", pseudonym, "2"],
    ]
    mia.withdraw()
    rows, text = names()
    assert [row[0] for row in rows] == [f"Ben of {campaign}"]
    assert "1 other person is not named" in text


def test_without_consent_the_page_says_why_there_are_no_names(client, campaign, names):
    Person.join(link_of(campaign), f"Mia of {campaign}")

    rows, text = names()

    assert rows == []
    assert "1 person is not named: the text that they agreed to does not say" in text
    assert "Mia" not in text


def test_a_deleted_id_is_not_found_by_the_name(client, campaign, names):
    mia = Person.join(link_of(campaign, shows_names=True), f"Mia of {campaign}")
    work(client, mia, campaign)
    reconcile(campaign)
    WorkerAccount.objects.update(marketplace_id="deleted:1", id_deleted_at=NOON)

    rows, _ = names()

    assert rows == [[f"Mia of {campaign}", "none", "0"]]


def test_reviewers_see_no_names_and_no_link_to_them(client, campaign):
    client.force_login(UserFactory(team__role="REVIEWER"))

    assert client.get(f"/campaigns/{campaign.slug}/who-is-who/").status_code == 403
    workers = client.get(f"/campaigns/{campaign.slug}/workers/").content.decode()
    assert "who-is-who" not in workers


def test_who_is_who_names_a_marketplace_that_is_away(names, settings):
    settings.MARKETPLACE_URL = "http://127.0.0.1:9"

    assert "did not answer" in names()[1]
