"""Campaigns of one file for several languages on the dashboard, from the steps to their release."""

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse

from annotate.models import Campaign, Release
from annotate.services.drafts import begin_draft
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    SelectionFactory,
    WorkerFactory,
)
from tests.jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

FILE = {
    "name": "street",
    "selection": "streets",
    "budget": "20.00",
    "references": 1,
    "review": {"share": 0, "first": 0},
    "workers": {"who": "own"},
    "hit": {"reward": "0.10"},
}


@pytest.fixture
def draft(user):
    SelectionFactory(name="streets", images=2)
    return begin_draft(owner=user, file=FILE, at=NOON)


def choose(client, draft, **entries):
    """Post the step of the instructions with these languages."""
    page = reverse("hits:new_step", args=[draft.pk, "instructions"])
    form = client.get(page).context["form"]
    values = {name: form.text_of(name) for name in form.fields}
    values |= {"anyway": "1", **entries}
    answer = client.post(page, {name: value for name, value in values.items() if value != ""})
    draft.refresh_from_db()
    return answer


@pytest.fixture
def members(signed_in, draft):
    choose(signed_in, draft, languages=["en", "de", "ja"])
    signed_in.post(reverse("hits:new_create", args=[draft.pk]))
    return list(Campaign.objects.order_by("pk"))


def complete(members):
    workers = WorkerFactory.create_batch(2)
    for campaign in members:
        for task in campaign.tasks.all():
            for worker in workers:
                ResponseFactory(task=task, worker=worker, text=f"{campaign} has a text.")


def test_the_steps_make_a_campaign_for_each_language(members):
    assert [(each.slug, each.config.language, each.family) for each in members] == [
        ("street-en", "en", "street"),
        ("street-de", "de", "street"),
        ("street-ja", "ja", "street"),
    ]
    assert {each.tasks.count() for each in members} == {2}


def test_default_titles_are_in_the_language_of_each_campaign(members):
    assert [each.config.hit.title for each in members] == [
        "Describe a photograph in one sentence",
        "Ein Foto in einem Satz beschreiben",
        "写真を一つの文で説明する",
    ]
    assert members[1].config.hit.description.startswith("Sehen Sie sich ein Foto an")


def test_a_default_title_follows_the_language_while_it_is_chosen(signed_in, draft):
    page = reverse("hits:new_step", args=[draft.pk, "instructions"])
    form = signed_in.get(page).context["form"]
    values = {name: form.text_of(name) for name in form.fields} | {"anyway": "1"}
    values = {name: value for name, value in values.items() if value != ""}
    german = {**values, "language": "de"}

    first = signed_in.post(page, german, headers={"HX-Request": "true"}).content.decode()
    german["hit__title"] = "Ein Foto in einem Satz beschreiben"
    again = signed_in.post(page, german, headers={"HX-Request": "true"}).content.decode()
    signed_in.post(page, {**german, "language": "fr"})

    draft.refresh_from_db()
    assert 'value="Ein Foto in einem Satz beschreiben"' in first
    assert 'value="Ein Foto' not in again
    assert draft.file["hit"] == {"reward": "0.10"}
    assert "Décrire une photo en une phrase" in signed_in.get(page).content.decode()


def test_a_title_of_ones_own_stays_while_another_language_is_chosen(signed_in, draft):
    choose(signed_in, draft, hit__title="Streets", language="en")

    choose(signed_in, draft, hit__title="Streets", language="de")

    assert draft.file["hit"] == {"reward": "0.10", "title": "Streets"}


def test_the_checklist_objects_to_the_default_title_of_another_language(signed_in, draft):
    draft.file = {**FILE, "languages": ["en", "de"]}
    draft.file["hit"] = {"title": "Describe a photograph in one sentence"}
    draft.save()

    page = signed_in.get(reverse("hits:new_step", args=[draft.pk, "checklist"])).content.decode()

    assert "The title is in English, and the campaign in German." in page
    assert "the campaign in English" not in page


def test_one_chosen_language_is_the_campaigns(signed_in, draft):
    choose(signed_in, draft, language="en", languages=["de"])

    assert draft.file["language"] == "de"
    assert "languages" not in draft.file


def test_the_steps_show_the_chosen_languages_and_preview_the_first(signed_in, draft):
    choose(signed_in, draft, languages=["de", "ja"])

    page = signed_in.get(reverse("hits:new_step", args=[draft.pk, "instructions"]))
    preview = signed_in.get(reverse("hits:new_preview", args=[draft.pk, "accepted"]))
    assert page.context["form"].text_of("languages") == ["de", "ja"]
    assert "Beschreiben Sie das Bild in einem Satz" in preview.content.decode()


