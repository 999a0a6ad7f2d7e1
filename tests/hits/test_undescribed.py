"""Images that cannot be described: reasons in place of captions, the quorum, and remarks."""

import csv
import json
import re
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from annotate.exports.records import rule_of
from annotate.kinds import KINDS, AnswerMissing, AnswerRefused
from annotate.kinds.campaign_files import CampaignFileError, parse_config
from annotate.models import (
    Behaviour,
    Campaign,
    ImportedFile,
    ReleasedCaption,
    Response,
    Task,
)
from annotate.queries.progress import open_work
from annotate.queries.releases import references_of_release
from annotate.services.campaigns import create_campaign
from annotate.services.reports import read_release
from annotate.services.responses import Answered, discard, restore
from annotate.templatetags.campaigns import show_answer
from hits.services.claims import recount_places
from qualcontrol.models import Assessment
from qualcontrol.queries.finding import found_responses
from qualcontrol.services.exclusions import exclude_worker, exclusion_preview
from qualcontrol.services.flagging import assess
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SelectionFactory,
    WorkerAccountFactory,
    WorkerFactory,
)
from tests.hits.opened_pages import form_fields, listed, open_page
from tests.races import while_open
from tests.submitted import add_submitted, take_submission
from tests.threads import at_once

CAPTIONS = KINDS["caption"]
DARK, BLURRED = "too dark", "blurred <b>"
TEXT = "A grey cat sleeps on a folded blanket beside a window."


def make(*, images=1, references=3, baselines=1, quorum=2, **captions):
    rules = {"cannot_describe": [DARK, BLURRED], "cannot_describe_quorum": quorum, "remarks": True}
    values = {
        "name": "dim",
        "selection": SelectionFactory(images=images).name,
        "budget": "50.00",
        "references": references,
        "baselines": baselines,
        "captions": {**rules, **captions},
        "review": {"share": 0, "first": 0, "approve_after_hours": 0},
    }
    campaign = create_campaign(config=parse_config(values), endpoint="local", at=NOON)
    Campaign.objects.update(status="RUNNING")
    return Campaign.objects.get(pk=campaign.pk)


def say(task, text="", reason="", remark="", worker=None):
    task = Task.objects.select_related("campaign").get(pk=task.pk)
    names = CAPTIONS.field_names(task)
    answer = CAPTIONS.read(task, dict(zip(names, (text, reason, remark), strict=True)))
    answers = [Answered(task, answer)]
    [response] = add_submitted(worker=worker or WorkerFactory(), answers=answers, at=NOON)
    return response


def counters(task):
    task = Task.objects.get(pk=task.pk)
    return task.wanted, task.answers_missing, task.places_left


@pytest.fixture
def task(db):
    return make().tasks.get()


def test_at_the_quorum_the_places_vanish_and_come_back_when_a_reason_is_discarded(task):
    first = say(task, reason=DARK)
    assert counters(task) == (4, 3, 3)

    say(task, reason=BLURRED)
    assert counters(task) == (2, 0, 0)

    late = say(task, TEXT)  # of a page that was open already
    assert counters(task) == (3, 0, 0)

    discard(responses=[late])
    assert counters(task) == (2, 0, 0)
    assert restore(responses=[late]) == []

    discard(responses=[first])
    assert counters(task) == (4, 3, 3)

    assert restore(responses=[first]) == [first]
    assert counters(task) == (2, 0, 0)
    Task.objects.update(wanted=9, answers_missing=4, places_left=1)
    recount_places(task.campaign)
    assert counters(task) == (2, 0, 0)


@pytest.mark.parametrize("said", [("", DARK, DARK), ("", DARK, DARK, DARK), (DARK, "", DARK)])
def test_the_preview_of_an_exclusion_knows_that_it_may_open_the_image_again(task, said):
    first, *_ = [say(task, "" if reason else TEXT, reason=reason) for reason in said]
    campaign, worker = task.campaign, first.worker

    found = exclusion_preview(campaign=campaign, workers=[worker], slot_cost=Decimal("0.12"))
    exclude_worker(campaign=campaign, worker=worker, reason="careless", actor=None, at=NOON)

    missing = open_work(campaign).missing
    assert (found.slots, found.tasks_reopened) == (missing, int(missing > 0))


