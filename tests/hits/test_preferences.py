"""A campaign of comparisons from the sources to an export, and what pages choose to compare."""

import csv
import json
import re
from io import StringIO
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.db import connection

from annotate.kinds import AnswerMissing, AnswerRefused
from annotate.kinds.campaign_files import CampaignFileError, parse_config
from annotate.kinds.preference.pairs import Standing
from annotate.models import Answer
from annotate.templatetags.campaigns import show_answer
from hits.reconcile.reconciler import reconcile
from hits.services.claims import claim_tasks
from qualcontrol.services.releasing import release_campaign
from tests.factories import NOON, HitFactory, HitTypeFactory, TaskPageFactory
from tests.hits.framed_work import fields_of, open_page
from tests.hits.preferences import (
    MODELS,
    PREFERENCES,
    best_is_a,
    compare,
    make_campaign,
    respond,
    shown_pairs,
)
from tests.races import while_open


@pytest.mark.django_db
def test_a_page_chooses_its_pair_from_the_votes_so_far_and_keeps_it():
    campaign = make_campaign(images=13)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    *others, last = campaign.tasks.order_by("number")
    for number, task in enumerate(others):
        compare(task, number % 3)
        # Votes that leave only one question open: which of the two others is better.
        for step in (1, 1) if "poor" in str(task.payload["pairs"]) else (1, 5):
            respond(task, step)
    campaign.tasks.exclude(pk=last.pk).update(answers_missing=0, places_left=0)

    [task] = claim_tasks(campaign=campaign, worker=None, page=TaskPageFactory(hit=hit), count=1)
    chosen = campaign.tasks.get(pk=task.pk).payload
    respond(others[0], 1)
    [again] = claim_tasks(campaign=campaign, worker=None, page=TaskPageFactory(hit=hit), count=1)

    assert shown_pairs(task) == {("fair", "good")}
    assert chosen["votes_known"] == 24
    assert again.payload == chosen == task.payload


@pytest.mark.django_db
def test_pairs_that_a_worker_compared_before_any_page_showed_them_are_kept():
    campaign = make_campaign(images=3)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    task = campaign.tasks.order_by("number").first()
    respond(task, 1)
    before = campaign.tasks.get(pk=task.pk).payload["pairs"]
    campaign.tasks.exclude(pk=task.pk).update(answers_missing=0, places_left=0)

    [shown] = claim_tasks(campaign=campaign, worker=None, page=TaskPageFactory(hit=hit), count=1)

    assert shown.payload["pairs"] == before
    assert "votes_known" not in shown.payload


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
@pytest.mark.django_db(transaction=True)
def test_a_page_that_opens_while_another_chooses_shows_the_pair_that_is_stored():
    campaign = make_campaign(images=2)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    first, last = campaign.tasks.order_by("number")
    campaign.tasks.filter(pk=first.pk).update(answers_missing=0, places_left=0)
    pages = TaskPageFactory.create_batch(2, hit=hit)
    shown = []

    def open_page_of(page):
        shown.extend(claim_tasks(campaign=campaign, worker=None, page=page, count=1))

    def vote_and_open():
        respond(first, 1)
        open_page_of(pages[1])

    while_open(lambda: open_page_of(pages[0]), vote_and_open)

    stored = campaign.tasks.get(pk=last.pk).payload
    assert [task.payload for task in shown] == [stored, stored]
    assert stored["votes_known"] == 0


@pytest.mark.django_db
def test_pages_that_open_before_any_vote_compare_all_pairs():
    campaign = make_campaign(images=3)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)

    tasks = claim_tasks(campaign=campaign, worker=None, page=TaskPageFactory(hit=hit), count=3)
    more = claim_tasks(campaign=campaign, worker=None, page=TaskPageFactory(hit=hit), count=3)

    assert {task.pk for task in more} == {task.pk for task in tasks}
    assert {task.payload["votes_known"] for task in tasks} == {0}


@pytest.mark.django_db
def test_only_the_latest_votes_are_read_to_choose_a_pair(monkeypatch):
    monkeypatch.setattr("annotate.kinds.preference.pairs.LATEST", 2)
    campaign = make_campaign(images=3)
    for task in campaign.tasks.all():
        respond(task, 1)

    standing = Standing(campaign, PREFERENCES.rules(campaign.config))

    assert standing.known == 3
    assert standing.wins.sum() == 2