def test_cost_and_budget_of_all_languages_are_shown_before_they_are_created(signed_in, draft):
    choose(signed_in, draft, languages=["de", "ja"])

    for step in ("reward", "checklist"):
        page = signed_in.get(reverse("hits:new_step", args=[draft.pk, step])).content.decode()
        assert "$0.96 together" in page or "Together they cost $0.96" in page
        assert "$40.00 together" in page


def test_the_cost_is_said_to_be_of_one_language(signed_in, draft):
    page = reverse("hits:new_step", args=[draft.pk, "reward"])
    before = signed_in.get(page).content.decode()
    choose(signed_in, draft, languages=["de", "ja"])

    assert "one of 2 campaigns" in signed_in.get(page).content.decode()
    assert "campaigns, one for each" not in before


def test_a_campaign_that_exists_offers_no_further_languages(signed_in, members):
    answer = signed_in.post(reverse("hits:edit", args=["street-de"]))

    page = signed_in.get(answer.url.replace("checklist", "instructions"))
    assert "languages" not in page.context["form"].fields


def test_an_uploaded_file_makes_the_campaigns_at_once(signed_in):
    SelectionFactory(name="streets", images=1)
    text = 'name = "more"\nselection = "streets"\nbudget = 9\nlanguages = ["de", "fr"]\n'

    answer = signed_in.post("/new/file/", {"text": text}, follow=True)

    assert "Draft more-de created. Further drafts: more-fr." in answer.content.decode()


def post(api, **keys):
    """Post the file with these keys to the API."""
    return api.post("/api/campaigns/", {**FILE, **keys}, content_type="application/json")


def test_the_api_makes_a_campaign_for_each_language(api):
    SelectionFactory(name="streets", images=2)
    translated = {"ja": {"hit": {"title": "写真"}}}
    made = post(api, languages=["en", "ja"], translations=translated)

    assert made.status_code == 201, made.json()
    assert (made.json()["slug"], made.json()["family"]) == ("street-en", "street")
    found = api.get("/api/campaigns/", {"family": "street"}).json()["results"]
    assert [each["slug"] for each in found] == ["street-ja", "street-en"]
    titles = {each.slug: each.config.hit.title for each in Campaign.objects.all()}
    assert titles["street-ja"] == "写真" != titles["street-en"]


def test_the_api_makes_all_campaigns_of_a_file_or_none(api):
    SelectionFactory(name="streets", images=2)
    CampaignFactory(slug="street-ja")
    refused = post(api, languages=["en", "ja"])

    assert refused.status_code == 409
    assert not Campaign.objects.filter(family="street").exists()


def test_each_overview_shows_all_languages(signed_in, members):
    complete(members[:1])

    page = signed_in.get(members[1].get_absolute_url()).content.decode()
    others = signed_in.get("/").content.decode()

    assert "street in 3 languages" in page
    # Long names make the table wider than a phone.
    assert BeautifulSoup(page, "html.parser").select_one("#family + .scroll > table")
    assert '<a href="/campaigns/street-ja/">street-ja</a>' in page
    assert "4 of 4" in page
    assert "street in Japanese" in others
    alone = signed_in.get(CampaignFactory().get_absolute_url()).content.decode()
    assert "languages</h2>" not in alone


def test_the_page_makes_one_release_of_all_languages(signed_in, members):
    complete(members[:2])
    page = f"/review/{members[1]}/releases/"

    shown = signed_in.get(page).content.decode()
    refused = signed_in.post(page, {"name": "v1", "seed": "3", "in_all_languages": "on"})
    complete(members[2:])
    signed_in.post(page, {"name": "v1", "seed": "3", "in_all_languages": "on"})
    run_jobs()

    assert "All languages of street" in shown
    assert "street-ja: image" in shown
    assert refused.status_code == 422
    release = Release.objects.get()
    assert release.languages == ["en", "de", "ja"]
    for member in members:
        page = signed_in.get(f"/review/{member}/releases/").content.decode()
        assert "in en, de, ja" in " ".join(page.split())
    assert 'lang="ja"' in signed_in.get(release.get_absolute_url()).content.decode()


def test_one_language_can_still_be_released_alone(signed_in, members):
    complete(members[1:2])

    signed_in.post(f"/review/{members[1]}/releases/", {"name": "v1", "seed": "3"})
    run_jobs()

    assert Release.objects.get().languages == []


def test_the_api_makes_one_release_of_all_languages(signed_in, members, api):
    complete(members)

    answer = api.post(
        "/api/campaigns/street-de/releases/",
        {"name": "v1", "in_all_languages": True},
        content_type="application/json",
    )
    run_jobs()

    assert answer.status_code == 202
    assert api.get("/api/releases/v1/").json()["languages"] == ["en", "de", "ja"]
