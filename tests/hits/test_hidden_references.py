"""Releases with hidden captions: where the captions are, and where they are not."""

import json
import logging
import re
import zipfile
from collections import deque
from html import unescape
from io import BytesIO, StringIO
from urllib.parse import urlsplit

import pyarrow.parquet
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.services.api_tokens import issue_token
from annotate.exports.formats import FORMATS
from annotate.exports.records import HidingRefused, rule_of
from annotate.exports.tables import Extra
from annotate.kinds import CampaignNotPossible
from annotate.kinds.campaign_files import parse_config
from annotate.kinds.correspondence.caption_sets import set_of_release
from annotate.models import (
    CaptionSet,
    GivenCaption,
    HiddenExport,
    Release,
    ReleasedCaption,
    Response,
    ResponseStatus,
    Role,
    Task,
)
from annotate.queries.releases import captions_with_hidden
from annotate.services.campaigns import create_campaign
from corpora.errors import DomainError
from leaderboard.models import Submitter
from qualcontrol.services.releasing import ReleaseRefused, release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ClassFactory,
    ImageFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)
from tests.jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

SECRET = "zebrafinch"
SPLITS = ("train", "val", "test")


@pytest.fixture
def campaign():
    """Two images in each split, with two references and a baseline; test captions are secret."""
    images = [ImageFactory(split=split) for split in SPLITS for _ in range(2)]
    selection = SelectionFactory(name="all", images=images)
    campaign = CampaignFactory(slug="done", selection=selection, config={"references": 2})
    workers = WorkerFactory.create_batch(3)
    for position, image in enumerate(images, start=1):
        task = TaskFactory(campaign=campaign, image=image, number=position)
        word = SECRET if image.split == "test" else "sparrow"
        for number, worker in enumerate(workers):
            text = f"A small {word} sits on branch {number} of tree {position}."
            ResponseFactory(task=task, worker=worker, text=text)
    return campaign


def release(campaign, name="v1", seed=7, **options):
    return release_campaign(campaign=campaign, name=name, seed=seed, at=NOON, **options)


@pytest.fixture
def hidden(campaign):
    """A release that hides the captions of the test split."""
    return release(campaign, hidden={"splits": ["test"]})


def hidden_numbers(made):
    return list(made.images.filter(is_hidden=True).values_list("number", flat=True))


def export(name, folder, **options):
    call_command("export_captions", name, out=folder, stdout=StringIO(), **options)
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


# What is hidden


def test_the_images_of_a_split_are_hidden(hidden):
    assert hidden_numbers(hidden) == [5, 6]
    assert hidden.hidden == {"splits": ["test"]}


def test_a_share_is_drawn_with_the_seed(campaign):
    first, again, other = (
        release(campaign, name, seed, hidden={"share": 0.5})
        for name, seed in [("first", 1), ("again", 1), ("other", 2)]
    )

    assert len(hidden_numbers(first)) == 3
    assert hidden_numbers(first) == hidden_numbers(again) != hidden_numbers(other)
    assert first.hidden == {"share": 0.5, "seed": 1}


@pytest.mark.parametrize("seed", range(6))
def test_a_partial_release_and_the_complete_one_hide_the_same_images(campaign, seed):
    responses = Response.objects.filter(task__number__in=[1, 3, 4])
    responses.update(status=ResponseStatus.DISCARDED)
    partial = release(campaign, "partial", seed, hidden={"share": 0.67}, partial=True)
    responses.update(status=ResponseStatus.SUBMITTED)

    complete = release(campaign, "complete", seed, hidden={"share": 0.67})

    assert len(hidden_numbers(complete)) == 4
    assert hidden_numbers(partial) == [n for n in hidden_numbers(complete) if n in (2, 5, 6)]


def test_a_partial_release_without_any_of_the_images_to_hide_is_refused(campaign):
    [number] = hidden_numbers(release(campaign, "complete", hidden={"share": 0.2}))
    Response.objects.filter(task__number=number).update(status=ResponseStatus.DISCARDED)

    with pytest.raises(HidingRefused, match="None of the images that were drawn"):
        release(campaign, "partial", hidden={"share": 0.2}, partial=True)


def test_the_rule_has_its_keys_in_the_same_order_in_every_database(campaign, tmp_path):
    release(campaign, hidden={"share": 0.5})

    info = json.loads(export("v1", tmp_path)["captions.json"])["info"]

    assert list(info["hidden"].items()) == [("seed", 7), ("share", 0.5)]


