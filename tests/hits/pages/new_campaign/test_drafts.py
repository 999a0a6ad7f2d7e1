"""New campaign in steps: a stored draft, the file, and the campaign made of it."""

import tomllib
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse

from accounts.models import Team
from annotate.kinds.campaign_files import parse_config
from annotate.models import Campaign, CampaignDraft, Selection
from annotate.services.drafts import begin_draft
from tests.factories import NOON, CampaignFactory, ImageFactory, SelectionFactory, UserFactory
from tests.hits.pages.new_campaign.entries import ENTRIES, field_of, page_of, save, seen_on, typed

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


def test_every_campaign_of_the_team_can_be_copied(signed_in, user):
    for number in range(21):
        CampaignFactory(slug=f"campaign-{number}")
        begin_draft(owner=user, file={"name": f"draft-{number}"}, at=NOON, team=Team.objects.get())

    first = BeautifulSoup(signed_in.get("/new/?page=2").content, "html.parser")
    link = first.select_one("nav[aria-label='Pages of campaigns'] a[rel=next]")
    second = BeautifulSoup(signed_in.get(f"/new/{link['href']}").content, "html.parser")

    pages = [
        {form["action"] for form in page.select("form[action$='/copy/']")}
        for page in (first, second)
    ]
    assert pages[1] == {"/campaigns/campaign-0/copy/"}
    assert len(pages[0] | pages[1]) == 21
    assert [page.select_one("[aria-labelledby=drafts]").text for page in (first, second)]


def test_a_draft_is_deleted_after_a_question(signed_in, draft):
    page = BeautifulSoup(signed_in.get("/new/").content, "html.parser")

    asked = page.select_one("details:not([open]) > form")
    assert "cannot be brought back" in asked.text
    signed_in.post(asked["action"])

    draft.refresh_from_db()
    assert draft.ended_at is not None


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


def test_drafts_beyond_the_first_page_are_reached(signed_in, user):
    for number in range(21):
        name = f"draft-{number:02}"
        begin_draft(owner=user, file={"name": name}, at=NOON + timedelta(hours=number))

    first = BeautifulSoup(signed_in.get("/new/").content, "lxml")
    rest = signed_in.get(f"/new/{first.select_one('a[rel=next]')['href']}").content.decode()

    assert "draft-00" not in first.text
    assert "draft-00" in rest
    assert "draft-01" not in rest


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


def test_a_selection_can_be_chosen_from_its_page(signed_in, user):
    SelectionFactory(name="streets")

    signed_in.post("/new/", {"selection": "streets"})

    assert CampaignDraft.objects.get(owner=user).file["selection"] == "streets"


def test_images_become_a_campaign_for_own_people_on_one_page(signed_in, user, settings):
    settings.MTURK_ENDPOINT = "local"
    SelectionFactory(name="streets", images=2)
    begun = signed_in.post("/new/", {"selection": "streets"})
    draft = CampaignDraft.objects.get(owner=user)

    page = signed_in.get(begun.url)
    entries = {"name": "Streets", "references": "2", "language": "ar", "hit__reward": "0"}
    answer, again = (
        signed_in.post(begun.url, {"seen": seen_on(page), **entries, "budget": ""})
        for _ in range(2)
    )

    assert begun.url == page_of(draft, "short")
    assert again.url == answer.url
    assert "describe 2 images" in page.content.decode()
    assert "Nobody is paid here." in page.content.decode()
    assert "$0.00" not in page.content.decode()
    assert answer.url == "/campaigns/streets/publish/?invite"
    incomplete = signed_in.post(answer.url, {"cost": "much"})
    assert incomplete.url == answer.url
    config = Campaign.objects.get(slug="streets").config
    assert (config.references, config.baselines, config.language) == (2, 0, "ar")
    assert (config.workers.who, config.priming.by, config.hit.reward) == ("own", "none", 0)


