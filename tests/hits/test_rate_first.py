"""Given captions that workers rate before they write their own."""

import csv
import json
from io import StringIO
from random import Random

import pytest
from bs4 import BeautifulSoup
from django.core.management import call_command
from django.test import Client

from annotate.kinds import KINDS, AnswerRefused
from annotate.kinds.base import CampaignNotPossible
from annotate.kinds.campaign_files import parse_config
from annotate.models import Campaign, CaptionSet, GivenCaption, Response
from annotate.services.campaigns import change_campaign, create_campaign
from annotate.templatetags.campaigns import show_answer, show_released
from qualcontrol.models import Assessment
from qualcontrol.services.releasing import release_campaign
from simulation.kinds.caption import Captioner
from simulation.workers.browser import read_form
from simulation.workers.crowd import filled
from simulation.workers.writers import KeywordLister, Limits
from tests.factories import (
    NOON,
    HitFactory,
    HitTypeFactory,
    SelectionFactory,
    WorkerAccountFactory,
)
from tests.hits.opened_pages import form_fields, listed, open_page
from tests.submitted import take_submission

CAPTIONS = KINDS["caption"]
TEXT = "A grey cat sleeps on a folded blanket beside a window."
GIVEN = "a cat <b> on a bed"


@pytest.fixture
def selection(db):
    selection = SelectionFactory(images=2)
    given = CaptionSet.objects.create(team=selection.team, name="drafts", created_at=NOON)
    for number, image in enumerate(selection.selected.values_list("image_id", flat=True), 1):
        given.captions.create(image_id=image, number=number, annotation_id=number, text=GIVEN)
    return selection


def make(selection, language="en", *, name="rated", **captions):
    values = {
        "name": name,
        "preset": "xm3600",
        "selection": selection.name,
        "budget": "90.00",
        "references": 1,
        "language": language,
        "captions": {"rate_first": "drafts", **captions},
        "hit": {"images": 2},
        "review": {"share": 0, "first": 0, "approve_after_hours": 0},
    }
    campaign = create_campaign(config=parse_config(values), endpoint="local", at=NOON)
    Campaign.objects.update(status="RUNNING")
    return Campaign.objects.get(pk=campaign.pk)


def opened(campaign):
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    account = WorkerAccountFactory()
    return hit, account, open_page(Client(), hit, "A1", account.marketplace_id)


@pytest.mark.parametrize(("language", "said"), [("en", "excellent"), ("ar", "ممتاز")])
def test_all_ratings_come_before_all_captions(selection, language, said):
    body = opened(make(selection, language))[2].content.decode()

    places = [
        body.index(f'name="{name}"')
        for name in ("quality-1-1", "quality-1-2", "caption-1", "caption-2")
    ]
    assert places == sorted(places)
    assert said in body
    assert "a cat &lt;b&gt; on a bed" in body


@pytest.mark.parametrize("without", [None, 1, 2])
def test_the_heading_comes_once_also_if_an_image_has_no_given_captions(selection, without):
    GivenCaption.objects.filter(number=without).delete()

    page = BeautifulSoup(opened(make(selection))[2].content, "lxml")

    assert [heading.text for heading in page.select("form h2")] == [
        "First, rate these descriptions"
    ]
    assert len(page.select("form link[href$='kinds/scales.css']")) == 1


@pytest.mark.parametrize("known", ["en", ""])
def test_given_captions_are_in_the_language_of_their_set(selection, known):
    CaptionSet.objects.update(language=known)
    page = BeautifulSoup(opened(make(selection, "ar"))[2].content, "lxml")

    assert page.html["lang"] == "ar"
    given = page.select(".rate-first blockquote")
    # An empty tag says that the language is unknown; without one, it would be the page's.
    assert {(each["lang"], each["dir"]) for each in given} == {(known, "auto")}


def test_the_text_around_an_image_is_in_no_known_language(selection):
    selection.images.update(context="Herons leave.")
    page = BeautifulSoup(opened(make(selection, "ar", show_context=True))[2].content, "lxml")

    [context, _] = page.select(".context blockquote")
    assert (context["lang"], context["dir"]) == ("", "auto")


def test_a_page_without_given_captions_asks_for_none(selection):
    body = opened(make(selection, rate_first=""))[2].content.decode()

    assert "rate-first" not in body
    assert "quality-" not in body


def test_simulated_workers_rate_and_send_nothing_that_they_did_not_choose(selection):
    page = BeautifulSoup(opened(make(selection))[2].content, "lxml")
    task = read_form(page.select_one("form[data-task]"))
    limits = Limits(least_words=8, most_words=40)
    hand = Captioner(KeywordLister(), limits, {})

    ratings = [filled(hand, task, Random(seed), refused=False)["quality-1-1"] for seed in range(40)]

    assert set(ratings) == {"1", "2", "3", "4", "5"}
    assert "quality-1-1" not in task.hidden


def test_an_unknown_set_makes_no_campaign(selection):
    with pytest.raises(CampaignNotPossible, match=r"captions\.rate_first"):
        make(selection, rate_first="elsewhere")


def test_an_answer_without_a_rating_is_refused(selection):
    campaign = make(selection)
    task = campaign.tasks.order_by("number").first()

    with pytest.raises(AnswerRefused) as refused:
        CAPTIONS.check(task, campaign.config, {"caption-1": TEXT, "quality-1-1": "6"})
    assert [problem.code for problem in refused.value.problems] == ["unrated"]


