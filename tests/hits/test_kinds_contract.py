"""The contract of task types, tested for each registered one and for one defined here."""

import hashlib
import json
import re
from functools import partial
from importlib import import_module
from io import StringIO

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.template import engines
from django.test import Client, override_settings

from annotate.campaign_file import CampaignConfig
from annotate.exports.formats import FORMATS
from annotate.exports.images import image_tables
from annotate.exports.tables import Column, Table, Type
from annotate.kinds import KINDS
from annotate.kinds.base import AnswerMissing, AnswerRefused, Sign, TaskKind, new_task
from annotate.kinds.campaign_files import parse_config
from annotate.kinds.exporting import content_of, extras_of
from annotate.kinds.freezing import as_submitted, save_items
from annotate.models import Campaign, Response, ResponseStatus
from annotate.services.campaigns import create_campaign
from corpora.language.text import Problem
from hits.pages.new_campaign.steps import STEPS
from qualcontrol.models import Assessment
from qualcontrol.queries.finding import codes_of
from qualcontrol.review.judging import judge
from qualcontrol.review.review_queue import next_checks
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CaptionSetFactory,
    ClassFactory,
    GivenCaptionFactory,
    HitFactory,
    HitTypeFactory,
    SelectionFactory,
    UserFactory,
    WorkerAccountFactory,
)
from tests.folders import contents
from tests.hits.opened_pages import form_fields, listed, open_page
from tests.submitted import take_submission
from tests.worlds import shared_rows

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

SENTENCES = [
    "Three sailing boats lie in a quiet harbour below a lighthouse.",
    "A cook in a white apron slices onions on a wooden board.",
    "Two children build a castle of wet sand near the sea.",
]


class CountKind(TaskKind):
    """The number of people in an image: a task type in one class, whose answer is an integer."""

    name = "count"
    label = "Count the things in images"
    subject_name, answer_name, answers_name = "image", "count", "counts"
    defaults = {"responses": 3}
    faults = {"wrong": "a wrong number"}
    flags = {"crowd": "More than a hundred."}
    about_release = "Numbers of people in images."
    files = {"counts.json": lambda release: iter([json.dumps(_counts(release))])}

    def tasks(self, campaign):
        for position, image in campaign.selection.selected.values_list("position", "image_id"):
            yield new_task(campaign, image_id=image, number=position, payload={"of": "people"})

    def context(self, task, config, fields):
        return {"field": f"count-{task.number}", "of": task.payload["of"]}

    def field_names(self, task):
        return [f"count-{task.number}"]

    def check(self, task, config, fields):
        given = fields.get(f"count-{task.number}", "")
        if not given.isdecimal():
            raise AnswerRefused([Problem("number", "Please enter a number.")])
        return int(given)

    def read(self, task, fields):
        try:
            return int(fields[f"count-{task.number}"])
        except (KeyError, ValueError) as error:
            raise AnswerMissing("The answer has no number.") from error

    def fields_of(self, task, answer):
        return {f"count-{task.number}": str(answer)}

    def summary(self, response):
        return f"{self.answer(response)} people"

    def signs(self, answer, config):
        return [Sign("crowd", answer, 100, self.flags["crowd"])] if answer > 100 else []

    def freeze(self, release, drawn, numbers):
        drawn = as_submitted(drawn)
        counts = [[response.answer for response in responses] for _, responses in drawn]
        save_items(release, drawn, numbers, ({"counts": each} for each in counts))

    def tables(self, release):
        columns = [
            Column("image_id", Type.INTEGER, "image", refers_to="images.image_id"),
            Column("count", Type.INTEGER, "number of people"),
        ]
        rows = [(n, count) for n, counts in enumerate(_counts(release), 1) for count in counts]
        table = Table("counts", "All counts.", columns, partial(iter, rows))
        return [*image_tables(release), table]


def _counts(release):
    return [image.record["counts"] for image in release.images.all()]


COUNT_TEMPLATES = {
    "task": '<input name="{{ item.field }}" {% if is_preview %}disabled{% endif %}>',
    "instructions": "<p>Count.</p>",
    "facts": "<div><dt>Counted</dt><dd>people</dd></div>",
    "answer": "<p>{{ response.answer.content }} people</p>",
    "released_files": "<p>All counts.</p>",
    "released": "<p>{{ image.record.counts|join:', ' }}</p>",
}


def count_people():
    return {"selection": SelectionFactory(images=2).name}, lambda task, n: {
        f"count-{task.number}": str(n + 4)
    }


def write_captions():
    file = {"selection": SelectionFactory(images=2).name, "references": 2}
    return file, lambda task, n: {f"caption-{task.number}": SENTENCES[n]}