@pytest.mark.django_db
def test_random_pairs_depend_on_the_seed_alone():
    campaign = make_campaign(images=3, pairs="random", pairs_per_image=2)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    before = [task.payload for task in campaign.tasks.order_by("number")]

    claim_tasks(campaign=campaign, worker=None, page=TaskPageFactory(hit=hit), count=3)

    assert [task.payload for task in campaign.tasks.order_by("number")] == before
    assert {len(payload["pairs"]) for payload in before} == {2}


@pytest.mark.django_db
def test_the_same_text_of_two_sources_is_compared_once_and_counts_for_both():
    campaign = make_campaign(images=2, same_text=("good", "fair"))
    [pair] = campaign.tasks.first().payload["pairs"]
    for task in campaign.tasks.all():
        for _ in range(2):
            response = respond(task, 1)
            names = task.payload["pairs"][0]["sources"]
            step = 1 if names[0] != ["poor"] else 5
            response.answer.content = {"1": {"better": step}}
            response.answer.save()

    release = release_campaign(campaign=campaign, name="ranked", seed=1, at=NOON)

    assert sorted(pair["sources"]) == [["fair", "good"], ["poor"]]
    [criterion] = release.figures["criteria"]
    assert [each["votes"] for each in criterion["ranking"]] == [4, 4, 8]
    assert criterion["ranking"][-1]["source"] == "poor"
    assert criterion["votes"] == 4


@pytest.mark.django_db
def test_an_answer_names_what_is_missing_and_part_of_it_counts():
    campaign = make_campaign(pairs_per_image=2, marks=True)
    task = campaign.tasks.first()
    part = {f"better-2-{task.number}": "5", f"wrong-2-4-{task.number}": "1"}

    with pytest.raises(AnswerRefused, match="Please answer all questions"):
        PREFERENCES.check(task, campaign.config, part)
    answer = PREFERENCES.read(task, part)
    with pytest.raises(AnswerMissing):
        PREFERENCES.read(task, {f"better-1-{task.number}": "6", f"missing-1-{task.number}": "x"})
    marked = {**part, f"wrong-99-1-{task.number}": "1", f"missing-1-{task.number}": " a\n dog "}

    assert answer == {"2": {"better": 5}, "marks": {"4": {"wrong": [2], "missing": ""}}}
    assert PREFERENCES.read(task, marked)["marks"]["1"] == {"wrong": [], "missing": "a dog"}


@pytest.mark.parametrize(
    ("preference", "message"),
    [
        ({"sources": [{"name": "a", "release": "r"}]}, "name at least two sources"),
        ({"criteria": []}, "preference.criteria"),
        ({"criteria": [{"name": "a", "question": "?"}] * 2}, "two criteria have the same name"),
        ({"criteria": [{"name": "A b", "question": "?"}]}, "preference.criteria.0.name"),
        ({"criteria": [{"name": "worker", "question": "?"}]}, "cannot have the name worker"),
        ({"questions": []}, "preference.questions: there is no such key"),
    ],
)
def test_a_wrong_section_is_explained(preference, message):
    values = {"name": "a", "kind": "preference", "selection": "b", "budget": 1}
    with pytest.raises(CampaignFileError, match=message):
        parse_config({**values, "preference": preference})


def work(client, worker, campaign):
    """Do one assignment: accept, prefer the better source, mark a word of text B, submit."""
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    page = open_page(client, frame)
    [task] = campaign.tasks.filter(claims__page__assignment_id=frame.assignment_id)
    [pair] = task.payload["pairs"]
    assert not any(name in page.content.decode() for name in MODELS)
    fields = {
        "token": fields_of(page, "data-task")["token"],
        f"better-1-{task.number}": "2" if best_is_a(pair) else "4",
        f"wrong-2-2-{task.number}": "1",
        f"wrong-3-2-{task.number}": "1",
        f"missing-1-{task.number}": "a dog",
    }
    sent = client.post(urlsplit(frame.src).path, fields)
    handed_on = fields_of(sent, "data-forward")
    answer = worker.submit(handed_on.pop("assignmentId"), **handed_on)
    assert answer.ok, answer.text