def test_ratings_come_back_from_the_marketplace_and_are_released(selection, tmp_path):
    campaign = make(selection)
    hit, account, page = opened(campaign)
    answers = {"quality-1-1": "4", "quality-1-2": "5", "caption-1": TEXT, "caption-2": TEXT}
    sent = Client().post(
        "/task/rated/", form_fields(page) | answers, headers={"accept": "application/json"}
    )
    assert sent.json()["fields"] == answers
    reported = listed("A1", account.marketplace_id, **answers)
    take_submission(campaign=campaign, hit=hit, listed=reported, at=NOON)

    first, second = Response.objects.order_by("task__number")
    assert (first.caption.text, first.caption.ratings) == (TEXT, {"1": {"quality": 4}})
    shown = show_answer(CAPTIONS, first)
    assert '<span lang="" dir="auto">a cat &lt;b&gt; on a bed</span>' in shown
    assert "excellent" in shown
    assert CAPTIONS.judge_payload(second)["ratings"] == [
        {"text": GIVEN, "rating": None, "label": "cannot tell"}
    ]

    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    page = show_released(CAPTIONS, release.images.first())
    assert "a cat &lt;b&gt; on a bed" in page
    assert "excellent" in page
    file = json.loads("".join(CAPTIONS.files_of(release)["ratings.json"](release)))
    assert file["ratings"] == [
        {"image_id": 1, "worker": 1, "caption": GIVEN, "rating": 4, "label": "excellent"},
        {"image_id": 2, "worker": 1, "caption": GIVEN, "rating": None, "label": "cannot tell"},
    ]
    for file_format in ("coco", "csv"):
        out = str(tmp_path / file_format)
        call_command("export", "v1", "--format", file_format, "--out", out, stdout=StringIO())
    kept = json.loads((tmp_path / "coco" / "ratings.json").read_text())["ratings"]
    assert [row.get("worker") for row in kept] == [None, None]
    [ratings] = tmp_path.glob("csv/**/ratings.csv")
    rows = list(csv.DictReader(StringIO(ratings.read_text(encoding="utf-8-sig"))))
    assert [(row["image_id"], row["rating"]) for row in rows] == [("1", "4"), ("2", "")]


def changed(campaign, **captions):
    file = {**campaign.config_json, "captions": {**campaign.config_json["captions"], **captions}}
    return change_campaign(
        campaign=campaign,
        config=parse_config(file),
        begun_from=campaign.config_json,
    )


@pytest.mark.parametrize(
    ("before", "after", "numbers"),
    [("", "drafts", [1, 1]), ("drafts", "", [0, 0])],
)
def test_a_draft_whose_set_is_changed_gets_other_tasks(selection, before, after, numbers):
    campaign = make(selection, rate_first=before)
    Campaign.objects.update(status="DRAFT")

    campaign = changed(campaign, rate_first=after)

    tasks = campaign.tasks.order_by("number")
    assert [len((task.payload or {}).get("rate_first", [])) for task in tasks] == numbers


def test_a_draft_that_shows_the_context_gets_other_tasks(selection):
    selection.images.update(context="Herons leave.")
    campaign = make(selection)
    Campaign.objects.update(status="DRAFT")

    campaign = changed(campaign, show_context=True)

    assert {task.payload.get("context") for task in campaign.tasks.all()} == {"Herons leave."}


def test_a_copy_of_a_caption_that_was_rated_is_flagged(selection):
    GivenCaption.objects.update(text=TEXT)
    campaign = make(selection)
    hit, account, page = opened(campaign)
    own = "Two children feed a small brown goat through a wooden fence."
    answers = {"quality-1-1": "4", "quality-1-2": "5", "caption-1": TEXT, "caption-2": own}

    reported = listed("A1", account.marketplace_id, **answers)
    take_submission(campaign=campaign, hit=hit, listed=reported, at=NOON)

    copied, written = Assessment.objects.order_by("response__task__number")
    assert copied.codes.split() == ["copies_example"]
    assert copied.flags[0]["why"] == "Copies a caption that was given to rate."
    assert written.codes == ""


def test_a_release_of_two_languages_says_in_which_one_a_rating_was_given(selection, tmp_path):
    for language in ("en", "ar"):
        campaign = make(selection, language, name=f"rated-{language}")
        hit, account, _ = opened(campaign)
        answers = {"quality-1-1": "4", "quality-1-2": "5", "caption-1": TEXT, "caption-2": TEXT}
        reported = listed("A1", account.marketplace_id, **answers)
        take_submission(campaign=campaign, hit=hit, listed=reported, at=NOON)
    Campaign.objects.update(family="rated")

    campaign = Campaign.objects.get(slug="rated-en")
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON, in_all_languages=True)

    file = json.loads("".join(CAPTIONS.files_of(release)["ratings.json"](release)))
    assert [(each["image_id"], each["language"]) for each in file["ratings"]] == [
        (1, "en"), (1, "ar"), (2, "en"), (2, "ar"),
    ]  # fmt: skip
    [table] = [each for each in CAPTIONS.tables(release) if each.name == "ratings"]
    assert [*table.values("language", "rating")] == [
        ("en", 4),
        ("ar", 4),
        ("en", None),
        ("ar", None),
    ]
