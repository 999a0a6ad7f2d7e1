"""Importing captions that were collected elsewhere."""

import csv
import io
import json
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotate.exports.formats import FORMATS
from annotate.exports.tables import Extra
from annotate.kinds.exporting import content_of, write_export
from annotate.models import (
    Behaviour,
    Campaign,
    Caption,
    ImportedFile,
    ReleasedCaption,
    Response,
    ResponseStatus,
    Submission,
    Worker,
)
from annotate.services.reports import read_release
from corpora.datasets.collected import Columns
from corpora.report.sections import priming
from corpora.report.sections.base import Inputs, NotMeasured
from hits.models import WorkerAccount
from hits.queries.costs import estimate
from hits.queries.stories import stories
from hits.reconcile.reconciler import reconcile
from hits.services import collected
from hits.services.claims import recount_places
from hits.services.worker_data import erase_worker
from qualcontrol.models import Assessment, LearnedValues, SpotCheck
from qualcontrol.review.gold import seed_gold
from qualcontrol.review.items import item_by_key
from qualcontrol.services.exclusions import exclude_worker, reinstate_worker
from qualcontrol.services.releasing import release_campaign
from qualcontrol.services.worker_risks import recount_worker_risks
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ImageFactory,
    ResponseFactory,
    TaskFactory,
    TeamFactory,
    UserFactory,
    WorkerAccountFactory,
    make_campaign,
)
from tests.hits.framed_work import published

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    """A campaign with the images img1 and img2."""
    campaign = CampaignFactory(
        slug="pilot", status="DRAFT", config={"references": 2, "review": {"first": 2}}
    )
    for name in ("img1", "img2"):
        TaskFactory(campaign=campaign, image__key=name, image__url=f"https://a.example/{name}x.jpg")
    return campaign


@pytest.fixture
def run(tmp_path):
    """Import entries, given as dicts or lines; return the command's output."""

    def run_command(*entries, campaign="pilot", **options):
        path = tmp_path / "captions.jsonl"
        lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
        path.write_text("\n".join(lines))
        out = options.pop("stdout", io.StringIO())
        call_command("import_captions", campaign, path, stdout=out, **options)
        return out.getvalue()

    return run_command


def entry(image="img1", worker="A1", caption="A brown dog runs.", **more):
    return {"image": image, "worker": worker, "caption": caption, **more}


def places(campaign):
    return dict(campaign.tasks.values_list("image__key", "places_left"))


def test_a_caption_counts_with_its_time_its_worker_and_how_it_was_written(campaign, run):
    said = run(
        entry(caption=" A  brown\ndog runs. ", seconds=31, submitted_at="2026-01-02", pasted=True)
    )

    response = Response.objects.get()
    at = datetime(2026, 1, 2, tzinfo=UTC)
    assert (response.status, response.seconds) == (ResponseStatus.SUBMITTED, 31)
    assert response.submitted_at == at
    assert (response.caption.text, response.submission) == (" A  brown\ndog runs. ", None)
    assert response.behaviour.characters == {"pasted": 20}
    account = WorkerAccount.objects.get()
    assert (account.endpoint, account.marketplace_id) == ("local", "A1")
    assert response.worker == account.worker
    assert response.campaign == response.task.campaign == campaign
    assert places(campaign) == {"img1": 2, "img2": 3}
    assert said.startswith("1 caption read: 1 new, 0 known")


def test_captions_come_in_in_the_order_of_the_file_and_are_drawn_as_if_submitted_now(campaign, run):
    run(*(entry(image, f"A{n}", f"{image} {n}") for n in range(3) for image in ("img2", "img1")))

    texts = Caption.objects.order_by("response__pk").values_list("text", flat=True)
    assert list(texts) == [f"{image} {n}" for n in range(3) for image in ("img2", "img1")]
    assert SpotCheck.objects.count() == 6
    assert Worker.objects.count() == 3


def test_running_it_again_changes_nothing(campaign, run):
    run(entry(), entry("img2", pasted=False))
    before = list(Response.objects.order_by("pk").values())

    said = run(entry(), entry("img2", pasted=False))

    assert list(Response.objects.order_by("pk").values()) == before
    assert Behaviour.objects.count() == 1
    assert "0 new, 2 known" in said


