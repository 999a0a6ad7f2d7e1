"""Exports: the published format, and the same bytes for the same release."""

import json
import unicodedata
from contextlib import redirect_stdout
from io import StringIO

import pytest
from pycocotools.coco import COCO

from annotate.kinds import KINDS
from annotate.kinds.caption.export import captions_file
from annotate.models import Caption, Image, Response
from annotate.services.responses import discard
from corpora.errors import DomainError
from corpora.writing import CHUNK
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ClassFactory,
    ImageFactory,
    ResponseFactory,
    TaskFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db

CC_BY = "https://creativecommons.org/licenses/by/2.0/"
HARD_TEXTS = [
    'He said "no" \\ and left </script> at once.',
    "Ein Hund läuft über die Straße 🐕‍🦺.",
    "كلب بني يركض في الحقل.",
    "Two dogs\u2028and a cat.",
]
# Of a plain release, as in the first version of the format.
PLAIN_CAPTIONS = (
    '{"info": {"description": "plain: 1 reference caption per image", "version": "r1", '
    '"year": 2026, "date_created": "2026-11-02T12:00:00Z", "contributor": "", "url": "", '
    '"seed": 7, "partial": false}, "licenses": [{"id": 1, "name": "CC BY 2.0", '
    f'"url": "{CC_BY}"}}], "images": [{{"id": 1, "open_images_id": "0a1b2c3d4e5f6071", '
    '"file_name": "0a1b2c3d4e5f6071.jpg", "width": 640, "height": 480, '
    '"coco_url": "https://photos.example/1.jpg", "domain": "in-domain", "date_captured": "", '
    '"license": 1}], "annotations": [{"id": 0, "image_id": 1, "caption": "Ein Hund läuft 🐕."}]}\n'
)
PLAIN_BASELINE = '[{"image_id": 1, "caption": "Ein Hund läuft 🐕."}]\n'


@pytest.fixture
def release():
    """A release of two images with four captions each, with texts that are difficult to encode."""
    campaign = CampaignFactory(config={"references": 3})
    workers = WorkerFactory.create_batch(4)
    for number, license_url in [(1, CC_BY), (2, "")]:
        image = BoxFactory(image__license_url=license_url).image
        task = TaskFactory(campaign=campaign, image=image, number=number)
        for worker, text in zip(workers, HARD_TEXTS, strict=True):
            ResponseFactory(task=task, worker=worker, text=text)
    return release_campaign(campaign=campaign, name="r1", seed=7, at=NOON)


def contents(release, folder):
    return {path.name: path.read_bytes() for path in KINDS["caption"].write(release, folder)}


def load(release, folder):
    files = contents(release, folder).items()
    return {name: json.loads(data) for name, data in files if name.endswith(".json")}


def quietly(call, *arguments):
    with redirect_stdout(StringIO()):
        return call(*arguments)


def test_pycocotools_opens_the_references_and_takes_the_baseline_as_a_result(release, tmp_path):
    KINDS["caption"].write(release, tmp_path)

    truth = quietly(COCO, str(tmp_path / "captions.json"))
    result = quietly(truth.loadRes, str(tmp_path / "baseline.json"))

    assert sorted(truth.getImgIds()) == sorted(result.getImgIds()) == [1, 2]
    assert all(len(truth.imgToAnns[image]) == 3 for image in [1, 2])
    assert all(len(result.imgToAnns[image]) == 1 for image in [1, 2])


def test_the_files_have_the_keys_of_the_published_ones(release, tmp_path):
    files = load(release, tmp_path)

    captions = files["captions.json"]
    assert list(captions) == ["info", "licenses", "images", "annotations"]
    assert set(captions["images"][0]) == {
        "id", "open_images_id", "file_name", "width", "height", "coco_url", "domain", "license",
        "date_captured",
    }  # fmt: skip
    assert set(captions["annotations"][0]) == {"id", "image_id", "caption"}
    assert set(files["baseline.json"][0]) == {"image_id", "caption"}
    assert captions["info"]["seed"] == 7


