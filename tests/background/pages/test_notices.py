"""The pages on which people choose notices and set webhooks."""

from urllib.parse import urljoin

import pytest
from bs4 import BeautifulSoup
from django.utils import timezone

from background.jobs.requests import request_job
from background.models import Delivery, NoticeChoice, Webhook
from background.notices.choices import add_webhook, send_test
from background.notices.sending import send_due
from background.notices.sweeping import sweep
from leaderboard.models import Submitter
from tests.factories import NOON, CampaignFactory, UserFactory
from tests.jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def user(client):
    user = UserFactory(email="ada@lab.example", is_superuser=True)
    client.force_login(user)
    return user


@pytest.fixture
def webhook():
    campaign = CampaignFactory(slug="pilot")
    return add_webhook(
        about=campaign, url="https://hooks.example/a", kinds=["job-failed"], user=None, at=NOON
    )


def test_everything_is_on_until_it_is_switched_off(client, user):
    assert client.get("/account/notices/").content.decode().count(" checked>") == 6

    fields = {"email": "ada@lab.example", "kinds": ["job-failed"]}
    client.post("/account/notices/", fields)

    assert client.get("/account/notices/").content.decode().count(" checked>") == 1
    assert list(NoticeChoice.objects.filter(is_on=True).values_list("kind", flat=True)) == [
        "job-failed"
    ]


def test_another_address_needs_the_password(client, user):
    """The link for a forgotten password goes there."""
    user.set_password("a long password")
    user.save()
    client.force_login(user)
    for password, email in [
        ("", "ada@lab.example"),
        ("a wrong one", "ada@lab.example"),
        ("a long password", "new@lab.example"),
    ]:
        client.post("/account/notices/", {"email": "new@lab.example", "password": password})

        user.refresh_from_db()
        assert user.email == email
    before = NoticeChoice.objects.count()
    assert client.post("/account/notices/", {"email": "new@lab.example"}).status_code == 302
    assert NoticeChoice.objects.count() == before


@pytest.mark.parametrize("fields", [{"email": "no address"}, {"email": "", "kinds": ["nothing"]}])
def test_bad_choices_are_refused(client, user, fields):
    assert client.post("/account/notices/", fields).status_code == 422
    assert not NoticeChoice.objects.exists()


def test_a_failed_job_is_told_to_who_requested_it(client, user, mailoutbox):
    UserFactory(email="other@lab.example")
    asked = {"kind": "export", "arguments": {"format": "nothing"}, "at": timezone.now()}
    request_job(user=user, about=CampaignFactory(slug="pilot"), **asked)
    run_jobs()

    sweep(at=timezone.now())
    list(send_due())

    (message,) = mailoutbox
    assert message.to == ["ada@lab.example"]
    assert message.subject.startswith("[pilot] Failed: Export")
    assert "This job is about no release." in message.body
    assert "Failed: Export" in client.get("/account/notices/").content.decode()


def test_a_webhook_is_added_changed_tested_and_removed(client, user):
    CampaignFactory(slug="pilot")
    fields = {"url": "https://hooks.example/a", "kinds": ["job-failed", "reviews-wait"]}

    page = client.post("/campaigns/pilot/webhooks/", fields).url

    webhook = Webhook.objects.get()
    assert page == webhook.get_absolute_url()
    assert (webhook.created_by, webhook.kinds) == (user, ["job-failed", "reviews-wait"])
    assert webhook.secret in client.get(page).content.decode()
    shown = BeautifulSoup(client.get(page).content, "lxml")
    for name in ("secret", "remove"):  # what cannot be undone is behind a question
        asked = shown.select_one(f"details:not([open]) > form[action='{page}{name}/']")
        assert "It gets nothing more" in asked.text or "cannot be brought back" in asked.text
    client.post(page, {"url": "https://hooks.example/b", "kinds": ["job-failed"]})
    client.post(f"{page}secret/")
    client.post(f"{page}test/")
    changed = Webhook.objects.get()
    assert (changed.url, changed.is_on) == ("https://hooks.example/b", False)
    assert changed.secret != webhook.secret
    assert Delivery.objects.get().webhook == webhook
    removed = [client.post(f"{page}remove/") for _ in range(2)]  # a double click
    assert [answer.url for answer in removed] == ["/campaigns/pilot/webhooks/"] * 2
    assert client.get(page).status_code == 404
    assert "No webhooks yet." in client.get("/campaigns/pilot/webhooks/").content.decode()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"url": "http://127.0.0.1:8000/", "kinds": ["job-failed"]}, "private network"),
        ({"url": "https://hooks.example/a", "kinds": ["job-failed"]}, "with this address already"),
        ({"url": "https://hooks.example/b"}, "Choose at least one kind of notice."),
        ({"url": "", "kinds": ["job-failed"]}, "This field is required."),
    ],
)
def test_a_bad_webhook_is_refused_with_a_reason(client, user, webhook, fields, reason):
    answer = client.post("/campaigns/pilot/webhooks/", fields)

    assert answer.status_code == 422
    assert reason in answer.content.decode()
    assert Webhook.objects.count() == 1


def test_the_list_of_deliveries_is_refreshed_on_the_page_that_is_shown(client, user, webhook):
    for _ in range(21):
        send_test(webhook=webhook, at=NOON)
    address = f"{webhook.get_absolute_url()}?page=2"

    shown = BeautifulSoup(client.get(address).content, "lxml").select_one("#deliveries")

    assert "Page 2 of 2" in shown.text
    assert urljoin(address, shown["hx-get"]) == address


def test_a_webhook_is_found_under_its_own_campaign_only(client, user, webhook):
    CampaignFactory(slug="other")

    assert client.get(f"/campaigns/other/webhooks/{webhook.key}/").status_code == 404
    assert client.post(f"/campaigns/other/webhooks/{webhook.key}/remove/").status_code == 404


@pytest.mark.parametrize(
    ("path", "is_post"),
    [
        ("/account/notices/", False),
        ("/campaigns/pilot/webhooks/", False),
        ("/campaigns/pilot/webhooks/KEY/", False),
        ("/campaigns/pilot/webhooks/KEY/test/", True),
        ("/campaigns/pilot/webhooks/KEY/secret/", True),
        ("/campaigns/pilot/webhooks/KEY/remove/", True),
    ],
)
def test_strangers_and_submitters_reach_none_of_it(client, webhook, path, is_post):
    method, url = client.post if is_post else client.get, path.replace("KEY", str(webhook.key))

    assert method(url).url.startswith("/sign-in/")
    stranger = UserFactory()
    Submitter.objects.create(user=stranger, team="Team", created_at=NOON)
    client.force_login(stranger)
    assert method(url).status_code == 403
    kept = Webhook.objects.get()
    assert (kept.secret, kept.removed_at) == (webhook.secret, None)
    assert not Delivery.objects.exists()