@pytest.mark.django_db(transaction=True)
def test_votes_go_through_the_marketplace_to_a_ranking(
    client, marketplace, requester, tmp_path, admin_client
):
    campaign = make_campaign(marks=True)

    reconcile(campaign)
    for worker in marketplace.fresh_workers(2):
        for _ in range(6):
            work(client, worker, campaign)
        reconcile(campaign)
    release_campaign(campaign=campaign, name="ranked", seed=3, at=NOON)
    call_command("export", "ranked", "--out", str(tmp_path / "out"), stdout=StringIO())

    made = json.loads((tmp_path / "out" / "preferences.json").read_text())
    [criterion] = made["criteria"]
    assert [each["source"] for each in criterion["ranking"]] == MODELS
    assert (criterion["votes"], criterion["ties"], criterion["alpha"]) == (12, 0.0, 1.0)
    assert sum(each["strength"] for each in criterion["ranking"]) == pytest.approx(0, abs=0.01)
    assert {each["chance_wrong"] <= 0.5 for each in criterion["orders"]} == {True}
    assert made["alpha_of_wrong_words"] == 1.0
    comparisons = made["comparisons"]
    assert sum(each["votes_known"] > 0 for each in comparisons) == 0
    [first, *_] = comparisons
    [mark, _] = first["b"]["marks"]
    assert [span["text"] for span in mark["wrong"]] == [" ".join(first["b"]["text"].split()[1:3])]
    assert [word["marked_by"] for word in first["b"]["words"]][:4] == [0, 2, 2, 0]
    assert {mark["missing"] for mark in first["a"]["marks"]} == {"a dog"}
    with (tmp_path / "out" / "votes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["step"] for row in rows} <= {"2", "4"}
    names = {task.image.key: f"{task.image.key}.jpg" for task in campaign.tasks.all()}
    assert {row["image"]: row["file_name"] for row in rows} == names
    assert {each["image"]: each["file_name"] for each in comparisons} == names
    page = " ".join(admin_client.get("/releases/ranked/").content.decode().split())
    assert "Which text describes the image better?" in page
    assert "12 votes, 0% of them ties." in page
    assert re.search(r'<p class="hint">better: [AB] is slightly better \(2\)</p>', page)


@pytest.mark.django_db
def test_a_releases_votes_are_in_the_order_of_the_criteria(tmp_path):
    """PostgreSQL sorts the keys of the stored answers by their length."""
    criteria = [{"name": name, "question": "Which?"} for name in ("detailed", "true", "fluent")]
    campaign = make_campaign(images=1, criteria=criteria)
    for step in (2, 3):
        respond(campaign.tasks.get(), step)
    Answer.objects.update(content={"1": {"true": 2, "fluent": 1, "detailed": 3}})
    release_campaign(campaign=campaign, name="ranked", seed=3, at=NOON)
    call_command("export", "ranked", "--out", str(tmp_path / "out"), stdout=StringIO())

    made = json.loads((tmp_path / "out" / "preferences.json").read_text())
    [comparison] = made["comparisons"]
    assert [[*vote] for vote in comparison["votes"]] == [
        ["worker", "detailed", "true", "fluent"]
    ] * 2


@pytest.mark.django_db
@pytest.mark.parametrize("pairs", ["adaptive", "random"])
def test_the_methods_say_what_was_compared_how_it_was_chosen_and_ranked(pairs):
    campaign = make_campaign(pairs=pairs, images=4, pairs_per_image=2, marks=True)

    methods = "\n".join(PREFERENCES.methods(campaign))

    for sentence in (
        "Sources of the captions: good (caption set good), fair (caption set fair), poor",
        "in random order, without their sources",
        "mark the words that are not true",
        "Criterion better: “Which text describes the image better?” Answers from 1: A is much",
        "at most 2 of each image",
        "drawn at random (seed" if pairs == "random" else "linear loss of Chick and Inoue 2001",
        "Bradley and Terry (1952), with a normal prior of precision 0.1",
        "with 1,000 resamples",
    ):
        assert sentence in methods


@pytest.mark.django_db
def test_a_reviewer_sees_the_texts_and_choices_and_no_source():
    campaign = make_campaign(marks=True)
    task = campaign.tasks.first()
    response = respond(task, 1)
    response.answer.content |= {"marks": {"1": {"wrong": [2, 3], "missing": "a dog"}}}

    page = " ".join(show_answer(PREFERENCES, response).split())

    assert "is much better" in page
    assert 'Missing: <span dir="auto" lang="">a dog</span>' in page
    assert page.count("<mark") == 1
    assert PREFERENCES.summary(response) in ("1", "5")