def test_the_files_of_a_plain_release_keep_their_bytes(tmp_path):
    campaign = CampaignFactory(slug="plain", config={"preset": "nocaps", "references": 1})
    dog = ClassFactory(name="Dog", label="/m/0bt9lr")
    image = ImageFactory(
        key="0a1b2c3d4e5f6071", url="https://photos.example/1.jpg", license_url=CC_BY,
        width=640, height=480,
    )  # fmt: skip
    BoxFactory(image=image, object_class=dog)
    task = TaskFactory(campaign=campaign, image=image, number=1)
    # The draw depends on the keys of the responses.
    ResponseFactory.create_batch(2, task=task, text="Ein Hund läuft 🐕.")
    files = contents(release_campaign(campaign=campaign, name="r1", seed=7, at=NOON), tmp_path)

    assert list(files) == ["captions.json", "baseline.json", "workers.json", "methods.md"]
    assert files["captions.json"].decode() == PLAIN_CAPTIONS
    assert files["baseline.json"].decode() == PLAIN_BASELINE


def test_the_keys_are_those_of_the_real_nocaps_file(release, tmp_path, shared_data):
    real = json.loads((shared_data / "nocaps/nocaps_val_2250_captions.json").read_bytes())

    ours = load(release, tmp_path)["captions.json"]

    for part in ["images", "annotations"]:
        assert set(real[part][0]) <= set(ours[part][0])
    assert {image["domain"] for image in ours["images"]} <= {i["domain"] for i in real["images"]}


def test_texts_come_out_as_they_went_in(release, tmp_path):
    files = load(release, tmp_path)

    told = [row["caption"] for row in files["captions.json"]["annotations"]]
    told += [row["caption"] for row in files["baseline.json"]]
    assert sorted(told) == sorted(HARD_TEXTS * 2)
    assert all(unicodedata.is_normalized("NFC", text) for text in told)


def test_annotations_are_numbered_and_workers_are_told_by_the_same_numbers(release, tmp_path):
    files = load(release, tmp_path)

    annotations = files["captions.json"]["annotations"]
    workers = files["workers.json"]
    assert [row["id"] for row in annotations] == list(range(6))
    assert [(row["id"], row["image_id"]) for row in workers["annotations"]] == [
        (row["id"], row["image_id"]) for row in annotations
    ]
    by_image = {
        image: {row["worker"] for part in ["annotations", "baseline"] for row in workers[part]
                if row["image_id"] == image}
        for image in [1, 2]
    }  # fmt: skip
    assert by_image == {1: {1, 2, 3, 4}, 2: {1, 2, 3, 4}}


def test_no_name_of_a_worker_is_in_any_file(release, tmp_path):
    text = b"".join(contents(release, tmp_path).values()).decode()

    for response in Response.objects.select_related("worker"):
        assert response.worker.pseudonym not in text


def test_a_licence_is_named_and_an_image_without_one_says_so(release, tmp_path):
    captions = load(release, tmp_path)["captions.json"]

    assert captions["licenses"] == [{"id": 1, "name": "CC BY 2.0", "url": CC_BY}]
    assert [image["license"] for image in captions["images"]] == [1, None]


def test_the_same_release_gives_the_same_bytes_whatever_changed_since(release, tmp_path):
    before = contents(release, tmp_path / "before")

    Caption.objects.update(text="Changed.")
    Image.objects.update(url="https://elsewhere.example/x.jpg", width=1, license_url="")
    discard(responses=list(Response.objects.all()))
    release.refresh_from_db()

    assert contents(release, tmp_path / "after") == before


def test_exporting_into_the_same_folder_again_replaces_the_files_and_leaves_no_others(
    release, tmp_path
):
    before = contents(release, tmp_path)

    assert contents(release, tmp_path) == before

    assert {path.name for path in tmp_path.iterdir()} == set(before)


def test_a_campaign_without_baselines_exports_none(tmp_path):
    task = TaskFactory(campaign=CampaignFactory(config={"references": 1, "baselines": 0}))
    ResponseFactory(task=task)
    made = release_campaign(campaign=task.campaign, name="r1", seed=0, at=NOON)

    files = load(made, tmp_path)

    assert "baseline.json" not in files
    assert files["workers.json"]["baseline"] == []
    assert files["captions.json"]["licenses"] == []


def test_a_release_longer_than_a_chunk_is_one_array(release, tmp_path, monkeypatch):
    whole = contents(release, tmp_path / "whole")

    monkeypatch.setattr("annotate.kinds.caption.export.CHUNK", 2)

    assert CHUNK > 2
    assert contents(release, tmp_path / "pieces") == whole


def test_exporting_takes_the_same_few_queries_for_any_number_of_images(
    release, django_assert_max_num_queries
):
    with django_assert_max_num_queries(4):
        "".join(captions_file(release))


def test_a_folder_that_cannot_be_made_is_named(release, tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(DomainError, match=r"^Cannot write to .*file: File exists\.$"):
        KINDS["caption"].write(release, tmp_path / "file")