def describe_regions():
    selection = SelectionFactory(images=2)
    for image in selection.images.all():
        BoxFactory(image=image)
    file = {"selection": selection.name, "references": 3}
    return file, lambda task, n: {f"caption-{task.number}": SENTENCES[n]}


def link_words():
    captions = CaptionSetFactory()
    for _ in range(2):
        given = GivenCaptionFactory(caption_set=captions, text="A man feeds a dog.")
        box = BoxFactory(image=given.image, object_class=ClassFactory(name=f"Dog {given.number}"))
    return {"caption_set": captions.name}, lambda task, n: {
        f"word-4-{task.number}": f"box:{task.image.boxes.get().pk}" if box.pk else ""
    }


def rate_captions():
    selection, captions = SelectionFactory(images=2), CaptionSetFactory()
    for image in selection.images.all():
        GivenCaptionFactory(caption_set=captions, image=image)
    sources = [{"name": "model", "caption_set": captions.name}]
    file = {"selection": selection.name, "rating": {"sources": sources}}
    return file, lambda task, n: {
        f"true-1-{task.number}": str(n + 3),
        f"complete-1-{task.number}": "2",
        f"fluent-1-{task.number}": "5",
    }


def edit_in_rounds():
    selection, captions = SelectionFactory(images=2), CaptionSetFactory()
    for image in selection.images.all():
        GivenCaptionFactory(caption_set=captions, image=image, text=SENTENCES[0])
    rules = {"draft_set": captions.name, "rounds": 3}
    file = {"selection": selection.name, "captions": {"least_words": 3}, "refine": rules}
    return file, lambda task, n: {f"text-{task.number}": " ".join(SENTENCES[: n + 1])}


def compare_captions():
    selection = SelectionFactory(images=2)
    sets = [CaptionSetFactory() for _ in range(2)]
    for image in selection.images.all():
        for given in sets:
            GivenCaptionFactory(caption_set=given, image=image, text=f"The {given.name} on a mat.")
    sources = [{"name": given.name, "caption_set": given.name} for given in sets]
    file = {"selection": selection.name, "preference": {"sources": sources, "marks": True}}
    return file, lambda task, n: {
        f"better-1-{task.number}": str(n + 1),
        f"wrong-2-1-{task.number}": "1",
        f"missing-2-{task.number}": "the dog",
    }


# For each kind: makes what a campaign works on, and returns the keys of its file and the fields in
# which the worker n, from 0, answers a task.
SAMPLES = {
    "count": count_people,
    "caption": write_captions,
    "correspondence": link_words,
    "rating": rate_captions,
    "preference": compare_captions,
    "refine": edit_in_rounds,
    "region": describe_regions,
}


def test_every_registered_kind_has_a_sample():
    assert set(SAMPLES) == {*KINDS, "count"}


@pytest.fixture(scope="module", params=sorted(SAMPLES))
def kind(request, tmp_path_factory):
    if request.param != "count":
        yield KINDS[request.param]
        return
    folder = tmp_path_factory.mktemp("templates")
    (folder / "kinds" / "count").mkdir(parents=True)
    for name, text in COUNT_TEMPLATES.items():
        (folder / "kinds" / "count" / f"{name}.html").write_text(text)
    [engine] = settings.TEMPLATES
    templates = [{**engine, "DIRS": [*engine["DIRS"], folder]}]
    with pytest.MonkeyPatch.context() as patch, override_settings(TEMPLATES=templates):
        patch.setitem(KINDS, "count", CountKind())
        yield KINDS["count"]


@pytest.fixture(scope="module")
def world(kind, django_db_setup, django_db_blocker):
    """The kind's sample, and a campaign whose every task is answered by three workers."""
    with shared_rows(django_db_blocker):
        sample = SAMPLES[kind.name]()
        campaign = make_campaign(kind, sample, name="all-kinds")
        answer(campaign, HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9), sample)
        yield sample, campaign


def make_campaign(kind, sample, *, name):
    file, _ = sample
    review = {"share": 0, "first": 1, "approve_after_hours": 0}
    values = {"name": name, "kind": kind.name, "budget": "50.00", "review": review, **file}
    made = create_campaign(config=parse_config(values), endpoint="local", at=NOON)
    Campaign.objects.update(status="RUNNING")
    made.refresh_from_db()
    return made