def test_below_the_quorum_a_reason_takes_the_place_of_a_caption(task):
    for text in (TEXT, "", TEXT, TEXT):
        say(task, text, reason="" if text else DARK)

    assert counters(task) == (4, 0, 0)
    release = release_campaign(campaign=task.campaign, name="v1", seed=1, at=NOON)

    roles = sorted(release.images.get().captions.values_list("role", flat=True))
    assert roles == ["BASELINE", "REASON", "REFERENCE", "REFERENCE"]
    assert not release.is_partial


@pytest.mark.django_db(transaction=True)
def test_two_at_once_reach_the_quorum_together():
    task = make().tasks.get()
    workers = WorkerFactory.create_batch(2)

    at_once(lambda worker: say(task, reason=DARK, worker=worker), workers)

    assert counters(task) == (2, 0, 0)
    first, second = Response.objects.order_by("pk")
    at_once(lambda response: discard(responses=[response]), [first, second])
    assert counters(task) == (4, 4, 4)
    assert recount_places(task.campaign) == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite writes one by one")
def test_the_second_reason_that_waits_for_the_first_closes_the_image():
    task = make().tasks.get()
    one, other = WorkerFactory.create_batch(2)

    while_open(
        lambda: say(task, reason=DARK, worker=one), lambda: say(task, reason=DARK, worker=other)
    )

    assert counters(task) == (2, 0, 0)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (("", "", ""), "write a sentence"),
        ((TEXT, DARK, ""), "not both"),
        (("", "of another campaign", ""), "write a sentence"),
        (("Too short.", "", ""), "at least 8 words"),
    ],
)
def test_the_page_refuses_what_is_neither_a_caption_nor_a_reason(task, fields, said):
    names = CAPTIONS.field_names(task)

    with pytest.raises(AnswerRefused) as refused:
        CAPTIONS.check(task, task.campaign.config, dict(zip(names, fields, strict=True)))

    assert said in refused.value.problems[0].message


def test_reported_fields_are_read_as_the_page_would_have_checked_them(task):
    def read(*fields):
        return CAPTIONS.read(task, dict(zip(CAPTIONS.field_names(task), fields, strict=True)))

    both = read(TEXT, DARK, "  a\n remark ")
    assert (both, both.reason, both.remark) == (TEXT, "", "a remark")
    reason = read("", DARK, "")
    assert (reason, reason.reason) == ("", DARK)
    assert CAPTIONS.read(task, CAPTIONS.fields_of(task, reason)).reason == DARK
    with pytest.raises(AnswerMissing):
        read("", "of another campaign", "only a remark")
    task.campaign.config.captions.__dict__["remarks"] = False
    assert read(TEXT, "", "a remark").remark == ""


@pytest.mark.parametrize(
    ("captions", "said"),
    [
        ({"cannot_describe": [DARK, DARK]}, "twice"),
        ({"cannot_describe": [" dark"]}, "cannot_describe.0"),
        ({"cannot_describe_quorum": 0}, "cannot_describe_quorum"),
    ],
)
def test_a_file_with_impossible_rules_is_refused(captions, said):
    with pytest.raises(CampaignFileError, match=said):
        parse_config({"name": "a", "selection": "b", "budget": 1, "captions": captions})


