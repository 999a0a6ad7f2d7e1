"""A release's records of its campaign and its images."""

import re

import pytest
from django.core.management import CommandError, call_command

from annotate.exports.formats import FORMATS
from annotate.kinds.campaign_files import parse_config
from annotate.kinds.exporting import content_of, export_archive, extras_of
from annotate.models import (
    Box,
    ClassRelation,
    Image,
    ObjectClass,
    RelationKind,
    Release,
    Selection,
)
from annotate.queries.releases import domains_of_release, unknown_classes
from annotate.services.campaigns import change_campaign
from corpora.selection.domains import preset, read_table
from qualcontrol.services.releasing import release_campaign
from shared.version import software_version
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ClassFactory,
    ImageFactory,
    ResponseFactory,
    TaskFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def image():
    """A person's face and, farther left, a dog that nobody verified."""
    image = ImageFactory(
        author="Ada",
        author_url="https://photos.example/ada",
        landing_url="https://photos.example/1",
        title="Me",
        license_url="https://creativecommons.org/licenses/by/2.0/",
    )
    person, face = ClassFactory(name="Person", label="/m/01g317"), ClassFactory(name="Human face")
    ClassRelation.objects.create(parent=person, child=face, kind=RelationKind.PART)
    BoxFactory(image=image, object_class=person, x_min=0.25, is_occluded=True)
    BoxFactory(image=image, object_class=face)
    BoxFactory(image=image, object_class__name="Dog", confidence=0)
    return image


def released(image, **config):
    campaign = CampaignFactory(config={"references": 1, "baselines": 0, **config})
    ResponseFactory(task=TaskFactory(campaign=campaign, image=image, number=1))
    return release_campaign(campaign=campaign, name="r1", seed=7, at=NOON)


def test_the_keywords_are_those_that_the_task_showed(image):
    campaign = CampaignFactory(config={"references": 1, "baselines": 0})
    task = TaskFactory(campaign=campaign, image=image, number=1, payload={"keywords": ["Mensch"]})
    ResponseFactory(task=task)

    release = release_campaign(campaign=campaign, name="r1", seed=7, at=NOON)

    assert release.images.get().details["keywords"] == ["Mensch"]


def test_an_image_has_its_source_and_its_verified_boxes(image):
    details = released(image).images.get().details

    boxes = details.pop("boxes")
    assert details == {
        "author": "Ada",
        "author_url": "https://photos.example/ada",
        "landing_url": "https://photos.example/1",
        "title": "Me",
        "license_url": "https://creativecommons.org/licenses/by/2.0/",
        "split": "validation",
        "source": "OPEN_IMAGES",
        "keywords": ["Person"],
        "keywords_shown": True,
    }
    assert [(box["name"], box["is_keyword"]) for box in boxes] == [
        ("Human face", False),
        ("Person", True),
    ]
    assert boxes[1] == {
        "class": "/m/01g317",
        "name": "Person",
        "is_keyword": True,
        "x_min": 0.25,
        "x_max": 0.4,
        "y_min": 0.2,
        "y_max": 0.8,
        "is_occluded": True,
        "is_truncated": None,
        "is_group": None,
        "is_depiction": None,
        "is_inside": None,
    }


def test_a_release_has_its_campaign_file_its_selection_and_the_table_of_domains(image):
    release = released(image, seed=3)

    campaign = release.campaign
    assert release.context["campaign_file"] == campaign.config.model_dump(mode="json")
    assert release.context["selection"] == {
        "name": campaign.selection.name,
        "split": "validation",
        "procedure": "nocaps",
        "count": 0,
        "sample": 10,
        "seed": 0,
        "ignored_classes": [],
    }
    assert release.context["caption_set"] is None
    assert release.context["software_version"] == software_version()
    assert release.context["domains"] == preset("coco-80").reference


def test_the_record_stays_when_images_boxes_and_selections_change(image):
    release = released(image)
    before = release.images.get().details, release.context

    Image.objects.update(author="", title="Other")
    Box.objects.all().delete()
    ObjectClass.objects.update(name="Other")
    Selection.objects.update(seed=99)
    release.refresh_from_db()

    assert (release.images.get().details, release.context) == before