def test_a_release_hides_nothing_unless_it_is_asked_to(campaign):
    made = release(campaign)

    assert made.hidden is None
    assert hidden_numbers(made) == []


@pytest.mark.parametrize("share", [0, -0.5, 1.5, float("nan"), float("inf")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(HidingRefused, match="above 0 and up to 1"):
        rule_of(share=share)


def test_splits_and_a_share_are_refused_together():
    with pytest.raises(HidingRefused, match="not both"):
        rule_of(splits=["test"], share=0.5)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"splits": ["test", "tset"]}, "no image of the split tset. Its splits are test, train"),
        ({"share": 0.01}, "A share of 0.01 of 6 images is less than one image"),
    ],
)
def test_a_rule_that_fits_no_image_is_refused(campaign, rule, reason):
    with pytest.raises(HidingRefused, match=reason):
        release(campaign, hidden=rule)

    assert not Release.objects.exists()


def test_only_references_can_be_hidden():
    task = TaskFactory(campaign__kind="rating")

    with pytest.raises(ReleaseRefused, match="Only references of captions can be hidden"):
        release(task.campaign, partial=True, hidden={"share": 1})


# Where they are not


def test_code_that_does_not_ask_for_hidden_captions_does_not_get_them(hidden):
    assert not ReleasedCaption.objects.filter(text__contains=SECRET).exists()
    for image in hidden.images.prefetch_related("captions"):
        assert bool(image.captions.all()) != image.is_hidden
        assert image.captions.count() == (0 if image.is_hidden else 3)


def test_public_files_have_the_hidden_images_without_captions(hidden, tmp_path):
    files = export("v1", tmp_path)

    content = json.loads(files["captions.json"])
    assert [image["id"] for image in content["images"]] == [1, 2, 3, 4, 5, 6]
    assert {row["image_id"] for row in content["annotations"]} == {1, 2, 3, 4}
    assert content["info"]["hidden"] == {"splits": ["test"]}
    for text in files.values():
        assert SECRET not in text
    assert {row["image_id"] for row in json.loads(files["baseline.json"])} == {1, 2, 3, 4}


def texts_in(folder):
    """The content of every file below the folder as text."""
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            yield path.name, str(pyarrow.parquet.read_table(path).to_pylist())
        elif path.is_file():
            yield path.name, path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("format", [None, *FORMATS])
def test_no_format_has_hidden_captions(hidden, tmp_path, format):
    extras = ",".join(each for each in Extra if each != Extra.REMARKS) if format else ""
    call_command("export", "v1", out=tmp_path, format=format, stdout=StringIO(), extras=extras)

    files = dict(texts_in(tmp_path))
    assert not [name for name, text in files.items() if SECRET in text]
    assert any("sparrow" in text for text in files.values())


