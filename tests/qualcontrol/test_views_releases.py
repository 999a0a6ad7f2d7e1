"""The page of releases."""

import pytest

from annotate.models import Release
from tests.factories import CampaignFactory, ResponseFactory, TaskFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reviewer")]


def test_the_releases_page_says_what_is_missing_and_refuses(client, campaign):
    TaskFactory(campaign=campaign, image__key="0123abcd")

    answer = client.post("/review/pilot/releases/", {"name": "v1", "seed": "1"})

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "image 0123abcd has 0 of 11 captions" in page
    assert "The campaign is not complete." in page
    assert not Release.objects.exists()


def test_a_release_is_made_from_its_page(client):
    campaign = CampaignFactory(slug="done", config={"references": 1})
    task = TaskFactory(campaign=campaign)
    ResponseFactory(task=task)
    ResponseFactory(task=task)

    answer = client.post("/review/done/releases/", {"name": "v1", "seed": "3"})

    release = Release.objects.get()
    assert answer.url == f"/releases/{release.name}/"
    assert (release.seed, release.is_partial) == (3, False)


def test_a_partial_release_is_made_when_it_is_asked_for(client):
    campaign = CampaignFactory(slug="half", config={"references": 1})
    task = TaskFactory(campaign=campaign)
    ResponseFactory(task=task)
    ResponseFactory(task=task)
    TaskFactory(campaign=campaign)

    client.post("/review/half/releases/", {"name": "v1", "seed": "3", "partial": "on"})

    assert Release.objects.get().is_partial


def test_a_releases_name_is_given_once(client):
    campaign = CampaignFactory(slug="done", config={"references": 1})
    task = TaskFactory(campaign=campaign)
    ResponseFactory(task=task)
    ResponseFactory(task=task)
    client.post("/review/done/releases/", {"name": "v1", "seed": "3"})

    answer = client.post("/review/done/releases/", {"name": "v1", "seed": "4"})

    assert "A release named v1 exists." in answer.content.decode()
    assert Release.objects.get().seed == 3


def test_a_release_of_nothing_is_refused(client, campaign):
    answer = client.post("/review/pilot/releases/", {"name": "v1", "seed": "1"})

    assert answer.status_code == 422
    assert "pilot has no image with all its captions" in answer.content.decode()


def test_with_a_broker_a_release_is_made_behind_the_page(client, settings, monkeypatch):
    CampaignFactory(slug="done", pk=7)
    asked = []
    settings.CELERY_TASK_ALWAYS_EAGER = False
    monkeypatch.setattr(
        "qualcontrol.pages.releases.make_release.delay",
        lambda *args, **kwargs: asked.append((args, kwargs)),
    )

    fields = {"name": "v1", "seed": "3", "hidden_percent": "50"}
    answer = client.post("/review/done/releases/", fields, follow=True)

    values = {"seed": 3, "partial": False, "hidden": {"share": 0.5}, "domains": "coco-80"}
    assert asked == [((7,), {"name": "v1", **values})]
    assert "Creating the release." in answer.content.decode()
