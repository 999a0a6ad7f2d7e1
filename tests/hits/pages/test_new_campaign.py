"""New campaign in steps: a stored draft, checked entries, the file, and the campaign made of it."""

import tomllib
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse

from annotate.kinds.reading import CampaignFileError, parse_config
from annotate.models import Campaign, CampaignDraft, Selection
from annotate.services.drafts import begin_draft
from hits.pages.new_campaign.file_form import in_words
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    AssignmentFactory,
    BoxFactory,
    CampaignFactory,
    CaptionSetFactory,
    GivenCaptionFactory,
    ImageFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    TeamFactory,
    UserFactory,
    WorkerAccountFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

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
        "language": "en",
        "captions__least_words": "6",
        "captions__style": "sentence",
        "captions__most_words": "40",
        "captions__cannot_describe_quorum": "3",
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


def test_work_without_a_reward_needs_no_budget(signed_in, draft):
    answer = save(signed_in, draft, "reward", hit__reward="0", budget="")

    assert answer.url == page_of(draft, "checks")
    draft.refresh_from_db()
    assert draft.file["budget"] == "0.00"


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


def typed(client, draft, step, **changes):
    """What the page gets back while the step is typed."""
    seen = seen_on(client.get(page_of(draft, step)))
    fields = {"seen": seen, **ENTRIES[step], **changes}
    return client.post(page_of(draft, step), fields, headers={"HX-Request": "true"})


def test_entries_are_stored_and_checked_while_they_are_typed(signed_in, draft):
    CampaignFactory(slug="busy-streets")
    answer = typed(signed_in, draft, "task", name="Busy Streets")
    page = BeautifulSoup(answer.content, "html.parser")

    draft.refresh_from_db()
    assert answer.status_code == 200
    assert "already exists" in page.find(id="errors-name").text
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


def test_images_without_classes_turn_priming_off(signed_in, draft):
    SelectionFactory(name="streets", images=1)

    answer = save(signed_in, draft, "images", priming__by="image", priming__share="many")

    draft.refresh_from_db()
    assert answer.status_code == 302
    assert draft.file["priming"] == {"by": "none"}
    assert draft.unfinished == {}
    instructions = signed_in.get(page_of(draft, "instructions")).content.decode()
    assert "only repeat the object names" not in instructions


def test_images_with_classes_keep_priming(signed_in, draft):
    selection = SelectionFactory(name="streets", images=1)
    BoxFactory(image=selection.images.get())

    page = save(signed_in, draft, "images", priming__by="response", priming__share="50")

    draft.refresh_from_db()
    assert page.status_code == 302
    assert draft.file["priming"] == {"by": "response", "share": 0.5}
    instructions = signed_in.get(page_of(draft, "instructions")).content.decode()
    assert "only repeat the object names" in instructions


def test_a_choice_of_workers_resets_the_requirements(signed_in, draft):
    save(signed_in, draft, "workers", workers__who="nocaps", workers__approved_hits="100")
    save(signed_in, draft, "workers", workers__who="nocaps", workers__approved_hits="100")
    draft.refresh_from_db()
    assert parse_config({**draft.file, **BARE}).workers.approved_hits == 100

    save(signed_in, draft, "workers", workers__who="own", workers__approved_hits="100")

    draft.refresh_from_db()
    assert not parse_config({**draft.file, **BARE}).workers.has_requirements


BARE = {"name": "a", "selection": "b", "budget": 1}


@pytest.mark.parametrize(
    ("step", "changes", "message"),
    [
        ("task", {"name": ""}, "Enter a name"),
        ("task", {"name": "taken"}, "A campaign named 'taken' already exists."),
        ("task", {"preset": "imageclef"}, "for another kind of task"),
        ("images", {"selection": "gone"}, "does not exist any more"),
        ("images", {"references": "0"}, "Enter at least 1."),
        ("images", {"priming__share": "150"}, "from 0 to 100"),
        ("instructions", {"hit__title": ""}, "Enter a title."),
        ("instructions", {"captions__least_words": "50"}, "Enter at least 50"),
        ("instructions", {"instructions__bad": "no bar"}, "Line 1: write the caption, a bar"),
        ("workers", {"workers__who": "panel", "workers__countries": "USA"}, "is no country code"),
        ("workers", {"workers__who": "panel", "workers__approval_rate": "100"}, "at most 99"),
        ("reward", {"hit__reward": "0.001"}, "whole cents"),
        ("reward", {"budget": "1e5"}, "such as 25.00"),
        ("reward", {"hit__images": "25"}, "Enter at most 20."),
        ("reward", {"budget": "9" * 99}, "Enter at most $99,999,999.99."),
        ("checks", {"review__share": "-1"}, "from 0 to 100"),
        ("checks", {"review__first": "3", "review__trial": "2"}, "Enter 0, or at least 3"),
        ("checks", {"review__approve_after_hours": "9999"}, "hours from 0 to 720"),
    ],
)
def test_errors_say_what_to_do(signed_in, draft, step, changes, message):
    BoxFactory(image=SelectionFactory(name="streets", images=1).images.get())
    CampaignFactory(slug="taken")

    answer = save(signed_in, draft, step, **changes)

    text = BeautifulSoup(answer.content, "html.parser").get_text()
    assert answer.status_code == 422
    assert message in text
    assert "input should" not in text.lower()