def test_no_report_has_a_word_of_hidden_captions_alone(hidden, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    call_command("report", "v1", out=tmp_path, stdout=StringIO(), stderr=StringIO())

    assert (tmp_path / "report.json").exists()
    assert not [name for name, text in texts_in(tmp_path) if SECRET in text]
    assert SECRET not in caplog.text


def crawl(get, *starts):
    """Every page and API answer that links lead to, by its path."""
    waiting, seen = deque(starts), {}
    while waiting:
        path = waiting.popleft()
        if path in seen:
            continue
        response = get(path)
        body = b"".join(response) if response.streaming else response.content
        if zipfile.is_zipfile(BytesIO(body)):
            with zipfile.ZipFile(BytesIO(body)) as archive:
                body = b"".join(map(archive.read, archive.namelist()))
        seen[path] = text = body.decode(errors="replace")
        for link in re.findall(r'(?:href|src|hx-get)="([^"]+)"|"(http://testserver[^"]+)"', text):
            target = urlsplit(unescape("".join(link)))
            if target.netloc in {"", "testserver"} and target.path.startswith("/"):
                waiting.append(target.path)
    return seen


def is_the_campaigns_own(path):
    """Whether researchers and reviewers see the running campaign's answers at this address."""
    own = ("/review/done/", "/campaigns/done/", "/api/campaigns/done/")
    return path.startswith(own) and not path.endswith("/releases/")


def test_no_page_and_no_api_answer_shows_hidden_captions(client, hidden):
    account = UserFactory()
    client.force_login(account)

    seen = crawl(client.get, "/", "/releases/", "/releases/v1/", "/api/", "/api/releases/")

    shown = {path for path, text in seen.items() if SECRET in text}
    assert {"/releases/v1/captions.json", "/api/releases/v1/workers.json"} <= seen.keys()
    assert not {path for path in shown if not is_the_campaigns_own(path)}
    # The crawl does find captions where they are.
    assert any("sparrow" in seen[path] for path in ["/releases/v1/", "/releases/v1/captions.json"])
    assert "/api/campaigns/done/responses/" not in seen
    assert SECRET in client.get("/api/campaigns/done/responses/").content.decode()


def test_a_token_gets_no_hidden_caption_of_a_release(client, hidden):
    _, token = issue_token(user=UserFactory(), at=timezone.now())
    headers = {"Authorization": f"Token {token}"}

    seen = crawl(lambda path: client.get(path, headers=headers), "/api/releases/v1/")

    assert "/api/releases/v1/captions.json" in seen
    assert not [path for path, text in seen.items() if SECRET in text]
    assert json.loads(seen["/api/releases/v1/"])["hidden"] == {"splits": ["test"]}


def test_strangers_see_no_caption_at_all(client, hidden):
    paths = ["/", "/releases/v1/", "/releases/v1/captions.json", "/api/releases/v1/captions.json"]
    seen = crawl(lambda path: client.get(path, follow=True), *paths, "/review/done/", "/task/done/")

    assert not [path for path, text in seen.items() if SECRET in text or "sparrow" in text]


def test_submitters_of_the_evaluation_server_see_no_caption(client, hidden):
    account = UserFactory()
    Submitter.objects.create(user=account, team="Us", created_at=NOON)
    client.force_login(account)
    starts = ["/", "/releases/", "/releases/v1/", "/releases/v1/captions.json", "/review/done/"]
    starts += ["/api/", "/api/releases/v1/", "/api/releases/v1/captions.json"]

    seen = crawl(lambda path: client.get(path, follow=True), *starts)

    assert not [path for path, text in seen.items() if SECRET in text or "sparrow" in text]


def rating_campaign(**source):
    values = {
        "name": "ratings",
        "kind": "rating",
        "selection": "all",
        "budget": "10.00",
        "rating": {"sources": [{"name": "people", "release": "v1", **source}]},
    }
    return create_campaign(config=parse_config(values), endpoint="local", at=NOON)


@pytest.mark.parametrize("role", ["references", "baseline"])
def test_workers_who_rate_captions_see_no_hidden_ones(hidden, role):
    campaign = rating_campaign(role=role)

    assert SECRET not in json.dumps([task.payload for task in campaign.tasks.all()])
    assert campaign.tasks.count() == 4


def test_a_rating_campaign_of_hidden_captions_alone_is_refused(campaign):
    release(campaign, hidden={"share": 1})

    with pytest.raises(CampaignNotPossible, match="has no captions of the selection's images"):
        rating_campaign()

    assert not Task.objects.filter(campaign__kind="rating").exists()


def test_a_caption_set_of_the_release_has_the_public_captions_with_their_ids(
    campaign, hidden, tmp_path
):
    made = set_of_release(name="v1", team=campaign.team, at=NOON)

    annotations = json.loads(export("v1", tmp_path)["captions.json"])["annotations"]
    given = made.captions.values_list("annotation_id", "text")
    assert list(given) == [(row["id"], row["caption"]) for row in annotations]
    assert not GivenCaption.objects.filter(text__contains=SECRET).exists()


def test_a_release_without_public_captions_makes_no_caption_set(campaign):
    release(campaign, hidden={"share": 1})

    with pytest.raises(DomainError, match="has no captions"):
        set_of_release(name="v1", team=campaign.team, at=NOON)

    assert not CaptionSet.objects.exists()


# Where they are


def test_the_evaluation_gets_all_captions(hidden):
    references = list(captions_with_hidden(hidden, Role.REFERENCE))

    assert len(references) == 12
    assert sum(SECRET in text for _, text in references) == 4
    assert {image for image, text in references if SECRET in text} == {5, 6}


def test_hidden_captions_are_exported_on_request_and_the_export_is_logged(
    hidden, tmp_path, caplog, capsys
):
    caplog.set_level(logging.DEBUG)
    account = UserFactory(username="ada")
    public = json.loads(export("v1", tmp_path / "public")["captions.json"])["annotations"]

    files = export("v1", tmp_path / "all", hidden=True, by="ada")

    annotations = json.loads(files["captions.json"])["annotations"]
    assert len(annotations) == 12
    assert sum(SECRET in row["caption"] for row in annotations) == 4
    # A caption has one id in all files of a release.
    assert annotations[: len(public)] == public
    logged = HiddenExport.objects.get()
    assert (logged.release, logged.actor) == (hidden, account)
    assert SECRET not in caplog.text + "".join(capsys.readouterr())


def test_the_release_page_lists_exports_of_hidden_captions(client, hidden, tmp_path):
    export("v1", tmp_path, hidden=True, by=UserFactory(username="ada").username)
    client.force_login(UserFactory())

    page = " ".join(client.get("/releases/v1/").content.decode().split())

    assert "The captions of 2 images are hidden: those of the split test." in page
    assert "ada exported the hidden captions on" in page
    assert page.count("The captions of this image are hidden.") == 2


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "--hidden needs --by NAME"),
        ({"by": "nobody"}, "No account is called 'nobody'"),
    ],
)
def test_an_export_of_hidden_captions_needs_a_person(hidden, tmp_path, options, reason):
    with pytest.raises(CommandError, match=reason):
        export("v1", tmp_path, hidden=True, **options)

    assert not list(tmp_path.iterdir())
    assert not HiddenExport.objects.exists()