def test_a_page_offers_the_reasons_and_what_it_sends_comes_back_as_one(db):
    campaign = make()
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    account = WorkerAccountFactory()
    page = open_page(Client(), hit, "A1", account.marketplace_id)
    body = page.content.decode()
    assert "blurred &lt;b&gt;" in body
    assert 'name="remark-1"' in body
    fields = form_fields(page) | {"cannot_describe-1": DARK, "remark-1": "I saw only <grey>."}

    sent = Client().post("/task/dim/", fields, headers={"accept": "application/json"}).json()
    assert sent["fields"] == {"cannot_describe-1": DARK, "remark-1": "I saw only <grey>."}
    answer = {**sent["fields"], "remark-1": "I saw only &lt;grey&gt;."}
    reported = listed("A1", account.marketplace_id, **answer)
    take_submission(campaign=campaign, hit=hit, listed=reported, at=NOON)

    response = Response.objects.get()
    assert (response.cannot_describe, response.caption.text) == (DARK, "")
    assert response.caption.remark == "I saw only <grey>."
    shown = show_answer(CAPTIONS, response)
    assert DARK in shown
    assert "I saw only &lt;grey&gt;." in shown
    assert CAPTIONS.summary(response) == "Cannot be described: too dark"
    assert CAPTIONS.judge_payload(response)["remark"] == "I saw only <grey>."


def test_the_page_of_other_campaigns_is_as_before(db):
    campaign = make(cannot_describe=[], remarks=False)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)

    body = open_page(Client(), hit, "A1", "AWORKER").content.decode()

    assert "<select" not in body
    assert 'name="remark' not in body
    assert re.search(r'rows="3"\s+required', body)


def test_a_remark_is_found_by_its_words_and_is_no_part_of_the_caption(task):
    remarked = say(task, TEXT, remark="the picture was upside down")
    say(task, TEXT)

    assert list(found_responses(task.campaign, {"words": "upside"})) == [remarked]
    assert found_responses(task.campaign, {"words": "blanket"}).count() == 2
    assert not found_responses(task.campaign, {"words": "upside blanket"})


def test_a_closed_image_is_released_with_its_reasons_and_without_captions(db, tmp_path):
    campaign = make(images=2)
    closed, described = campaign.tasks.order_by("number")
    say(closed, TEXT, remark="hardly visible")
    say(closed, reason=DARK, remark="my screen is fine")
    say(closed, reason=DARK)
    for _ in range(4):
        say(described, TEXT)
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)

    assert not release.is_partial
    assert [len(each) for each in references_of_release(release).values()] == [0, 3]
    assert len(read_release(release).captions) == 4
    for file_format in ("coco", "csv"):
        call_command(
            "export", "v1", "--format", file_format, "--with", "workers,remarks",
            "--out", str(tmp_path / file_format), stdout=StringIO(),
        )  # fmt: skip
    images = json.loads((tmp_path / "coco" / "captions.json").read_text())["images"]
    assert [image["cannot_describe"] for image in images] == [{DARK: 2}, {}]
    [remark] = json.loads((tmp_path / "coco" / "remarks.json").read_text())["remarks"]
    assert remark == {"image_id": 1, "caption": DARK, "remark": "my screen is fine"}
    vizwiz = json.loads((tmp_path / "coco" / "vizwiz.json").read_text())["annotations"]
    assert [(each["image_id"], each["is_precanned"]) for each in vizwiz] == [
        (2, False), (2, False), (2, False), (1, True), (1, True),
    ]  # fmt: skip
    [reasons] = tmp_path.glob("csv/**/reasons.csv")
    rows = list(csv.DictReader(StringIO(reasons.read_text(encoding="utf-8-sig"))))
    assert [(row["image_id"], row["reason"]) for row in rows] == [("1", DARK)] * 2
    assert len({row["worker"] for row in rows}) == 2
    page = CAPTIONS.released_context(release.images.first())
    assert page["reason"] == "REASON"


def test_a_release_names_no_file_whose_captions_it_leaves_out(db):
    task = make(quorum=1).tasks.get()
    file = ImportedFile.objects.create(name="other.csv", sha256="0" * 64, at=NOON)
    left_out = ResponseFactory(task=task, imported_from=file)
    Behaviour.objects.create(response=left_out, characters={"pasted": 20})
    say(task, reason=DARK)

    release = release_campaign(campaign=task.campaign, name="v1", seed=1, at=NOON)

    assert ReleasedCaption.objects.get().text == DARK
    assert release.context["imports"] == []
    assert release.context["writing"] is None