def stop_in_second_batch(run, lines, monkeypatch, *, batch, **options):
    """Start an import that is stopped; return its output."""
    stopped, review, out = [], collected.review_submitted, io.StringIO()

    def fail_the_second_time(**given):
        stopped.append(None)
        if len(stopped) == 2:
            raise KeyboardInterrupt
        review(**given)

    with monkeypatch.context() as patch:
        patch.setattr(collected, "BATCH", batch)
        patch.setattr(collected, "review_submitted", fail_the_second_time)
        with pytest.raises(KeyboardInterrupt):
            run(*lines, stdout=out, **options)
    return out


def test_an_import_that_was_cut_off_is_finished_by_the_next_run(campaign, run, monkeypatch):
    lines = [entry("img1"), entry("img2"), entry("img1", "A2"), entry("img2", "A2")]
    out = stop_in_second_batch(run, lines, monkeypatch, batch=2)
    assert Response.objects.count() == 2
    assert out.getvalue().startswith("2 captions read: 2 new")
    assert "The import stopped after line 2. Everything up to there is stored" in out.getvalue()
    # The model has taken account of what is here.
    assert LearnedValues.objects.get().learned_at_revision > 0

    said = run(*lines)

    assert "2 new, 2 known" in said
    assert places(campaign) == {"img1": 1, "img2": 1}


def edit_in_first_batch(monkeypatch, **changes):
    """Change the campaign's file while the first caption of an import is stored."""
    review = collected.review_submitted

    def edit(*, campaign, **given):
        review(campaign=campaign, **given)
        Campaign.objects.update(config_json=campaign.config_json | changes)

    monkeypatch.setattr(collected, "BATCH", 1)
    monkeypatch.setattr(collected, "review_submitted", edit)


def test_captions_that_are_imported_after_an_edit_of_the_draft_follow_the_edit(
    campaign, run, monkeypatch
):
    edit_in_first_batch(monkeypatch, review={"first": 0, "share": 0})

    run(entry("img1"), entry("img2"))

    assert [check.response.task.image.key for check in SpotCheck.objects.all()] == ["img1"]


def test_the_end_of_an_import_follows_an_edit_of_the_draft(campaign, run, monkeypatch):
    compare = collected.compare_submitted

    def edit_before(**given):
        file = Campaign.objects.get().config_json
        rules = {
            "flags": {**file["flags"], "unlike": 0},
            "review": {**file["review"], "limit": 0.5},
        }
        Campaign.objects.update(config_json=file | rules)
        compare(**given)

    monkeypatch.setattr(collected, "compare_submitted", edit_before)
    same = "A brown dog runs over the green grass of a park."
    lines = [entry(worker=f"A{number}", caption=same) for number in range(4)]

    run(*lines, entry(worker="A9", caption="Two old trains stand at an empty station at night."))

    assert not Assessment.objects.filter(codes__contains="unlike").exists()
    assert recount_worker_risks(campaign=Campaign.objects.get()) == 0


def test_an_import_ends_if_the_campaign_gets_other_tasks(campaign, run, monkeypatch):
    edit_in_first_batch(monkeypatch, references=7)

    with pytest.raises(CommandError, match="got other tasks"):
        run(entry("img1"), entry("img2"))

    assert Response.objects.count() == 1


@pytest.mark.parametrize("is_killed", [False, True])
def test_answers_of_an_image_are_compared_although_they_come_in_different_batches(
    campaign, run, monkeypatch, is_killed
):
    monkeypatch.setattr(collected, "BATCH", 2)
    same = "A brown dog runs over the green grass of a park."
    lines = [entry(worker=f"A{number}", caption=same) for number in range(4)]
    lines.append(entry(worker="A9", caption="Two old trains stand at an empty station at night."))

    def die(**_):
        raise KeyboardInterrupt

    if is_killed:
        with monkeypatch.context() as patch:
            patch.setattr(collected, "compare_submitted", die)
            with pytest.raises(KeyboardInterrupt):
                run(*lines)
    run(*lines)

    unlike = Assessment.objects.filter(codes__contains="unlike")
    assert [found.response.caption.text for found in unlike] == [lines[-1]["caption"]]
    assert LearnedValues.objects.get().learned_at_revision > 0