def test_a_release_that_hides_nothing_has_nothing_hidden_to_export(campaign, tmp_path):
    release(campaign)
    UserFactory(username="ada")

    with pytest.raises(CommandError, match="v1 hides no captions"):
        export("v1", tmp_path, hidden=True, by="ada")

    assert not HiddenExport.objects.exists()


@pytest.mark.database
def test_the_log_of_exports_cannot_be_changed(hidden):
    made = HiddenExport.objects.create(release=hidden, actor=UserFactory(), at=NOON)

    for change in (
        lambda rows: rows.update(actor=UserFactory()),
        lambda rows: rows.delete(),
    ):
        with pytest.raises(DatabaseError, match="only appended"), transaction.atomic():
            change(HiddenExport.objects.filter(pk=made.pk))


# Commands and forms


def test_the_release_command_hides_splits(campaign, capsys):
    call_command("release", "done", "--name", "v1", "--hidden-splits", "val, test")

    assert hidden_numbers(Release.objects.get()) == [3, 4, 5, 6]
    assert "6 images, 4 of them with hidden captions" in capsys.readouterr().out


def test_the_release_command_hides_a_share_and_takes_a_table_of_domains(campaign):
    call_command(
        "release", "done", "--name", "v1", "--hidden-share", "0.5", "--domains", "nocaps-119",
        stdout=StringIO(),
    )  # fmt: skip

    made = Release.objects.get()
    assert len(hidden_numbers(made)) == 3
    assert made.context["domains"]["name"] == "nocaps-119"


def test_the_release_command_counts_domains_and_images_without_a_class(campaign, capsys):
    dog = ClassFactory(name="Dog")
    for task, name in zip(campaign.tasks.all(), ["Dog", "Dog", "Lynx"], strict=False):
        object_class = dog if name == "Dog" else ClassFactory(name=name)
        BoxFactory(image=task.image, object_class=object_class)

    call_command("release", "done", "--name", "v1")

    out = capsys.readouterr().out
    assert "By coco-80: 2 in-domain, 1 out-domain, 3 without a class." in out


def test_the_release_command_refuses_a_rule_that_fits_no_image(campaign):
    with pytest.raises(CommandError, match="no image of the split tset"):
        call_command("release", "done", "--name", "v1", "--hidden-splits", "tset")


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({}, None),
        ({"hidden_splits": ["test", "val"]}, {"splits": ["test", "val"]}),
        ({"hidden_percent": "50"}, {"share": 0.5, "seed": 3}),
    ],
)
def test_the_page_hides_captions(client, campaign, fields, rule):
    client.force_login(UserFactory())

    client.post("/review/done/releases/", {"name": "v1", "seed": "3", **fields})
    run_jobs()

    assert Release.objects.get().hidden == rule


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"hidden_splits": ["test"], "hidden_percent": "50"}, "not both"),
        ({"hidden_percent": "0"}, "above 0 and up to 1"),
        ({"hidden_splits": ["tset"]}, "tset is not one of the available choices"),
    ],
)
def test_the_page_refuses_what_cannot_be_hidden(client, campaign, fields, reason):
    client.force_login(UserFactory())

    answer = client.post("/review/done/releases/", {"name": "v1", "seed": "3", **fields})

    assert answer.status_code == 422
    assert reason in answer.content.decode()
    assert not Release.objects.exists()


def test_the_job_says_that_less_than_one_image_cannot_be_hidden(client, campaign):
    client.force_login(UserFactory())
    client.post("/review/done/releases/", {"name": "v1", "seed": "3", "hidden_percent": "1"})

    (job,) = run_jobs()

    assert "less than one image" in job.error
    assert not Release.objects.exists()
