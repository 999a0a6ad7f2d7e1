"""A campaign of caption ratings from the sources to an export."""

import csv
import json
import re
from io import StringIO
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command

from annotate.exports.provenance import collection_of
from annotate.kinds import KINDS, AnswerMissing, AnswerRefused, CampaignNotPossible
from annotate.kinds.campaign_files import CampaignFileError, parse_config
from annotate.models import CaptionSet, Release, ReleasedCaption, Response, Task
from annotate.services.campaigns import create_campaign
from annotate.templatetags.campaigns import show_answer
from hits.reconcile.reconciler import reconcile
from qualcontrol.models import Assessment
from qualcontrol.services.flagging import assess
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    CampaignFactory,
    CaptionSetFactory,
    GivenCaptionFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    TeamFactory,
)
from tests.hits.framed_work import fields_of, open_page

UNCHECKED = {"share": 0, "first": 0, "approve_after_hours": 0}
RATINGS = KINDS["rating"]


@pytest.fixture
def captioned():
    return make_captioned(images=3)


def make_captioned(*, images):
    """Make a release of these images with two references and a baseline each."""
    campaign = CampaignFactory(selection=SelectionFactory(images=images), config={"references": 2})
    for position, image in enumerate(campaign.selection.images.order_by("pk"), start=1):
        task = TaskFactory(campaign=campaign, image=image, number=position)
        for n in range(3):
            ResponseFactory(task=task, text=f"A person wrote sentence {n} about image {position}.")
    return release_campaign(campaign=campaign, name="people", seed=1, at=NOON)


@pytest.fixture
def model(captioned, tmp_path):
    """A model's captions, imported from a results file."""
    path = tmp_path / "results.json"
    path.write_text(
        json.dumps([{"image_id": n, "caption": f"a model writes {n}"} for n in (1, 2, 3, 4)])
    )
    call_command("import_results", path, name="model", release="people", stdout=StringIO())
    return CaptionSet.objects.get(name="model")


SOURCES = [
    {"name": "references", "release": "people"},
    {"name": "human", "release": "people", "role": "baseline"},
    {"name": "model", "caption_set": "model"},
]


ASKED = {"name": "precise", "text": "Is it precise?", "labels": ["no", "yes"]}


def config_of(selection, **rating):
    values = {
        "name": "judge",
        "kind": "rating",
        "selection": selection.name,
        "budget": "50.00",
        "responses": 2,
        "review": UNCHECKED,
        "rating": {"sources": SOURCES, **rating},
    }
    return parse_config(values)


def make_campaign(captioned, **rating):
    config = config_of(captioned.campaign.selection, **rating)
    campaign = create_campaign(config=config, endpoint="local", at=NOON)
    type(campaign).objects.update(status="RUNNING")
    return type(campaign).objects.get(slug="judge")


@pytest.mark.django_db
def test_a_task_has_a_caption_of_every_source(captioned, model):
    campaign = make_campaign(captioned)

    found = [task.payload["captions"] for task in campaign.tasks.order_by("number")]

    assert [len(captions) for captions in found] == [3, 3, 3]
    for number, captions in enumerate(found, start=1):
        by_source = {name: text for each in captions for name, text in each["sources"].items()}
        assert by_source.keys() == {"references", "human", "model"}
        assert by_source["model"] == f"a model writes {number}"
        assert f"A model writes {number}." in [each["text"] for each in captions]


@pytest.mark.django_db
def test_captions_that_differ_in_blanks_alone_are_shown_once(captioned, model):
    """A browser shows them in the same way; results have each source's own text."""
    raw = "a model \n writes  1 "
    ReleasedCaption.objects.filter(image__number=1, role="BASELINE").update(text=raw)

    campaign = make_campaign(captioned, same_form=False)

    captions = campaign.tasks.get(number=1).payload["captions"]
    [shared] = [each for each in captions if "human" in each["sources"]]
    assert shared["text"] == "a model writes 1"
    assert shared["sources"] == {"human": raw, "model": "a model writes 1"}