@pytest.mark.database
def test_faults_are_named_with_their_lines_and_the_rest_goes_in(campaign, run):
    ImageFactory(key="elsewhere")

    said = run(
        entry(),
        entry("img3"),
        entry("elsewhere"),
        entry("img2", caption="\u200b"),
        entry(caption="Another dog."),
        "{",
        entry(image="img2"),
        entry("img2", "deleted:0"),
        entry("https://a.example/a%00.jpg"),
    )

    assert "9 captions read: 2 new" in said
    assert said.splitlines()[1:] == [
        "  line 2: there is no image img3",
        "  line 3: the campaign has no image elsewhere",
        "  line 4: the caption is empty",
        "  line 5: the worker has another caption of this image already",
        "  line 6: not valid JSON: Expecting property name enclosed in double quotes",
        "  line 8: the worker's id is one that was deleted",
        "  line 9: there is no image https://a.example/a%00.jpg",
    ]
    assert Response.objects.count() == 2


def test_a_file_with_a_bad_byte_is_refused_as_a_whole_with_the_line(campaign, tmp_path):
    lines = [json.dumps(entry("img1", f"A{n}", f"Dog {n}.")) for n in range(1, 5)]
    content = "\n".join(lines).encode().replace(b"Dog 3.", b"Dog\x923.")
    path = tmp_path / "captions.jsonl"
    path.write_bytes(content)

    with pytest.raises(CommandError, match=r"jsonl:3: byte 0x92 .*\. Nothing was imported\.$"):
        call_command("import_captions", "pilot", path, stdout=io.StringIO())

    assert not Response.objects.exists()


def test_captions_come_from_standard_input_in_any_form(campaign, monkeypatch):
    table = "image\tworker\tcaption\nimg1\tA1\tA dog.\n".encode("utf-16")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table)))
    out = io.StringIO()

    call_command("import_captions", "pilot", "-", stdout=out)

    assert "1 new" in out.getvalue()


def test_a_date_that_cannot_be_is_left_out_with_its_line(campaign, run):
    said = run(entry(), entry("img2", submitted_at="0002-02-22"))

    assert "  line 2: the time '0002-02-22' is not between 2005 and tomorrow" in said
    assert Response.objects.count() == 1


def test_the_same_caption_twice_in_a_file_counts_once(campaign, run, monkeypatch):
    monkeypatch.setattr(collected, "BATCH", 2)

    said = run(entry(), entry(), entry(), entry(caption="A cat."))

    assert "4 captions read: 1 new, 2 known" in said
    assert "line 4: the worker has another caption of this image already" in said


def test_another_caption_than_the_one_that_is_here_is_left_out(campaign, run):
    run(entry())

    with pytest.raises(CommandError, match="Nothing of the file"):
        run(entry(caption="A cat."))

    assert Caption.objects.get().text == "A brown dog runs."


def test_a_long_list_of_faults_is_cut(campaign, run):
    said = run(entry(), *(entry("img3", f"A{n}") for n in range(150)))

    assert "150 left out" in said
    assert len(said.splitlines()) == 102
    assert "and 50 more lines" in said


def test_a_worker_known_at_the_marketplace_is_the_same_worker(campaign, run):
    here = WorkerAccountFactory(marketplace_id="A1")
    WorkerAccountFactory(marketplace_id="A1", endpoint="production")

    run(entry())

    assert Response.objects.get().worker == here.worker


def test_an_image_takes_more_captions_than_it_wants(campaign, run):
    run(*(entry(worker=f"A{n}") for n in range(5)))

    assert places(campaign) == {"img1": -2, "img2": 3}
    assert recount_places(campaign) == 0


def test_an_image_is_found_by_the_name_and_the_address_of_its_file(campaign, run):
    run(
        entry("validation/img1.jpg"),
        entry("https://a.example/img2x.jpg"),
        entry("https://mirror.example/img1x.png?size=2", "A2"),
    )

    found = Response.objects.order_by("pk").values_list("task__image__key", flat=True)
    assert list(found) == ["img1", "img2", "img1"]


def test_own_images_go_by_their_file_names(campaign, run):
    for number, name in enumerate(("trip/1.jpg", "home/1.jpg", "caf\u00e9.png")):
        TaskFactory(
            campaign=campaign,
            image__key=f"k{number}",
            image__source="OWN",
            image__split="own",
            image__file_name=name,
            image__sha256=name,
        )

    said = run(
        entry("home/1.jpg"), entry("./trip/1.jpg"), entry("cafe\u0301.png"), entry("1.jpg", "A2")
    )

    assert "line 4: several images of the campaign match 1.jpg" in said
    found = Response.objects.order_by("pk").values_list("task__image__key", flat=True)
    assert list(found) == ["k1", "k0", "k2"]