def test_the_checklist_advises_on_what_is_unwise(signed_in, draft):
    SelectionFactory(name="streets", images=100)
    for step in ENTRIES:
        save(signed_in, draft, step)
    save(signed_in, draft, "reward", hit__reward="0.02", budget="1", hit__minutes="1")
    save(signed_in, draft, "checks", review__share="0", review__first="0")

    text = signed_in.get(page_of(draft, "checklist")).content.decode()

    for advice in (
        "less than the federal minimum wage",
        "does not cover the whole campaign",
        "Nobody checks any of the captions.",
        "Workers have 1 minute",
        "this site knows 0",
    ):
        assert advice in text


@pytest.mark.parametrize(("kind", "is_said"), [("caption", True), ("rating", False)])
def test_classes_are_missed_only_where_object_names_are_shown(signed_in, user, kind, is_said):
    SelectionFactory(name="streets", images=1)
    source = CaptionSetFactory(name="a model")
    sources = {"sources": [{"name": "model", "caption_set": source.name}]}
    file = {"kind": kind, "selection": "streets", "name": "a", "budget": "1"}
    file |= {"rating": sources} if kind == "rating" else {}
    draft = begin_draft(owner=user, file=file, at=NOON)

    page = signed_in.get(page_of(draft, "checklist")).content.decode()

    assert "Everything that is needed is there." in page
    assert ("The images have no classes" in page) == is_said


def test_known_workers_are_counted_by_our_own_records(signed_in, draft):
    approved = AssignmentFactory(status="APPROVED", decided_at=NOON)
    WorkerAccountFactory()
    requirement = {"workers__approved_hits": "1", "workers__countries": "US"}
    save(signed_in, draft, "workers", workers__who="panel")

    page = typed(signed_in, draft, "workers", workers__who="panel", **requirement)

    side = " ".join(BeautifulSoup(page.content, "html.parser").find(id="side").get_text().split())
    assert approved.account.endpoint == "local"
    assert "1 of 2 known workers" in side


def test_a_draft_of_word_box_links_names_captions(signed_in, draft):
    captions = GivenCaptionFactory(caption_set__name="sentences")
    BoxFactory(image=captions.image)
    SelectionFactory(name="streets", images=1)
    save(signed_in, draft, "images")
    save(signed_in, draft, "task", kind="correspondence")
    for step in ("workers", "reward", "checks"):
        save(signed_in, draft, step)
    fields = {"release": "", "caption_set": "sentences", "responses": "3", "seed": "0"}

    seen = seen_on(signed_in.get(page_of(draft, "images")))
    answer = signed_in.post(page_of(draft, "images"), {"seen": seen, **fields})
    preview = signed_in.get(reverse("hits:new_preview", args=[draft.pk, "accepted"]))
    signed_in.post(reverse("hits:new_create", args=[draft.pk]))

    assert answer.status_code == 302
    assert captions.text.split()[-1].rstrip(".") in preview.content.decode()
    campaign = Campaign.objects.get()
    assert (campaign.kind, campaign.tasks.count()) == ("correspondence", 1)


@pytest.mark.parametrize("language", ["", "en", "ja"])
def test_a_draft_of_ratings_may_name_a_language(signed_in, draft, language):
    """Also English, since the language of the captions is the default."""
    save(signed_in, draft, "task", kind="rating")

    save(signed_in, draft, "instructions", language=language)

    draft.refresh_from_db()
    form = signed_in.get(page_of(draft, "instructions")).context["form"]
    assert draft.file.get("language", "") == language == form.text_of("language")
    assert "languages" not in form.fields


