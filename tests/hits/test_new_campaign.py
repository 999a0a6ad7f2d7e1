"""New campaign in steps: a stored draft, checked entries, the file, and the campaign made of it."""

import tomllib
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse

from annotate.kinds.reading import parse_config
from annotate.models import Campaign, CampaignDraft
from annotate.services.drafts import begin_draft
from tests.factories import NOON, CampaignFactory, SelectionFactory, UserFactory

pytestmark = pytest.mark.django_db

ENTRIES = {
    "task": {"name": "street-scenes", "kind": "caption", "preset": ""},
    "images": {
        "selection": "streets",
        "references": "2",
        "baselines": "on",
        "priming__by": "none",
        "priming__share": "100",
        "seed": "0",
    },
    "instructions": {
        "hit__title": "Describe a street",
        "hit__description": "Write a sentence about a photograph of a street.",
        "hit__keywords": "caption, street",
        "captions__least_words": "6",
        "captions__most_words": "40",
        "instructions__good": "Two cyclists wait at a red light.\n\nA bus turns left.",
        "instructions__bad": "A street. | says almost nothing",
    },
    "workers": {
        "workers__who": "own",
        "workers__countries": "",
        "workers__approved_hits": "0",
        "workers__approval_rate": "0",
    },
    "reward": {
        "hit__reward": "$0.15",
        "hit__images": "1",
        "hit__minutes": "20",
        "budget": "25",
        "hit__assignments": "9",
        "hit__lifetime_days": "7",
        "hit__auto_approval_days": "30",
    },
    "checks": {
        "review__first": "1",
        "review__share": "5 %",
        "review__trial": "0",
        "review__policy": "propose",
        "review__approve_after_hours": "24",
        "review__limit": "10",
        "review__reviewers": "1",
        "review__gold_every": "0",
        "review__discard": "all",
    },
}


@pytest.fixture
def user():
    return UserFactory()


@pytest.fixture
def signed_in(client, user):
    client.force_login(user)
    return client


@pytest.fixture
def draft(user):
    return begin_draft(owner=user, file={}, at=NOON)


def page_of(draft, step):
    return reverse("hits:new_step", args=[draft.pk, step])


def seen_on(answer):
    return BeautifulSoup(answer.content, "html.parser").find(id="seen")["value"]


def save(client, draft, step, **changes):
    """Post the step's entries as its page would."""
    seen = seen_on(client.get(page_of(draft, step)))
    return client.post(page_of(draft, step), {"seen": seen, **ENTRIES[step], **changes})


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


def test_what_is_not_valid_is_kept_and_explained(signed_in, draft):
    answer = save(signed_in, draft, "reward", hit__reward="a dime")
    again = signed_in.get(page_of(draft, "reward")).content.decode()

    assert answer.status_code == 422
    assert "Enter an amount in US dollars" in again
    assert 'value="a dime"' in again


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


def test_an_uploaded_file_fills_the_steps(signed_in, user):
    SelectionFactory(name="streets", images=1)
    text = (
        'name = "a"\npreset = "coco-c5"\nselection = "streets"\nbudget = 9\n[flags]\nrepeats = 4\n'
    )

    answer = signed_in.post("/new/file/", {"text": text, "steps": "yes"})
    draft = CampaignDraft.objects.get(owner=user)
    images = BeautifulSoup(signed_in.get(page_of(draft, "images")).content, "html.parser")
    signed_in.post(reverse("hits:new_create", args=[draft.pk]))

    assert answer.url == page_of(draft, "checklist")
    assert images.find(id="id_references")["value"] == "5"
    assert Campaign.objects.get().config.flags.repeats == 4


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


def test_the_preview_of_an_empty_draft_says_what_is_missing(signed_in, draft):
    answer = signed_in.get(reverse("hits:new_preview", args=[draft.pk, "preview"]))

    assert "when the images are chosen" in answer.content.decode()


def test_a_deleted_draft_is_gone(signed_in, draft):
    signed_in.post(reverse("hits:new_delete", args=[draft.pk]))

    assert signed_in.get(page_of(draft, "task")).status_code == 404
    assert not CampaignDraft.objects.open().exists()


def test_drafts_are_listed_latest_first(signed_in, user):
    for name, hours in (("older", 1), ("newer", 2)):
        begin_draft(owner=user, file={"name": name}, at=NOON + timedelta(hours=hours))

    page = signed_in.get("/new/").content.decode()

    assert page.index("newer") < page.index("older")