def test_nothing_is_said_of_images_of_other_teams(campaign, run):
    """Own images of another team, and a dataset that it imported for itself."""
    ImageFactory(key="mine", team=campaign.team)
    ImageFactory(key="theirs", team=TeamFactory())

    said = run(entry("mine"), entry("theirs"), entry())

    assert said.splitlines()[1:3] == [
        "  line 1: the campaign has no image mine",
        "  line 2: there is no image theirs",
    ]


def test_a_name_that_fits_two_images_is_left_out_unless_it_is_ones_own_id(campaign, run):
    for key in ("a", "twin", "b"):
        TaskFactory(campaign=campaign, image__key=key, image__url=f"https://{key}.example/twin.jpg")
    TaskFactory(campaign=campaign, image__key="391895", image__source="COCO")
    for host in ("c", "d"):
        TaskFactory(campaign=campaign, image__key=host, image__url=f"https://{host}.example/same")

    said = run(entry("twin"), entry("COCO_val2014_000000391895.jpg"), entry("same"))

    assert "line 3: several images of the campaign match same" in said
    found = Response.objects.order_by("pk").values_list("task__image__key", flat=True)
    assert list(found) == ["twin", "391895"]


def test_imported_captions_of_an_excluded_worker_are_discarded(campaign, run):
    worker = WorkerAccountFactory(marketplace_id="A1").worker
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    run(entry(), entry(worker="A2"))

    states = dict(Response.objects.values_list("worker__account__marketplace_id", "status"))
    assert states == {"A1": ResponseStatus.DISCARDED, "A2": ResponseStatus.SUBMITTED}
    assert places(campaign)["img1"] == 2


def test_a_batch_results_file_comes_in_without_its_rejected_assignments(campaign, tmp_path):
    names = ["WorkerId", "AssignmentStatus", "Input.photo", "Answer.text"]
    path = tmp_path / "batch.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [names, ["A1", "Approved", "img1", "A dog."], ["A2", "Rejected", "img1", "xxx"]]
        )
    out = io.StringIO()

    call_command("import_captions", "pilot", path, stdout=out)

    assert "1 new, 0 known, 1 of rejected assignments skipped, 0 left out" in out.getvalue()
    assert Caption.objects.get().text == "A dog."

    call_command("import_captions", "pilot", path, rejected=True, stdout=out)

    assert Caption.objects.count() == 2


def test_a_campaign_of_another_kind_is_refused(run):
    CampaignFactory(slug="words", kind="correspondence")

    with pytest.raises(CommandError, match="collects no captions"):
        run(entry(), campaign="words")


def test_the_same_image_in_another_campaign_is_left_alone(campaign, run):
    other = TaskFactory(image=campaign.tasks.get(image__key="img1").image)
    ResponseFactory(task=other, worker=WorkerAccountFactory(marketplace_id="A1").worker)

    run(entry())

    assert Response.objects.of(campaign).count() == 1


def test_a_published_campaign_asks_for_what_is_missing_only(requester, run):
    campaign = make_campaign(tasks=2)
    first, second = campaign.tasks.order_by("pk").values_list("image__key", flat=True)
    run(
        *(entry(first, f"A{n}") for n in range(4)),
        entry(second, "A1"),
        campaign=campaign.slug,
    )

    assert estimate(campaign).responses == 2
    reconcile(campaign)

    assert sum(campaign.hits.values_list("slots", flat=True)) == 2


@pytest.mark.parametrize("stranger", ["ANOBODYHERE1", "w 1"])
def test_an_excluded_worker_whom_the_marketplace_does_not_know_holds_nothing_up(
    requester, run, stranger
):
    campaign = published(tasks=1)
    key = campaign.tasks.values_list("image__key", flat=True).get()
    run(entry(key, stranger), campaign=campaign.slug)
    worker = Response.objects.get().worker
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    barred = reconcile(campaign)
    reinstate_worker(campaign=campaign, worker=worker, reason="", actor=None, at=NOON)
    let_back = reconcile(campaign)

    assert (barred.error, let_back.error) == ("", "")


# What is known of imported captions