def test_sources_of_ratings_are_chosen_from_what_the_team_has(signed_in, draft):
    campaign = CampaignFactory(selection=SelectionFactory(name="streets", images=1))
    task = TaskFactory(campaign=campaign, image=campaign.selection.images.get(), wanted=11)
    ResponseFactory.create_batch(11, task=task)
    release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    CaptionSetFactory(name="a model")
    CaptionSetFactory(name="theirs", team=TeamFactory())
    save(signed_in, draft, "task", kind="rating")
    fields = {"selection": "streets", "responses": "3", "seed": "0"}
    seen = seen_on(signed_in.get(page_of(draft, "images")))

    nothing = signed_in.post(page_of(draft, "images"), {"seen": seen, **fields})
    chosen = ["release|references|v1", "release|baseline|v1", "caption_set|references|a model"]
    right = signed_in.post(
        page_of(draft, "images"),
        {"seen": seen_on(nothing), **fields, "rating__sources": chosen},
    )

    draft.refresh_from_db()
    page = nothing.content.decode()
    assert "Choose at least one source of captions." in page
    assert "v1: human baseline of the release" in page
    assert "theirs" not in page
    assert right.status_code == 302
    assert draft.file["rating"]["sources"] == [
        {"name": "v1", "release": "v1"},
        {"name": "v1-baseline", "release": "v1", "role": "baseline"},
        {"name": "a-model", "caption_set": "a model"},
    ]


def test_a_source_of_a_file_keeps_its_name_and_number(signed_in, draft):
    CaptionSetFactory(name="m")
    SelectionFactory(name="streets", images=1)
    source = {"name": "our model", "caption_set": "m", "per_image": 2}
    draft.file = {"kind": "rating", "rating": {"sources": [source, {"name": "x", "release": "x"}]}}
    draft.save()
    fields = {"selection": "streets", "responses": "3", "seed": "0"}

    page = signed_in.get(page_of(draft, "images"))
    signed_in.post(
        page_of(draft, "images"),
        {"seen": seen_on(page), **fields, "rating__sources": ["caption_set|references|m"]},
    )

    draft.refresh_from_db()
    assert "x: references of the release" in page.content.decode()
    assert draft.file["rating"]["sources"] == [source]


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


def test_nobody_is_paid_by_the_steps_for_own_people_unless_a_reward_is_entered(signed_in, draft):
    SelectionFactory(name="streets", images=2)
    for step in ("task", "images", "instructions", "workers"):
        save(signed_in, draft, step)

    names = ("instructions", "reward", "checks", "checklist")
    first = {name: signed_in.get(page_of(draft, name)).content.decode() for name in names}
    preview = signed_in.get(reverse("hits:new_preview", args=[draft.pk, "accepted"]))
    save(signed_in, draft, "reward")
    names = ("reward", "checklist")
    paid = {name: signed_in.get(page_of(draft, name)).content.decode() for name in names}

    assert "Search words" not in first["instructions"]
    assert field_of(first["reward"], "hit__reward") == "0.00"
    assert "Nobody is paid here." in first["reward"]
    assert "nobody is paid here" in first["checklist"]
    assert not any("$" in page.partition("<main")[2] for page in first.values())
    assert "Usual time until your work is approved" not in preview.content.decode()
    assert field_of(paid["reward"], "hit__reward") == "0.15"
    assert "$13.50 per hour" in paid["checklist"]


def test_strangers_are_offered_a_reward_and_search_words_again(signed_in, draft):
    save(signed_in, draft, "workers", workers__who="own")

    save(signed_in, draft, "workers", workers__who="nocaps")

    reward = signed_in.get(page_of(draft, "reward")).content.decode()
    assert field_of(reward, "hit__reward") == "0.10"
    assert "Search words" in signed_in.get(page_of(draft, "instructions")).content.decode()


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


def field_of(page, name):
    return BeautifulSoup(page, "html.parser").find(id=f"id_{name}")["value"]


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workers = 3", "workers: write this as a section"),
        ("rating = 3", "rating: write this as a section"),
        ("kind = []", "kind: write this as a text"),
        ("preset = 1", "preset: write this as a text"),
        ("seed = 2026-01-01", "The file has a date"),
        ("[review]\nshare = nan", "The file has a date, or a number"),
    ],
)
def test_a_file_that_no_step_can_show_is_refused(signed_in, text, message):
    answer = signed_in.post("/new/file/", {"text": text, "steps": "yes"})

    assert answer.status_code == 422
    assert message in answer.content.decode()


