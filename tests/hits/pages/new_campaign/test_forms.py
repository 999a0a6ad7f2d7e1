"""The fields of the steps: what they take, show again and store."""

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse

from annotate.kinds.campaign_files import parse_config
from annotate.models import Campaign
from annotate.services.drafts import begin_draft
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    CaptionSetFactory,
    GivenCaptionFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    TeamFactory,
)
from tests.hits.pages.new_campaign.entries import BARE, ENTRIES, field_of, page_of, save, seen_on
from tests.rubbish import forms_of

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_an_invalid_value_is_kept_and_explained(signed_in, draft):
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
        ("workers", {"workers__who": "panel", "workers__countries": "US UK"}, "“UK” is no country"),
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


def test_a_number_of_words_is_compared_with_limits_that_can_be_read(signed_in, draft):
    answer = save(
        *(signed_in, draft, "instructions"),
        captions__least_words="many",
        captions__target_words="50",
    )

    page = answer.content.decode()
    assert "Enter a whole number, such as 10." in page
    assert "from None" not in page


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


HIT = {"reward": "0.20", "minutes": 20}
FILE = {"name": "a", "selection": "streets", "budget": "25.00", "hit": HIT}


@pytest.mark.parametrize(
    "file",
    [
        {"captions": {"style": "paragraph", "least_words": 8, "most_words": 60}},
        {
            "instructions": {"intro": "Look.\nThen write."},
            "hit": {**HIT, "keywords": ""},
        },
        {"kind": "region", "region": {"leave_out": []}},
        {"kind": "region", "region": {"least_size": 0.02}},
        {"kind": "refine", "refine": {"draft_set": "old"}},
        {"preset": "iiw", "hit": {}},
    ],
    ids=str,
)
def test_steps_that_are_sent_as_they_are_shown_keep_the_campaign(signed_in, user, file):
    BoxFactory(image=SelectionFactory(name="streets", images=1).images.get())
    CaptionSetFactory(name="old")
    draft = begin_draft(owner=user, file={**FILE, **file}, at=NOON)

    for step in ENTRIES:
        page = page_of(draft, step)
        shown = next(
            form
            for form in forms_of(signed_in.get(page).content.decode(), page)
            if "seen" in form.fields
        )
        assert signed_in.post(page, shown.fields).status_code == 302

    draft.refresh_from_db()
    assert parse_config(draft.file) == parse_config({**FILE, **file})


def test_the_steps_show_the_defaults_of_a_kind_and_its_section(signed_in, draft):
    save(signed_in, draft, "task", kind="region")

    page = BeautifulSoup(signed_in.get(page_of(draft, "images")).content, "html.parser")

    sizes = [page.find("input", {"name": f"region__{size}_size"}) for size in ("least", "most")]
    ticked = page.select("input[name=region__leave_out][checked]")
    assert [size["value"] for size in sizes] == ["1", "100"]
    assert [box["value"] for box in ticked] == ["duplicates"]