def test_nobody_knows_of_an_imported_caption_whether_keywords_were_shown(campaign, run):
    run(entry(), entry("img2", primed=True), entry("img2", "A2", primed=False))

    responses = Response.objects.order_by("pk")
    assert [response.is_primed for response in responses] == [None, True, False]


def test_a_table_says_what_was_pasted_and_who_saw_keywords(campaign, tmp_path):
    path = tmp_path / "captions.csv"
    path.write_text(
        "image,worker,caption,pasted,primed\n"
        "img1,A1,A brown dog runs.,true,False\n"
        "img1,A2,A black dog runs.,,\n"
        "img2,A1,Two dogs run.,0,1\n"
        "img2,A2,Two dogs sit.,perhaps,\n"
    )
    out = io.StringIO()

    call_command("import_captions", "pilot", path, stdout=out)

    said = Response.objects.order_by("pk").values_list("behaviour__characters", "primed")
    assert list(said) == [({"pasted": 17}, False), (None, None), ({"pasted": 0}, True)]
    assert "line 5: pasted is neither true nor false: 'perhaps'" in out.getvalue()


def test_an_imported_caption_names_its_file_and_has_no_assignment(campaign, run):
    run(entry(), entry("img2"))
    run(entry(), entry("img1", "A2"))

    first, second = ImportedFile.objects.order_by("pk")
    assert list(Response.objects.order_by("pk").values_list("imported_from", flat=True)) == [
        first.pk,
        first.pk,
        second.pk,
    ]
    assert first.name == second.name == "captions.jsonl"
    assert first.sha256 != second.sha256
    refused = pytest.raises(IntegrityError, match="response_imported_has_no_submission")
    with refused, transaction.atomic():
        Response.objects.update(submission=Submission.objects.create())


def release_of(campaign, texts, imported):
    """A release of a campaign with these captions of each image, of which some are imported."""
    tasks = campaign.tasks.order_by("number")
    for task in tasks:
        for text in texts[imported:]:
            ResponseFactory(task=task, text=text)
    return release_campaign(campaign=campaign, name="v1", seed=1, at=NOON, partial=True)


def exported(release, folder, name):
    write_export(content_of(release, [Extra.KEYWORDS]), FORMATS[name], folder / name)
    return folder / name


def test_a_release_of_imported_captions_says_nothing_of_a_crowd(campaign, run, tmp_path):
    texts = ["A dog  runs.", "A dog sits.", "A dog."]
    run(*(entry(f"img{i}", f"A{n}", text) for i in (1, 2) for n, text in enumerate(texts)))

    release = release_of(campaign, texts, imported=3)

    card = (exported(release, tmp_path, "jsonl") / "README.md").read_text()
    assert "6 from the file captions.jsonl on " in card
    assert "Captions of images: 6 were collected elsewhere and imported, 0 were" in card
    for word in ("crowd", "countries", "approved_hits", "reward", "share 1.0", "HITs"):
        assert word not in card
    rows, images = (
        [json.loads(line) for line in (tmp_path / "jsonl" / name).read_text().splitlines()]
        for name in ("captions.jsonl", "metadata.jsonl")
    )
    assert {row["caption"] for row in rows} <= set(texts)
    assert {row["primed"] for row in rows} == {None}
    assert {row["imported_from"] for row in rows} == {"captions.jsonl"}
    assert {image["keywords_shown"] for image in images} == {None}
    with pytest.raises(NotMeasured, match="not known of the captions of v1"):
        priming.measure(Inputs(read_release(release)))


def test_a_release_tells_imported_captions_from_those_collected_here(
    campaign, run, tmp_path, client, django_user_model
):
    texts = ["A dog  runs.", "A dog sits.", "A dog."]
    run(*(entry(f"img{i}", "A1", texts[0], primed=False) for i in (1, 2)))

    release = release_of(campaign, texts, imported=1)

    released = ReleasedCaption.objects.filter(image__release=release)
    assert {(each.text, each.import_number, each.primed) for each in released} == {
        ("A dog  runs.", 1, False),
        ("A dog sits.", None, True),
        ("A dog.", None, True),
    }
    coco = exported(release, tmp_path, "coco")
    captions = json.loads((coco / "captions.json").read_text())
    [file] = captions["info"]["imports"]
    assert list(file) == ["at", "file", "responses", "sha256"]
    assert (file["file"], file["responses"]) == ("captions.jsonl", 2)
    rows = [*captions["annotations"], *json.loads((coco / "baseline.json").read_text())]
    assert {row["caption"]: row.get("imported_from") for row in rows} == {
        "A dog  runs.": "captions.jsonl",
        "A dog sits.": None,
        "A dog.": None,
    }
    card = (coco / "README.md").read_text()
    assert "2 were collected elsewhere and imported, 4 were collected here" in card
    assert "| reward of a HIT in US dollars | 0.10 |" in card
    client.force_login(django_user_model.objects.create_superuser("ada"))
    assert b"2 of the captions were collected elsewhere" in client.get("/releases/v1/").content
    assert client.get("/api/releases/v1/").json()["imports"] == [file]