def test_hidden_images_hide_their_reasons(db):
    campaign = make()
    task = campaign.tasks.get()
    say(task, reason=DARK)
    say(task, reason=DARK)

    release = release_campaign(
        campaign=campaign, name="v1", seed=1, at=NOON, hidden=rule_of(share=1.0)
    )

    for name in ("captions.json", "vizwiz.json"):
        assert DARK not in "".join(CAPTIONS.files[name](release)).replace(
            json.dumps(campaign.config_json), ""
        )
    assert DARK in "".join(CAPTIONS.files["vizwiz.json"](release, hidden=True))


def test_a_worker_who_says_so_more_often_than_the_others_is_flagged(db):
    campaign = make(images=6, references=6, quorum=6)
    lazy, others = WorkerFactory(), WorkerFactory.create_batch(3)
    tasks = list(campaign.tasks.order_by("number"))
    said = [say(task, reason=DARK, worker=lazy) for task in tasks]
    for n, task in enumerate(tasks):
        for worker in others:
            text = f"{worker.pk} {TEXT[:-1]} number {n}."
            honest = [say(task, "" if n == 0 else text, DARK if n == 0 else "", worker=worker)]
            assess(campaign=campaign, responses=honest)
    assess(campaign=campaign, responses=said)

    codes = dict(Assessment.objects.values_list("response__worker", "codes"))
    assert "undescribes" in codes[lazy.pk].split()
    assert all("undescribes" not in codes[worker.pk].split() for worker in others)
    assert all("unlike" not in flags for flags in codes.values())
    [why] = [
        flag["why"]
        for flag in Assessment.objects.get(response=said[-1]).flags
        if flag["code"] == "undescribes"
    ]
    assert "6 of 6 images" in why
    assert "3 of 18 other answers say so" in why


def test_vizwiz_is_a_preset_that_always_collects_five(db):
    config = parse_config({"name": "a", "preset": "vizwiz", "selection": "b", "budget": 1})

    assert (config.wanted, config.captions.cannot_describe_quorum) == (5, 5)
    assert config.captions.remarks
    assert config.captions.cannot_describe[0].startswith("Quality issues are too severe")


def test_a_reason_is_no_draft_of_a_text_in_rounds(db):
    campaign = make(images=2, references=1, baselines=0, quorum=1)
    dark, bright = campaign.tasks.order_by("number")
    say(dark, reason=DARK)
    say(bright, text=TEXT)
    release_campaign(campaign=campaign, name="dim-v1", seed=1, at=NOON)
    values = {
        "name": "rounds",
        "kind": "refine",
        "selection": campaign.selection.name,
        "budget": "50.00",
        "refine": {"draft_release": "dim-v1", "joins_captions": True},
    }

    rounds = create_campaign(config=parse_config(values), endpoint="local", at=NOON)

    drafts = [task.payload and task.payload["text"] for task in rounds.tasks.order_by("number")]
    assert drafts == [None, TEXT]


def test_a_draft_from_elsewhere_is_in_the_form_in_which_texts_are_stored(db):
    """Else a version that changes nothing would not equal it."""
    campaign = make(images=1, references=1, baselines=0, quorum=1)
    say(campaign.tasks.get(), text=TEXT)
    release_campaign(campaign=campaign, name="raw", seed=1, at=NOON)
    ReleasedCaption.objects.update(text=f"{TEXT.replace(' ', '  ')}\n")
    values = {
        "name": "rounds",
        "kind": "refine",
        "selection": campaign.selection.name,
        "budget": "50.00",
        "refine": {"draft_release": "raw"},
    }

    rounds = create_campaign(config=parse_config(values), endpoint="local", at=NOON)

    assert rounds.tasks.get().payload["text"] == TEXT
