"""Importing captions that were collected elsewhere."""

import csv
import io
import json
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command

from annotate.models import Behaviour, Caption, Response, ResponseStatus, Worker
from annotate.services.campaigns import recount_places
from hits.models import WorkerAccount
from hits.queries.costs import estimate
from hits.reconcile.reconciler import reconcile
from hits.services import collected
from qualcontrol.models import Assessment, LearnedValues, SpotCheck
from qualcontrol.services.exclusions import exclude_worker, reinstate_worker
from tests.factories import (
    NOON,
    CampaignFactory,
    ImageFactory,
    ResponseFactory,
    TaskFactory,
    WorkerAccountFactory,
)
from tests.hits.conftest import make_campaign

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
    assert (response.caption.text, response.assignment) == ("A brown dog runs.", None)
    assert (response.behaviour.pastes, response.behaviour.keystrokes) == (1, None)
    account = WorkerAccount.objects.get()
    assert (account.endpoint, account.marketplace_id) == ("local", "A1")
    assert response.worker == account.worker
    assert response.campaign == response.task.campaign == campaign
    assert places(campaign) == {"img1": 2, "img2": 3}
    assert said.startswith("1 captions read: 1 new, 0 known")


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


def test_what_was_cut_off_is_taken_up_by_the_next_run(campaign, run, monkeypatch):
    monkeypatch.setattr(collected, "BATCH", 2)
    lines = [entry("img1"), entry("img2"), entry("img1", "A2"), entry("img2", "A2")]
    stopped, review = [], collected.review_submitted

    def fail_the_second_time(**batch):
        stopped.append(None)
        if len(stopped) == 2:
            raise KeyboardInterrupt
        review(**batch)

    out = io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(collected, "review_submitted", fail_the_second_time)
        with pytest.raises(KeyboardInterrupt):
            run(*lines, stdout=out)
    assert Response.objects.count() == 2
    assert out.getvalue().startswith("2 captions read: 2 new")
    assert "The import stopped after line 2. Everything up to there is stored" in out.getvalue()
    # The model has taken account of what is here.
    assert LearnedValues.objects.get().learned_at_revision > 0

    said = run(*lines)

    assert "2 new, 2 known" in said
    assert places(campaign) == {"img1": 1, "img2": 1}


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
    )

    assert "7 captions read: 2 new" in said
    assert said.splitlines()[1:] == [
        "  line 2: there is no image img3",
        "  line 3: the campaign has no image elsewhere",
        "  line 4: the caption is empty",
        "  line 5: the worker has another caption of this image already",
        "  line 6: not valid JSON: Expecting property name enclosed in double quotes",
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


def test_what_an_excluded_worker_wrote_is_discarded(campaign, run):
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
    campaign = make_campaign(tasks=1)
    reconcile(campaign)
    key = campaign.tasks.values_list("image__key", flat=True).get()
    run(entry(key, stranger), campaign=campaign.slug)
    worker = Response.objects.get().worker
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    barred = reconcile(campaign)
    reinstate_worker(campaign=campaign, worker=worker, reason="", actor=None, at=NOON)
    let_back = reconcile(campaign)

    assert (barred.error, let_back.error) == ("", "")