def test_the_story_of_an_imported_caption_names_its_file(campaign, run):
    run(entry(submitted_at="2026-01-02"), entry("img2"))

    with_rows = Response.objects.select_related("imported_from").order_by("pk")
    told = stories(list(with_rows))

    assert [[event.what for event in events] for events in told.values()] == [
        ["submitted elsewhere", "imported from captions.jsonl"],
        ["imported from captions.jsonl"],
    ]


def test_a_made_up_caption_looks_like_the_imported_ones(campaign, run):
    BoxFactory(image=campaign.tasks.get(image__key="img1").image)
    run(entry(), entry("img1", "A2", "A black dog runs."))
    task = campaign.tasks.get(image__key="img1")

    gold = seed_gold(task=task, text="A cat.", reason="wrong", actor=UserFactory(), at=NOON)

    assert item_by_key(campaign, gold.key).response.is_primed is None


def test_a_file_that_is_imported_again_brings_nobody_back_who_was_erased(campaign, tmp_path):
    path = tmp_path / "captions.jsonl"
    image = campaign.tasks.first().image.key
    lines = [{"image": image, "worker": name, "caption": f"A dog of {name}."} for name in "AB"]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    imported = {"campaign": campaign, "path": path, "columns": Columns()}
    collected.import_collected(**imported, at=NOON)
    erased = WorkerAccount.objects.get(marketplace_id="A").worker
    erase_worker(worker=erased, by=None, at=NOON)

    again = collected.import_collected(**imported, at=NOON)

    assert (again.new, again.known) == (0, 2)
    assert campaign.responses.count() == 2
    assert not WorkerAccount.objects.filter(marketplace_id="A").exists()


def test_the_rest_of_a_file_is_imported_although_an_erased_worker_gave_the_same_reason(
    run, monkeypatch
):
    dark = "The image is too dark."
    campaign = CampaignFactory(
        slug="dim", config={"references": 3, "captions": {"cannot_describe": [dark]}}
    )
    TaskFactory(campaign=campaign, image__key="img1")
    entries = [entry(worker=name, caption=dark) for name in ("A1", "A2", "A1", "A3", "A4")]
    stop_in_second_batch(run, entries, monkeypatch, batch=3, campaign="dim")
    erase_worker(worker=WorkerAccount.objects.get(marketplace_id="A1").worker, by=None, at=NOON)

    said = [run(*entries, campaign="dim") for _ in range(2)]

    assert "2 new, 3 known" in said[0]
    assert "0 new, 5 known" in said[1]
    names = WorkerAccount.objects.exclude(marketplace_id__startswith="erased:")
    assert {*names.values_list("marketplace_id", flat=True)} == {"A2", "A3", "A4"}


def test_a_text_that_is_one_of_the_campaigns_reasons_is_a_reason(run):
    dark = "The image is too dark."
    campaign = CampaignFactory(
        slug="dim", config={"references": 3, "captions": {"cannot_describe": [dark]}}
    )
    TaskFactory(campaign=campaign, image__key="img1")
    entries = [entry(worker=f"A{number}", caption=dark) for number in range(2)]
    entries.append(entry(worker="A9"))

    first, again = (run(*entries, campaign="dim") for _ in range(2))

    said = Response.objects.order_by("pk").values_list("cannot_describe", "caption__text")
    assert [*said] == [(dark, ""), (dark, ""), ("", "A brown dog runs.")]
    assert "copies_other" not in "".join(Assessment.objects.values_list("codes", flat=True))
    assert "3 new" in first
    assert "0 new, 3 known" in again