@pytest.mark.django_db
def test_the_methods_say_what_was_rated_by_which_questions(captioned, model):
    methods = "\n".join(RATINGS.methods(make_campaign(captioned, questions=[ASKED], images=2)))

    for sentence in (
        "references (references of the release people), human (baseline of the release people), "
        "model (caption set model).",
        "Images: at most 2, drawn at random",
        "Question precise: “Is it precise?” Answers from 1: no, yes.",
        "bootstrap over images with 2,000 resamples",
    ):
        assert sentence in methods


@pytest.mark.django_db
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source["name"])
def test_captions_of_another_team_are_not_rated(captioned, model, source):
    other = TeamFactory()
    selection = SelectionFactory(team=other, images=0)
    for position, image in enumerate(captioned.campaign.selection.images.order_by("pk"), start=1):
        selection.selected.create(image=image, position=position)

    config = config_of(selection, sources=[source])
    with pytest.raises(CampaignNotPossible, match="no captions of the selection's images"):
        create_campaign(config=config, endpoint="local", at=NOON, team=other)


@pytest.mark.django_db
def test_the_order_of_the_sources_differs_between_tasks():
    # Chance alone gives all twenty tasks the same order once in 2 ** 19 runs.
    campaign = make_campaign(make_captioned(images=20), sources=SOURCES[:2])

    orders = {
        tuple(tuple(each["sources"]) for each in task.payload["captions"])
        for task in campaign.tasks.all()
    }

    assert len(orders) > 1


@pytest.mark.django_db
def test_the_same_sentence_of_two_sources_is_rated_once(captioned, model):
    model.captions.update(text="a person wrote sentence 0 about image 1")
    twin = CaptionSetFactory(name="twin")
    for number, given in enumerate(model.captions.all(), start=1):
        GivenCaptionFactory(
            caption_set=twin,
            image=given.image,
            number=number,
            text=f"{given.text.upper()[0]}{given.text[1:]}.",
        )

    campaign = make_campaign(
        captioned, sources=[SOURCES[2], {"name": "twin", "caption_set": "twin"}]
    )

    for task in campaign.tasks.all():
        [caption] = task.payload["captions"]
        assert set(caption["sources"]) == {"model", "twin"}


@pytest.mark.django_db
def test_images_are_drawn_by_the_seed_among_those_that_every_source_has(captioned, model):
    model.captions.first().delete()

    campaign = make_campaign(captioned, images=1)

    [task] = campaign.tasks.all()
    assert task.number in (2, 3)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([], "name at least one source"),
        ([{"name": "a", "release": "nothing"}], "release 'nothing' has no captions"),
        ([{"name": "a", "caption_set": "nothing"}], "set 'nothing' has no captions"),
    ],
)
def test_a_campaign_without_captions_is_refused(captioned, sources, message):
    with pytest.raises(CampaignNotPossible, match=message):
        make_campaign(captioned, sources=sources)


@pytest.mark.parametrize(
    ("rating", "message"),
    [
        ({"sources": [{"name": "a"}]}, "rating.sources.0: name exactly one of release and"),
        ({"sources": [{"name": "a;b", "release": "r"}]}, "rating.sources.0.name: "),
        ({"sources": [{"name": "a", "release": "r"}] * 2}, "two sources have the same name"),
        (
            {"sources": [{"name": n, "release": "r", "per_image": 7} for n in "ab"]},
            "more than 12 captions",
        ),
        ({"labels": 7}, "rating.labels: there is no such key"),
        ({"questions": [{**ASKED, "labels": ["a"]}]}, "rating.questions.0.labels: "),
        ({"questions": [{**ASKED, "points": [1]}]}, "give as many points as labels"),
        ({"questions": [{**ASKED, "name": "total"}]}, "cannot have the name total"),
        ({"questions": [{**ASKED, "name": "missing"}]}, "cannot have the name missing"),
        ({"questions": [{**ASKED, "name": "wrong"}]}, "cannot have the name wrong"),
        ({"questions": [{**ASKED, "name": "id"}]}, "cannot have the name id"),
        ({"questions": [ASKED, ASKED]}, "two questions have the same name"),
        ({"questions": [{**ASKED, "points": [0, -1]}]}, "not all questions can be penalties"),
    ],
)
def test_a_wrong_section_is_explained(rating, message):
    with pytest.raises(CampaignFileError) as caught:
        parse_config(
            {"name": "a", "kind": "rating", "selection": "b", "budget": 1, "rating": rating}
        )

    assert message in str(caught.value)


