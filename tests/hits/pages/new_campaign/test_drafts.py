"""New campaign in steps: a stored draft, the file, and the campaign made of it."""

import tomllib
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse

from annotate.kinds.campaign_files import parse_config
from annotate.models import Campaign, CampaignDraft
from annotate.services.drafts import begin_draft
from tests.factories import NOON, CampaignFactory, SelectionFactory, UserFactory
from tests.hits.pages.new_campaign.entries import ENTRIES, page_of, save, seen_on, typed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_the_steps_alone_make_a_campaign(signed_in, user):
    SelectionFactory(name="streets", images=2)

    begun = signed_in.post("/new/")
    draft = CampaignDraft.objects.get(owner=user)
    assert begun.url == page_of(draft, "task")
    for step, following in zip(ENTRIES, [*list(ENTRIES)[1:], "checklist"], strict=True):
        assert save(signed_in, draft, step).url == page_of(draft, following)
    shown = signed_in.get(page_of(draft, "checklist")).content.decode()
    answer = signed_in.post(reverse("hits:new_create", args=[draft.pk]))

    campaign = Campaign.objects.get(slug="street-scenes")
    assert "Everything that is needed is there." in shown
    assert answer.url == campaign.get_absolute_url()
    assert (campaign.status, campaign.tasks.count(), campaign.config.wanted) == ("DRAFT", 2, 3)
    assert not campaign.config.workers.has_requirements
    assert campaign.config.priming.share == 0
    assert campaign.config.instructions.good[1] == "A bus turns left."
    assert campaign.config.instructions.bad[0].why == "says almost nothing"
    assert campaign.config.review.share == 0.05


def test_a_form_posted_twice_makes_one_campaign(signed_in, draft):
    SelectionFactory(name="streets", images=1)
    for step in ENTRIES:
        save(signed_in, draft, step)
    address = reverse("hits:new_create", args=[draft.pk])

    answers = [signed_in.post(address).url for _ in range(2)]

    assert answers == ["/campaigns/street-scenes/"] * 2
    assert Campaign.objects.count() == 1


def test_the_file_of_a_draft_makes_the_same_campaign(signed_in, draft):
    SelectionFactory(name="streets", images=1)
    for step in ENTRIES:
        save(signed_in, draft, step)

    text = signed_in.get(reverse("hits:new_file", args=[draft.pk])).content.decode()
    signed_in.post(reverse("hits:new_create", args=[draft.pk]))

    config = parse_config(tomllib.loads(text))
    assert config.model_dump(mode="json") == Campaign.objects.get().config_json


def test_an_incomplete_draft_makes_no_campaign(signed_in, draft):
    save(signed_in, draft, "task")

    answer = signed_in.post(reverse("hits:new_create", args=[draft.pk]), follow=True)

    assert not Campaign.objects.exists()
    assert "Choose a selection of images." in answer.content.decode()


def test_another_tabs_change_of_the_same_step_is_not_overwritten(signed_in, draft):
    seen = seen_on(signed_in.get(page_of(draft, "task")))
    save(signed_in, draft, "task")
    mine = {"seen": seen, **ENTRIES["task"], "name": "mine"}

    answer = signed_in.post(page_of(draft, "task"), mine)

    draft.refresh_from_db()
    assert answer.status_code == 409
    assert 'value="mine"' in answer.content.decode()
    assert draft.file["name"] == "street-scenes"
    assert signed_in.post(page_of(draft, "task"), {**mine, "anyway": "yes"}).status_code == 302
    draft.refresh_from_db()
    assert draft.file["name"] == "mine"


def test_nobody_else_sees_a_draft(client, draft):
    client.force_login(UserFactory())

    addresses = [
        page_of(draft, "task"),
        reverse("hits:new_file", args=[draft.pk]),
        reverse("hits:new_preview", args=[draft.pk, "preview"]),
    ]

    assert {client.get(address).status_code for address in addresses} == {404}
    assert client.post(reverse("hits:new_create", args=[draft.pk])).status_code == 404


def test_a_copy_has_the_settings_and_a_free_name(signed_in, user):
    CampaignFactory(slug="scenes", config={"hit": {"title": "Look"}})
    CampaignFactory(slug="scenes-2")

    signed_in.post("/campaigns/scenes/copy/")

    draft = CampaignDraft.objects.get(owner=user)
    assert (draft.file["name"], draft.file["hit"]["title"]) == ("scenes-3", "Look")


@pytest.fixture
def edited(signed_in, user):
    """A draft that edits a draft campaign, with another title."""
    selection = SelectionFactory(name="streets", images=2)
    campaign = CampaignFactory(slug="scenes", status="DRAFT", selection=selection)
    signed_in.post("/campaigns/scenes/edit/")
    draft = CampaignDraft.objects.get(owner=user)
    save(signed_in, draft, "instructions")
    return campaign, draft


