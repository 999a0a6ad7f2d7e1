"""Releases as pages, downloads and in the API, and image URLs."""

import json

import pytest
from django.utils import timezone

from annotate.services.api_tokens import issue_token
from qualcontrol.services import release_campaign
from tests.factories import NOON, CampaignFactory, ResponseFactory, TaskFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def release():
    """Two images with two references and a baseline each."""
    campaign = CampaignFactory(slug="done", config={"references": 2})
    for number in (1, 2):
        task = TaskFactory(campaign=campaign, number=number)
        for _ in range(3):
            ResponseFactory(task=task)
    return release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)


@pytest.fixture
def signed_in(client):
    client.force_login(UserFactory())
    return client


def test_a_releases_page_shows_its_captions_and_its_files(
    signed_in, release, django_assert_max_num_queries
):
    with django_assert_max_num_queries(8):
        page = signed_in.get("/releases/v1/").content.decode()

    assert page.count('class="thumbnail" href="https://images.example/') == 2
    assert page.count("human baseline</p>") == 2
    for file in ("captions.json", "baseline.json", "workers.json"):
        assert f'href="/releases/v1/{file}"' in page


@pytest.mark.parametrize("file", ["captions.json", "baseline.json", "workers.json"])
def test_a_file_is_streamed_as_a_download(signed_in, release, file):
    answer = signed_in.get(f"/releases/v1/{file}")

    content = b"".join(answer.streaming_content)
    assert json.loads(content)
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Disposition"] == f'attachment; filename="v1-{file}"'


def test_page_and_api_give_the_same_bytes(signed_in, release):
    from_page = b"".join(signed_in.get("/releases/v1/captions.json").streaming_content)
    from_api = b"".join(signed_in.get("/api/releases/v1/captions.json").streaming_content)

    assert from_page == from_api
    assert len(json.loads(from_page)["annotations"]) == 4


@pytest.mark.parametrize("address", ["/releases/v2/", "/releases/v1/secrets.json"])
def test_what_is_not_there_is_not_found(signed_in, release, address):
    assert signed_in.get(address).status_code == 404


def test_the_list_takes_the_same_queries_for_many(
    signed_in, release, django_assert_max_num_queries
):
    for number in range(5):
        release_campaign(campaign=release.campaign, name=f"more-{number}", seed=1, at=NOON)

    with django_assert_max_num_queries(4):
        page = signed_in.get("/releases/")

    assert len(page.context["page"]) == 6


def test_the_api_lists_releases_with_the_addresses_of_their_files(client, release):
    _, token = issue_token(user=UserFactory(), at=timezone.now())

    found = client.get("/api/releases/v1/", headers={"Authorization": f"Token {token}"}).json()

    assert (found["campaign"], found["images"], found["seed"]) == ("done", 2, 1)
    assert found["files"]["captions.json"] == "http://testserver/api/releases/v1/captions.json"


def test_an_original_is_shown_to_researchers(client, settings):
    settings.MEDIA_ROOT.mkdir(parents=True)
    (settings.MEDIA_ROOT / "cat.txt").write_text("not really a cat")
    client.force_login(UserFactory())

    answer = client.get("/media/cat.txt")

    assert b"".join(answer.streaming_content) == b"not really a cat"
    assert "private" in answer["Cache-Control"]


@pytest.mark.parametrize("path", ["../settings.py", "%2e%2e/settings.py", "nothing.jpg"])
def test_nothing_outside_the_media_folder_is_served(client, path):
    client.force_login(UserFactory())

    assert client.get(f"/media/{path}").status_code in {400, 404}