def test_the_section_belongs_to_campaigns_of_its_kind():
    with pytest.raises(CampaignFileError, match="rating: there is no such key"):
        parse_config({"name": "a", "selection": "b", "budget": 1, "rating": {}})


@pytest.mark.django_db
def test_results_with_wrong_entries_are_refused(captioned, tmp_path):
    path = tmp_path / "results.json"
    for content in (
        {},
        [7],
        [{"image_id": True, "caption": "x"}],
        [{"image_id": 1}],
        [{"image_id": 1, "caption": "\u200b \u200d\ufeff"}],
    ):
        path.write_text(json.dumps(content))
        with pytest.raises(Exception, match="results.json: "):
            call_command("import_results", path, name="model", release="people")
    path.write_text(json.dumps([{"image_id": 99, "caption": "x"}]))
    with pytest.raises(Exception, match="No caption in .* belongs to an image of the release"):
        call_command("import_results", path, name="model", release="people")


@pytest.mark.django_db
def test_results_about_regions_are_not_taken_for_captions_of_whole_images(captioned, tmp_path):
    Task.objects.filter(campaign=captioned.campaign).update(serial=1)
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"image_id": 1, "caption": "the left dog"}]))

    with pytest.raises(Exception, match="people describes regions."):
        call_command("import_results", path, name="model", release="people")

    assert not CaptionSet.objects.exists()


@pytest.mark.django_db
def test_results_of_a_split_go_by_the_images_keys(captioned, tmp_path):
    image = captioned.campaign.selection.images.first()
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"image_id": image.key, "caption": " A  dog. "}]))

    call_command("import_results", path, name="mine", split="validation", stdout=StringIO())

    [given] = CaptionSet.objects.get(name="mine").captions.all()
    assert (given.image, given.text) == (image, "A dog.")


@pytest.mark.django_db
def test_every_question_is_to_be_answered_and_part_of_an_answer_counts(captioned, model):
    campaign = make_campaign(captioned)
    task = campaign.tasks.first()
    fields = dict.fromkeys(RATINGS.field_names(task), "4")
    part = {name: value for name, value in fields.items() if name.startswith("true-2-")}

    assert RATINGS.check(task, campaign.config, fields) == RATINGS.read(task, fields)
    with pytest.raises(AnswerRefused, match="all questions about sentences 1, 2, 3"):
        RATINGS.check(task, campaign.config, part)
    assert RATINGS.read(task, part) == {"2": {"true": 4}}
    with pytest.raises(AnswerMissing):
        RATINGS.read(task, dict.fromkeys(fields, "9"))


def work(client, worker, campaign, rate):
    """Do one assignment: accept, rate, submit. `rate` maps sentence and question to a rating."""
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    page = open_page(client, frame)
    [task] = campaign.tasks.filter(claims__page__assignment_id=frame.assignment_id)
    answers = {
        f"{question}-{number}-{task.number}": str(rate(caption["sources"], question))
        for number, caption in enumerate(task.payload["captions"], start=1)
        for question in ("true", "complete", "fluent")
    }
    assert not any(name in page.content.decode() for name in ("human", "references", "baseline"))
    fields = {"token": fields_of(page, "data-task")["token"], **answers}
    sent = client.post(urlsplit(frame.src).path, fields)
    handed_on = fields_of(sent, "data-forward")
    answer = worker.submit(handed_on.pop("assignmentId"), **handed_on)
    assert answer.ok, answer.text