@pytest.mark.parametrize(
    "text",
    [
        'name = 3\nselection = ["a"]\nbudget = {}',
        '[hit]\nreward = "much"\nimages = [1]\ntitle = 5',
        '[workers]\nwho = 7\ncountries = "US"',
        "[instructions]\ngood = 1\nbad = [1, 2]",
        "[rating]\nsources = [1]",
        'kind = "rating"\n[rating]\nsources = [{name = 1, per_image = "x"}]',
        'kind = "nothing"\npreset = "nothing"',
        '[review]\nshare = "half"\n[priming]\nby = 3',
        f"responses = 1{'0' * 400}\n[review]\nshare = 1{'0' * 400}\n[hit]\nimages = 1{'0' * 400}",
    ],
)
def test_a_file_with_wrong_values_is_shown_in_the_steps(signed_in, user, text):
    names = ["task", "images", "instructions", "workers", "reward", "checks", "checklist"]

    signed_in.post("/new/file/", {"text": text, "steps": "yes"})

    drafts = CampaignDraft.objects.filter(owner=user)
    if drafts.exists():
        pages = [signed_in.get(page_of(drafts.get(), name)) for name in names]
        assert {page.status_code for page in pages} == {200}
        created = signed_in.post(reverse("hits:new_create", args=[drafts.get().pk]))
        assert created.status_code == 302
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"hit": {"images": 25}}, "hit.images: must be at most 20, not 25"),
        ({"hit": {"images": "a"}}, "hit.images: must be a whole number, not 'a'"),
        ({"hit": {"reward": "0.001"}}, "hit.reward: must be in whole cents"),
        ({"review": {"policy": "x"}}, "review.policy: must be 'decide' or 'propose', not 'x'"),
        ({"flags": {"repeats": 0}}, "flags.repeats: must be at least 1, not 0"),
        ({"name": "A b"}, "name: must have lower-case letters, digits and single hyphens"),
        ({"workers": {"countries": ["usa"]}}, "must be two capital letters, such as US"),
        ({"hit": {"title": ""}}, "hit.title: must not be empty"),
        ({"budget": None}, "budget: must be a number"),
        ({"captions": 3}, "captions: must be a section"),
        ({"instructions": {"good": 3}}, "instructions.good: must be a list in square brackets"),
        ({"priming": {"share": 2}}, "priming.share: must be at most 1, not 2"),
        ({"masters": True}, "masters: there is no such key"),
    ],
)
def test_errors_of_a_file_are_in_a_persons_words(values, words):
    with pytest.raises(CampaignFileError) as caught:
        parse_config({**BARE, **values})

    lines = [in_words(line) for line in str(caught.value).splitlines()]

    assert any(words in line for line in lines), lines
    assert not any("should" in line for line in lines)


@pytest.mark.parametrize(
    "value", ["0,15", "25,00", "1.250,50", "1,25", "1 250", "1_000", "1e3", "0,150"]
)
def test_an_amount_that_can_be_read_in_two_ways_is_refused(signed_in, draft, value):
    answer = save(signed_in, draft, "reward", hit__reward=value, budget=value)

    draft.refresh_from_db()
    assert answer.content.decode().count("a point before decimals") == 2
    assert "budget" not in draft.file


@pytest.mark.parametrize("value", ["1250.5", "1,250.50", "$1,250.50", " 1250.50 "])
def test_an_amount_may_have_commas_between_thousands(signed_in, draft, value):
    save(signed_in, draft, "reward", budget=value)

    draft.refresh_from_db()
    assert draft.file["budget"] == "1250.50"


def test_a_share_keeps_all_its_digits(signed_in, user):
    draft = begin_draft(owner=user, file={"review": {"share": 0.1234567}}, at=NOON)
    page = BeautifulSoup(signed_in.get(page_of(draft, "checks")).content, "html.parser")
    shown = page.find("input", {"name": "review__share"})["value"]

    save(signed_in, draft, "checks", review__share=shown)

    draft.refresh_from_db()
    assert shown == "12.34567"
    assert draft.file["review"]["share"] == 0.1234567