def test_the_files_stay_when_the_draft_that_was_released_is_edited():
    rules = {"cannot_describe": ["Too dark"], "remarks": True}
    imported = {"references": 1, "baselines": 0, "captions": rules}
    campaign = CampaignFactory(status="DRAFT", config=imported)
    ResponseFactory(task=TaskFactory(campaign=campaign))
    made = release_campaign(campaign=campaign, name="v1", seed=0, at=NOON)
    before = archive_of(made)
    file = campaign.config_json
    captions = {**file["captions"], "cannot_describe": [], "remarks": False}
    edited = parse_config({**file, "name": "renamed", "captions": captions})

    change_campaign(campaign=campaign, config=edited, begun_from=file)

    assert archive_of(Release.objects.get()) == before


def archive_of(release):
    content = content_of(release, extras_of(release))
    return b"".join(export_archive(content, FORMATS["coco"]))


def test_an_image_without_a_class_has_no_domain():
    assert released(ImageFactory()).images.get().record["domain"] is None


def test_boxes_are_read_in_bulk(django_assert_max_num_queries):
    campaign = CampaignFactory(config={"references": 1, "baselines": 0})
    for _ in range(30):
        ResponseFactory(task=TaskFactory(campaign=campaign, image=BoxFactory().image))

    with django_assert_max_num_queries(58):
        release_campaign(campaign=campaign, name="r1", seed=7, at=NOON)


def test_domains_follow_from_another_table_without_touching_the_release(image, tmp_path):
    release = released(image)
    path = tmp_path / "mine.csv"
    path.write_text("class,domain\n/m/01g317,out-domain\nHuman face,in-domain\n")
    Box.objects.all().delete()

    assert domains_of_release(release) == {1: "in-domain"}
    # The face is a part, which counts in no table.
    assert domains_of_release(release, read_table(path)) == {1: "out-domain"}
    assert release.images.get().record["domain"] == "in-domain"


def test_an_image_without_a_class_has_no_domain_in_any_table():
    release = released(ImageFactory())

    assert domains_of_release(release, preset("nocaps-119")) == {1: None}


def test_a_table_by_label_finds_classes_that_were_renamed(tmp_path):
    renamed = ClassFactory(label="/m/0cmf2", name="Fixed-wing aircraft")
    release = released(BoxFactory(object_class=renamed).image)
    path = tmp_path / "mine.csv"
    path.write_text("class,domain\nAirplane,in-domain\n")

    assert domains_of_release(release, read_table(path)) == {1: "in-domain"}


def test_the_classes_of_a_table_that_no_dataset_has_are_named(image, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("class,domain\nPerson,in-domain\nPersn,in-domain\n")

    assert unknown_classes(read_table(path)) == ["Persn"]
    assert unknown_classes(preset("coco-80")) == []


def test_a_command_names_the_classes_of_its_table_that_no_dataset_has(image, tmp_path, capsys):
    released(image)
    path = tmp_path / "mine.csv"
    path.write_text("class,domain\nPerson,in-domain\nPersn,in-domain\n")

    call_command("export", "r1", out=tmp_path / "out", format="csv", domains=str(path))

    assert "no imported dataset has Persn, which" in capsys.readouterr().err


def test_a_command_refuses_a_table_that_does_not_exist(image, tmp_path):
    released(image)

    with pytest.raises(CommandError, match="There is no table of domains 'none.csv'"):
        call_command("export", "r1", out=tmp_path / "out", format="csv", domains="none.csv")

    assert not (tmp_path / "out").exists()


def test_the_version_has_the_commit_of_a_checkout(settings):
    software_version.cache_clear()

    assert re.fullmatch(r"\d+\.\d+\.\d+(\+[0-9a-f]{12,})?", software_version())


def test_outside_a_checkout_the_version_has_no_commit(settings, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    settings.BASE_DIR = tmp_path
    software_version.cache_clear()

    assert software_version() == "1.2.3"
    software_version.cache_clear()


def test_a_hierarchy_with_a_circle_ends(image):
    """The face is a part of the person, and the person below the face."""
    person, face = (ObjectClass.objects.get(name=name) for name in ("Person", "Human face"))
    ClassRelation.objects.create(parent=face, child=person, kind=RelationKind.SUBCATEGORY)

    boxes = released(image).images.get().details["boxes"]

    # Both are below a part, so neither can be a keyword.
    assert [box["is_keyword"] for box in boxes] == [False, False]