@pytest.mark.django_db(transaction=True)
def test_ratings_go_from_a_results_file_through_the_marketplace_to_an_export(
    client, captioned, model, marketplace, requester, tmp_path
):
    campaign = make_campaign(captioned)
    workers = marketplace.fresh_workers(2)

    def judge(sources, question):
        return 2 if "model" in sources and question == "true" else 5 - (question == "complete")

    reconcile(campaign)
    for worker in workers:
        for _ in range(3):
            work(client, worker, campaign, judge)
    reconcile(campaign)
    release_campaign(campaign=campaign, name="judged", seed=3, at=NOON)
    call_command("export", "judged", "--out", str(tmp_path / "out"), stdout=StringIO())

    made = json.loads((tmp_path / "out" / "ratings.json").read_text())
    scores = {source["name"]: source["scores"] for source in made["sources"]}
    assert scores["model"]["true"] == {"mean": 2.0, "low": None, "high": None, "images": 3}
    assert scores["human"]["true"]["mean"] == 5.0
    assert made["alpha"]["true"] == 1.0
    assert made["alpha"]["fluent"] is None
    [apart] = [each for each in made["differences"] if each["source"] == "human"]
    assert (apart["minus"], apart["scores"]["true"]["mean"]) == ("model", 3.0)
    assert len(made["captions"]) == 9
    assert {len(caption["ratings"]) for caption in made["captions"]} == {2}
    with (tmp_path / "out" / "ratings.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 18
    assert {(row["source"], row["true"]) for row in rows} == {
        ("model", "2"),
        ("human", "5"),
        ("references", "5"),
    }


def respond(task: Task) -> Response:
    """A response to the task, whose ratings the test adds."""
    worker = ResponseFactory().worker
    return Response.objects.create(
        campaign=task.campaign, task=task, worker=worker, submitted_at=NOON
    )


@pytest.mark.django_db
def test_a_worker_who_rates_all_alike_gets_a_flag(captioned, model):
    campaign = make_campaign(captioned)
    response = respond(campaign.tasks.first())
    same = {"true": 3, "complete": 3, "fluent": 3}
    RATINGS.store([(response, {"1": same, "2": same, "3": same})])

    assess(campaign=campaign, responses=[response])

    assert "same_ratings" in Assessment.objects.get(response=response).codes.split()


@pytest.mark.django_db
def test_a_reviewer_sees_what_was_rated_and_not_who_wrote_it(captioned, model, admin_client):
    campaign = make_campaign(captioned)
    response = respond(campaign.tasks.first())
    part = {"true": 1, "complete": 5}
    RATINGS.store([(response, {"1": part, "3": {**part, "fluent": 5}})])
    assess(campaign=campaign, responses=[response])

    page = " ".join(show_answer(RATINGS, response).split())

    assert "true: false (1) · complete: all (5) · fluent: not rated" in page
    assert "true: not rated · complete: not rated · fluent: not rated" in page
    assert "A model writes 1." in page
    assert "human" not in page
    assert RATINGS.summary(response) == "1 5 – · 1 5 5"
    assert [set(each) for each in RATINGS.judge_payload(response)["answer"]] == [
        {"caption", "true", "complete"},
        {"caption"},
        {"caption", "true", "complete", "fluent"},
    ]


@pytest.mark.django_db
def test_the_release_page_compares_the_sources(captioned, model, admin_client):
    campaign = make_campaign(captioned)
    for task in campaign.tasks.all():
        for _ in range(2):
            response = respond(task)
            ratings = {"true": 4, "complete": 3, "fluent": 5}
            RATINGS.store([(response, {"1": ratings, "2": ratings, "3": ratings})])
    release_campaign(campaign=campaign, name="judged", seed=3, at=NOON)

    page = " ".join(admin_client.get("/releases/judged/").content.decode().split())

    assert '<td class="number">4.00 </td>' in page
    assert "human − model" in page
    assert "references: true 4.0, complete 3.0, fluent 5.0" in page


@pytest.mark.django_db
def test_the_release_page_has_the_questions_in_their_order(captioned, model, admin_client):
    """PostgreSQL sorts the keys of the stored figures by their length."""
    campaign = make_campaign(captioned)
    given = {"true": 4, "fluent": 5, "complete": 3}
    for task in campaign.tasks.all():
        RATINGS.store([(respond(task), dict.fromkeys("123", given)) for _ in range(2)])
    release = release_campaign(campaign=campaign, name="judged", seed=3, at=NOON)
    figures = json.loads(json.dumps(release.figures, sort_keys=True))
    Release.objects.filter(pk=release.pk).update(figures=figures)

    page = " ".join(admin_client.get("/releases/judged/").content.decode().split())

    heads = re.findall(r'<th scope="col" class="number">(True|Complete|Fluent)</th>', page)
    assert heads == ["True", "Complete", "Fluent"] * 2
    assert re.findall(r'<td class="number">([345]\.00) </td>', page) == ["4.00", "3.00", "5.00"] * 3


@pytest.mark.django_db
def test_a_release_says_where_the_rated_captions_came_from(captioned, model):
    CaptionSet.objects.filter(name="model").update(release=captioned)
    captioned.context |= {"imports": [{"file": "captions.csv", "responses": 4}], "collected": 5}
    captioned.save()
    campaign = make_campaign(captioned)
    for task in campaign.tasks.all():
        for _ in range(2):
            ratings = {"true": 4, "complete": 3, "fluent": 5}
            RATINGS.store([(respond(task), {"1": ratings, "2": ratings, "3": ratings})])

    made = release_campaign(campaign=campaign, name="judged", seed=3, at=NOON)

    assert dict(collection_of(made))["captions that were rated"] == (
        "human imported from files (4 of 9), model imported from files (4 of 9), "
        "references imported from files (4 of 9)"
    )


@pytest.mark.django_db
def test_thumb_has_its_own_questions_from_the_page_to_the_release(
    captioned, model, admin_client, tmp_path
):
    values = {"name": "judge", "preset": "thumb", "selection": captioned.campaign.selection.name}
    values |= {"budget": 50, "responses": 2, "rating": {"sources": SOURCES[1:]}}
    campaign = create_campaign(config=parse_config(values), endpoint="local", at=NOON)
    for task in campaign.tasks.all():
        answer = RATINGS.read(task, dict.fromkeys(RATINGS.field_names(task), "2"))
        for _ in range(2):
            RATINGS.store([(response := respond(task), answer)])
    release_campaign(campaign=campaign, name="judged", seed=3, at=NOON)
    call_command("export", "judged", "--out", str(tmp_path / "out"), stdout=StringIO())

    assert RATINGS.summary(response) == "2 2 2 2 2 · 2 2 2 2 2"
    [shown, _] = RATINGS.answer_context(response)["captions"]
    assert shown["ratings"][2] == {"name": "fluency", "value": 2, "label": "a small slip"}
    made = json.loads((tmp_path / "out" / "ratings.json").read_text())
    assert made["captions"][0]["scores"] == {
        "precision": 2,
        "recall": 2,
        "fluency": -0.1,
        "conciseness": -0.5,
        "inclusive_language": -0.5,
        "total": 0.9,
    }
    assert "a model writes 1" in [each["caption"] for each in made["captions"]]
    page = " ".join(admin_client.get("/releases/judged/").content.decode().split())
    assert "total 0.9" in page