@pytest.mark.parametrize(
    "text", ["A dog | a cat.", "Two\nlines.", "C:\\new \\| odd \\", "A line\u2028separator."]
)
def test_an_example_comes_back_as_it_was(signed_in, user, text):
    examples = {"good": [text, "A man."], "bad": [{"text": text, "why": f"{text} | x"}]}
    draft = begin_draft(owner=user, file={"kind": "caption", "instructions": examples}, at=NOON)
    page = BeautifulSoup(signed_in.get(page_of(draft, "instructions")).content, "html.parser")
    shown = {
        name: page.find("textarea", {"name": name}).text.removeprefix("\n")
        for name in ("instructions__good", "instructions__bad")
    }

    save(signed_in, draft, "instructions", **shown)

    draft.refresh_from_db()
    assert draft.file["instructions"]["good"] == examples["good"]
    assert draft.file["instructions"]["bad"] == examples["bad"]


def test_a_preset_fills_in_the_steps_and_its_texts_follow_the_language(signed_in, draft):
    SelectionFactory(name="streets", images=1)
    save(signed_in, draft, "task", preset="dci")
    save(signed_in, draft, "images", references="1", baselines="")
    page = BeautifulSoup(signed_in.get(page_of(draft, "instructions")).content, "html.parser")
    shown = {
        field["name"]: field.get("value") or field.text
        for field in page.select("[name]")
        if field.get("type") not in ("checkbox", "radio") or field.has_attr("checked")
    }
    for choice in page.select("select"):
        selected = choice.select_one("option[selected]") or choice.option
        shown[choice["name"]] = selected["value"] if selected else ""
    assert shown["captions__target_words"] == "750"
    assert "part by part" in shown["instructions__rules"]

    entries = {**shown, "language": "de", "captions__style": "paragraph"}
    names = ("languages", "captions__forbid_there_is", "captions__forbid_line_breaks")
    for name in (*names, "csrfmiddlewaretoken", "to", "seen"):
        entries.pop(name, None)
    seen = seen_on(signed_in.get(page_of(draft, "instructions")))
    answer = signed_in.post(page_of(draft, "instructions"), {**entries, "seen": seen})
    reward = BeautifulSoup(signed_in.get(page_of(draft, "reward")).content, "html.parser")

    draft.refresh_from_db()
    assert answer.status_code == 302
    assert "instructions" not in draft.file
    config = parse_config({**draft.file, "budget": 1000, "workers": {"who": "own"}})
    assert "Teil für Teil" in "".join(config.instructions.rules)
    assert reward.find(id="id_hit__reward")["value"] == "6.00"


def test_the_reward_step_proposes_what_suits_the_length(signed_in, draft):
    draft.file = {"captions": {"style": "paragraph", "target_words": 300}}
    draft.save()

    page = BeautifulSoup(signed_in.get(page_of(draft, "reward")).content, "html.parser")
    save(signed_in, draft, "reward", hit__reward="0.50", hit__minutes="30")
    again = BeautifulSoup(signed_in.get(page_of(draft, "reward")).content, "html.parser")

    proposed = [page.find(id=f"id_hit__{key}")["value"] for key in ("reward", "minutes")]
    assert proposed == ["2.40", "48"]
    assert again.find(id="id_hit__reward")["value"] == "0.50"


def test_the_steps_ask_for_captions_to_rate_first_and_for_what_new_workers_do(signed_in, draft):
    selection = SelectionFactory(name="streets", images=1)
    CaptionSetFactory(team=selection.team, name="drafts")
    CaptionSetFactory(team=TeamFactory(), name="of-another-team")
    for step in ENTRIES:
        save(signed_in, draft, step)
    entries = {"captions__rate_first": "drafts", "captions__rate_first_captions": "2"}
    refused = save(signed_in, draft, "images", captions__rate_first="of-another-team")
    save(signed_in, draft, "images", **entries)
    confirm = "I write the text myself."
    save(signed_in, draft, "instructions", writing__confirm=confirm, writing__refuse_paste="on")

    draft.refresh_from_db()
    assert refused.status_code == 422
    assert draft.file["captions"]["rate_first"] == "drafts"
    assert draft.file["captions"]["rate_first_captions"] == 2
    assert draft.file["writing"] == {"confirm": confirm, "refuse_paste": True}

    save(signed_in, draft, "task", kind="rating")
    page = signed_in.get(page_of(draft, "instructions")).content.decode()
    draft.refresh_from_db()
    assert "rate_first" not in draft.file.get("captions", {})
    assert draft.file["writing"]["confirm"] == confirm
    assert 'name="writing__question"' in page
    assert 'name="writing__refuse_paste"' not in page