def test_editing_a_draft_campaign_changes_it(signed_in, edited):
    campaign, draft = edited
    save(signed_in, draft, "images")

    signed_in.post(reverse("hits:new_create", args=[draft.pk]))

    campaign = Campaign.objects.get(pk=campaign.pk)
    assert campaign.config.hit.title == "Describe a street"
    assert [task.wanted for task in campaign.tasks.all()] == [3, 3]


@pytest.mark.parametrize("change", [{"status": "RUNNING"}, {"config_json": {"name": "scenes"}}])
def test_an_edit_of_what_was_changed_meanwhile_is_refused_and_kept(signed_in, edited, change):
    campaign, draft = edited
    Campaign.objects.filter(pk=campaign.pk).update(**change)

    answer = signed_in.post(reverse("hits:new_create", args=[draft.pk]))

    draft.refresh_from_db()
    assert answer.status_code == 409
    assert "scenes" in answer.content.decode()
    assert draft.ended_at is None
    assert draft.file["hit"]["title"] == "Describe a street"
    signed_in.post(reverse("hits:new_detach", args=[draft.pk]))
    draft.refresh_from_db()
    assert draft.campaign is None


def test_an_edit_without_entries_begins_anew_once_the_campaign_was_changed(signed_in, user):
    campaign = CampaignFactory(slug="scenes", status="DRAFT")
    signed_in.post("/campaigns/scenes/edit/")
    campaign.config_json["hit"]["title"] = "Look closely"
    campaign.save()

    signed_in.post("/campaigns/scenes/edit/")
    signed_in.post(reverse("hits:new_create", args=[CampaignDraft.objects.get().pk]))

    assert CampaignDraft.objects.get().ended_at is not None
    assert Campaign.objects.get().config.hit.title == "Look closely"


@pytest.mark.parametrize("act", ["delete", "detach"])
def test_a_second_click_after_a_draft_has_ended_says_so(signed_in, draft, act):
    signed_in.post(reverse("hits:new_delete", args=[draft.pk]))

    page = signed_in.post(reverse(f"hits:new_{act}", args=[draft.pk]), follow=True)

    assert page.redirect_chain == [("/new/", 302)]
    assert "already used for a campaign, or deleted" in page.content.decode()


def test_a_deleted_draft_is_gone(signed_in, draft):
    signed_in.post(reverse("hits:new_delete", args=[draft.pk]))

    assert signed_in.get(page_of(draft, "task")).status_code == 404
    assert not CampaignDraft.objects.open().exists()


@pytest.mark.parametrize(("headers", "status"), [({"HX-Request": "true"}, 200), ({}, 409)])
def test_entries_stay_on_a_page_whose_draft_was_deleted_in_another_tab(
    signed_in, draft, headers, status
):
    fields = {"seen": seen_on(signed_in.get(page_of(draft, "task"))), **ENTRIES["task"]}
    signed_in.post(reverse("hits:new_delete", args=[draft.pk]))

    answer = signed_in.post(page_of(draft, "task"), fields, headers=headers)

    page = answer.content.decode()
    assert answer.status_code == status
    assert "Your entries are still on this page. Copy what you need" in page
    assert headers or ENTRIES["task"]["name"] in page


def test_drafts_are_listed_latest_first(signed_in, user):
    for name, hours in (("older", 1), ("newer", 2)):
        begin_draft(owner=user, file={"name": name}, at=NOON + timedelta(hours=hours))

    page = signed_in.get("/new/").content.decode()

    assert page.index("newer") < page.index("older")


def test_entries_are_stored_and_checked_while_they_are_typed(signed_in, draft):
    CampaignFactory(slug="busy-streets")
    answer = typed(signed_in, draft, "task", name="Busy Streets")
    page = BeautifulSoup(answer.content, "html.parser")

    draft.refresh_from_db()
    assert answer.status_code == 200
    assert "already exists" in page.find(id="id_name_error").text
    assert draft.unfinished == {"name": "Busy Streets"}
    typed(signed_in, draft, "task", name="Street Scenes")
    draft.refresh_from_db()
    assert (draft.unfinished, draft.file["name"]) == ({}, "street-scenes")


def test_a_conflict_while_typing_keeps_the_fingerprint_that_the_page_has(signed_in, draft):
    seen = seen_on(signed_in.get(page_of(draft, "task")))
    typed(signed_in, draft, "task")

    fields = {**ENTRIES["task"], "name": "mine", "seen": seen}
    answer = signed_in.post(page_of(draft, "task"), fields, headers={"HX-Request": "true"})

    assert "was changed in another tab" in answer.content.decode()
    assert seen_on(answer) == seen