def answer(campaign, hit, sample):
    """Answer every task three times, on the task page and at the marketplace."""
    _, fields_for = sample
    client = Client()
    for n in range(3):
        account = WorkerAccountFactory()
        for turn in range(campaign.tasks.count()):
            assignment = f"A{n}{turn}"
            page = open_page(client, hit, assignment, account.marketplace_id)
            fields = form_fields(page)
            number = int(next(name for name in fields if "-" in name).rsplit("-", 1)[1])
            fields |= fields_for(campaign.tasks.get(number=number), n)
            sent = client.post(
                f"/task/{campaign.slug}/", fields, headers={"accept": "application/json"}
            )
            take_submission(
                campaign=campaign,
                hit=hit,
                listed=listed(assignment, account.marketplace_id, **sent.json()["fields"]),
                at=NOON,
            )


@pytest.fixture
def sample(world):
    return world[0]


@pytest.fixture
def campaign(world, db):
    return Campaign.objects.get(pk=world[1].pk)


@pytest.fixture
def answered(campaign):
    return campaign.responses.order_by("pk")


@pytest.fixture
def judged(campaign, answered):
    reviewer = UserFactory()
    while items := next_checks(campaign=campaign, reviewer=reviewer, count=5, at=NOON):
        for item in items:
            judge(response=item.response, verdict="GOOD", reason="", reviewer=reviewer, at=NOON)
        if not campaign.spot_checks.open().exists():
            break
    return answered


@pytest.fixture
def staff(client):
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    return client


def test_it_has_all_its_templates_and_static_files(kind):
    engine = engines["django"]
    for path in vars(kind.templates).values():
        engine.get_template(path)
    assert all(finders.find(name) for name in (*kind.scripts, *kind.styles))


def test_its_steps_set_keys_of_the_campaign_file(kind):
    known = {*CampaignConfig.model_fields, *([kind.name] if kind.section else [])}
    names = [name for fields in kind.steps.values() for name in fields.fields]

    assert set(kind.steps) <= {step.name for step in STEPS}
    assert {name.partition("__")[0] for name in names} <= known
    assert all(key.replace(".", "__") in names for key in kind.material_keys)
    assert all(set(fields.details) <= set(fields.fields) for fields in kind.steps.values())


def test_its_section_has_its_name(kind):
    assert kind.section is None or kind.section.key == kind.name


def test_its_presets_have_words(kind):
    assert kind.presets.keys() == kind.presets_in_words.keys()


def test_its_flags_can_be_chosen_on_the_page_of_responses(kind, campaign, staff):
    page = staff.get(f"/campaigns/{campaign.slug}/responses/").content.decode()

    assert all(f'<option value="{code}"' in page for code in codes_of(kind))
    assert set(kind.flags) <= set(codes_of(kind))


def test_its_field_names_end_in_the_tasks_number_and_its_preview_can_be_seen(
    kind, campaign, client
):
    task = campaign.tasks.with_subject().first()

    names = kind.field_names(task)

    assert names
    assert all(name.endswith(f"-{task.number}") for name in names)
    assert client.get(f"/task/{campaign.slug}/").status_code == 200


def test_an_empty_form_is_no_answer(kind, campaign):
    task = campaign.tasks.with_subject().first()

    with pytest.raises((AnswerMissing, AnswerRefused)):
        kind.check(task, campaign.config, {})
    with pytest.raises(AnswerMissing):
        kind.read(task, {})


def test_an_empty_form_is_refused_on_the_page_with_what_is_wrong(kind, sample, client):
    campaign = make_campaign(kind, sample, name="unanswered")
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    fields = form_fields(open_page(client, hit, "A1", "AWORKER1"))
    empty = {name: value if name == "token" else "" for name, value in fields.items()}

    answer = client.post(f"/task/{campaign.slug}/", empty, headers={"accept": "application/json"})

    assert answer.status_code == 422
    assert all(answer.json()["problems"].values())