def test_a_reward_on_the_one_page_needs_a_budget(signed_in, user, settings):
    settings.MTURK_ENDPOINT = "local"
    SelectionFactory(name="streets")
    begun = signed_in.post("/new/", {"selection": "streets"})
    entries = {"name": "s", "references": "2", "language": "en", "hit__reward": "0.2"}

    answer = signed_in.post(begun.url, {"seen": seen_on(signed_in.get(begun.url)), **entries})

    assert answer.status_code == 422
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(("entered", "shown"), [("0.10", "0.10"), ("0.00", "0.00")])
def test_the_steps_keep_the_reward_of_the_one_page(signed_in, user, entered, shown):
    SelectionFactory(name="streets", images=2)
    begun = signed_in.post("/new/", {"selection": "streets"})
    draft = CampaignDraft.objects.get(owner=user)
    entries = {"name": "s", "references": "2", "language": "en", "budget": "25", "to": "task"}

    page = signed_in.get(begun.url)
    signed_in.post(begun.url, {"seen": seen_on(page), "hit__reward": entered, **entries})

    reward = signed_in.get(page_of(draft, "reward")).content.decode()
    assert field_of(reward, "hit__reward") == shown


def test_settings_of_a_collection_win_over_those_of_the_one_page(signed_in, user, settings):
    settings.MTURK_ENDPOINT = "local"
    SelectionFactory(name="streets")
    begun = signed_in.post("/new/", {"selection": "streets"})
    draft = CampaignDraft.objects.get(owner=user)
    entries = {"name": "s", "references": "2", "language": "en", "hit__reward": "0", "budget": ""}
    page = signed_in.get(begun.url)
    on = signed_in.post(begun.url, {"seen": seen_on(page), **entries, "to": "task"})

    save(signed_in, draft, "task", name="s", kind="caption", preset="coco-c5")

    draft.refresh_from_db()
    assert on.url == page_of(draft, "task")
    assert draft.file["preset"] == "coco-c5"
    assert "references" not in draft.file


def test_all_images_of_a_split_are_selected_once(signed_in, user):
    ImageFactory.create_batch(2, split="alps.2026")

    for _ in range(2):
        signed_in.post("/new/", {"split": "alps.2026"})
    ImageFactory(split="alps.2026")
    signed_in.post("/new/", {"split": "alps.2026"})
    signed_in.post("/new/", {"split": "none"})

    drafts = CampaignDraft.objects.filter(owner=user).order_by("pk")
    assert [draft.file.get("selection") for draft in drafts] == [
        "alps-2026", "alps-2026", "alps-2026-2", None,
    ]  # fmt: skip
    assert drafts[0].file["name"] == "alps-2026"
    assert [each.count for each in Selection.objects.order_by("pk")] == [2, 3]


@pytest.mark.parametrize("state", ["preview", "accepted"])
def test_the_preview_is_the_task_page(signed_in, draft, state):
    SelectionFactory(name="streets", images=1)
    for step in ENTRIES:
        save(signed_in, draft, step)

    answer = signed_in.get(reverse("hits:new_preview", args=[draft.pk, state]))

    page = answer.content.decode()
    assert "Describe a street" in page
    assert "Two cyclists wait at a red light." in page
    assert ("This is a preview" in page) == (state == "preview")
    assert not Campaign.objects.exists()


def test_the_preview_shows_the_practice_that_the_steps_ask_for(signed_in, draft):
    SelectionFactory(name="streets", images=1)
    image = ImageFactory()
    for step in ENTRIES:
        save(signed_in, draft, step)
    line = rf"{image.key} | bad | A street \| a road. | Two captions."
    save(signed_in, draft, "instructions", practice__captions=line, practice__pass_mark="50")

    page = signed_in.get(reverse("hits:new_preview", args=[draft.pk, "practice"])).content.decode()

    draft.refresh_from_db()
    assert draft.file["practice"]["captions"] == [
        {"image": image.key, "good": False, "text": "A street | a road.", "why": "Two captions."}
    ]
    assert "You get tasks if 1 of 1 answers are right." in " ".join(page.split())
    assert "A street | a road." in page
    step = signed_in.get(page_of(draft, "instructions"))
    assert line in step.content.decode()


def test_the_preview_of_an_empty_draft_says_what_is_missing(signed_in, draft):
    answer = signed_in.get(reverse("hits:new_preview", args=[draft.pk, "preview"]))

    assert "when the images are chosen" in answer.content.decode()