def test_the_stored_answer_is_the_one_that_was_sent(kind, answered, sample):
    _, fields_for = sample
    assert len(answered) == 6
    for index, response in enumerate(answered):
        answer = kind.answer(response)
        given = kind.fields_of(response.task, answer) | fields_for(response.task, index // 2)

        assert answer == kind.read(response.task, given)
        assert kind.read(response.task, kind.fields_of(response.task, answer)) == answer


def test_every_answer_is_assessed(answered):
    assert Assessment.objects.count() == len(answered)
    assert {row.position for row in Assessment.objects.all()} == {1, 2}


def test_many_answers_are_read_as_one_is(kind, answered):
    rows = kind.with_answers(Response.objects.order_by("pk"), "pk")

    assert list(rows) == [(response.pk, kind.answer(response)) for response in answered]


def test_reviewers_see_the_answer_and_programs_get_it(kind, campaign, answered, staff):
    page = staff.get(f"/review/{campaign.slug}/")
    out = StringIO()
    call_command("spot_checks", campaign.slug, "--json", stdout=out)
    call_command("spot_checks", campaign.slug, stdout=out)

    first = json.loads(out.getvalue().splitlines()[0])[0]
    assert page.status_code == 200
    assert first["image"] in page.content.decode() or kind.answer_shows_image
    assert {"caption", "answer"} & first.keys()


def test_all_pages_show_the_campaign(kind, campaign, judged, staff):
    worker = judged[0].worker.pseudonym
    review = f"/review/{campaign.slug}"
    for address in (
        "/",
        f"/campaigns/{campaign.slug}/",
        *(f"{review}/{page}/" for page in ("quality", "gold", "workers", "decisions", "releases")),
        f"{review}/workers/{worker}/",
    ):
        assert staff.get(address).status_code == 200, address
    assert kind.summary(judged[0]) in staff.get(f"{review}/decisions/").content.decode()


def test_the_api_has_each_answer(kind, campaign, answered, staff):
    (first, *others) = staff.get(f"/api/campaigns/{campaign.slug}/responses/").json()["results"]

    assert first["answer"] == kind.answer(answered[0])
    assert len(others) == 5


def test_a_bad_answer_is_discarded_and_wanted_again(campaign, answered, staff):
    judge(response=answered[0], verdict="BAD", reason="wrong", reviewer=UserFactory(), at=NOON)

    assert Response.objects.get(pk=answered[0].pk).status == ResponseStatus.DISCARDED
    assert answered[0].task.campaign.tasks.unfinished().count() == 1
    page = f"/campaigns/{campaign.slug}/responses/{answered[0].pk}/reject/"
    assert staff.get(page).status_code == 200


def test_a_release_is_exported_the_same_always(kind, campaign, judged, staff, tmp_path):
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    for folder in ("one", "other"):
        call_command("export", "v1", "--out", str(tmp_path / folder), stdout=StringIO())

    assert staff.get("/releases/v1/").status_code == 200
    assert set(staff.get("/api/releases/v1/").json()["files"]) == set(kind.files_of(release))
    for name in kind.files_of(release):
        written = (tmp_path / "one" / name).read_bytes()
        assert written
        assert written == (tmp_path / "other" / name).read_bytes()
        assert written == b"".join(staff.get(f"/releases/v1/{name}").streaming_content)
    assert release.images.count() == 2


def test_a_release_is_exported_in_every_format_the_same_always(campaign, judged, tmp_path):
    release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    for name in FORMATS:
        folders = [tmp_path / f"{name}-{which}" for which in ("one", "other")]
        for folder in folders:
            call_command("export", "v1", "--format", name, "--out", str(folder), stdout=StringIO())

        one, other = map(contents, folders)
        manifest = json.loads(one["manifest.json"])
        assert one == other, name
        assert {file["name"] for file in manifest["files"]} == one.keys() - {"manifest.json"}, name
        for file in manifest["files"]:
            assert file["sha256"] == hashlib.sha256(one[file["name"]]).hexdigest(), name


@pytest.mark.filterwarnings("ignore")
def test_mlcroissant_loads_every_table(campaign, judged, tmp_path):
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    call_command("export", "v1", format="croissant", out=tmp_path / "v1", stdout=StringIO())

    mlcroissant = import_module("mlcroissant")  # It takes seconds to load.
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "v1" / "croissant.json"))

    for table in content_of(release).tables:
        assert len(list(dataset.records(table.name))) == len(list(table.rows())), table.name


def test_worker_numbers_and_seconds_are_published_only_if_asked_for(kind, campaign, judged):
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    plain, full = content_of(release), content_of(release, extras_of(release))

    names = {column.name for table in plain.tables for column in table.columns}
    assert not {"worker", "seconds", "keywords", "primed"} & names
    own = "".join(text for _, texts in plain.own_files() for text in texts)
    assert not re.search(r'"worker"|\bworker\b,', own)
    more = {column.name for table in full.tables for column in table.columns} - names
    assert {"worker", "seconds"} <= more or kind.name == "count"
    added = {name for name, _ in full.own_files()} - {name for name, _ in plain.own_files()}
    assert {"seconds.json", "keywords.json"} <= added or kind.name == "count"


@pytest.mark.parametrize("kind", ["count"], indirect=True)
def test_an_answer_that_is_a_number_stays_one(kind, campaign, answered):
    assert [kind.answer(response) for response in answered] == [4, 4, 5, 5, 6, 6]
    assert [flag.why for flag in kind.signs(101, campaign.config)] == ["More than a hundred."]
