"""Captions of regions: which boxes become tasks, the page, and the files of a release."""

import json
from contextlib import redirect_stdout
from io import StringIO

import pytest
from django.template.loader import render_to_string
from pycocotools.coco import COCO

from annotate.exports.formats import FORMATS
from annotate.kinds import KINDS, CampaignNotPossible
from annotate.kinds.campaign_files import CampaignFileError, parse_config, parse_plan
from annotate.kinds.correspondence.caption_sets import set_of_release
from annotate.kinds.exporting import content_of, extras_of
from annotate.models import (
    Behaviour,
    Box,
    Campaign,
    Caption,
    ClassName,
    ClassRelation,
    Image,
    RelationKind,
    Response,
)
from annotate.queries.releases import domains_of_release
from annotate.services.campaigns import change_campaign, create_campaign, create_campaigns
from annotate.services.imports import import_coco
from annotate.services.reports import read_release
from annotate.templatetags.campaigns import other_language_written, show_answer
from qualcontrol.services.releasing import ReleaseRefused, release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    ClassFactory,
    HitFactory,
    HitTypeFactory,
    ImageFactory,
    ResponseFactory,
    SelectionFactory,
    TeamFactory,
    UserFactory,
    WorkerFactory,
)
from tests.hits.opened_pages import open_page

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

KIND = KINDS["region"]


@pytest.fixture
def image():
    return ImageFactory(width=200, height=100)


@pytest.fixture
def make(image):
    """Returns what creates a campaign about the regions of the image."""
    selection = SelectionFactory(images=[image])

    def make(**values):
        file = {"name": "r", "kind": "region", "selection": selection.name, "budget": "10.00"}
        return create_campaign(config=parse_config({**file, **values}), endpoint="local", at=NOON)

    return make


def box(image, name, edges, **values):
    """A box with the edges x_min, y_min, x_max, y_max."""
    known = ClassFactory._meta.model.objects.filter(name=name).first()
    sides = dict(zip(("x_min", "y_min", "x_max", "y_max"), edges, strict=True))
    return BoxFactory(image=image, object_class=known or ClassFactory(name=name), **sides, **values)


def names(campaign):
    tasks = campaign.tasks.order_by("number")
    return [task.payload["region"]["name"] for task in tasks]


LARGE, INNER, SMALL = (0.1, 0.1, 0.9, 0.9), (0.2, 0.2, 0.5, 0.5), (0.6, 0.6, 0.65, 0.65)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, ["Dog", "Girl", "Statue"]),
        ({"leave_out": []}, ["Dog", "Girl", "Person", "Statue"]),
        ({"leave_out": ["nested"]}, ["Girl", "Person"]),
        ({"classes": ["Dog", "/m/person"], "leave_out": ["nested"]}, ["Person"]),
        ({"classes": ["Dog"], "leave_out": ["duplicates", "nested"]}, ["Dog"]),
        ({"least_size": 0}, ["Ant", "Dog", "Girl", "Statue"]),
        ({"most_size": 0.1}, ["Dog", "Statue"]),
        ({"depictions": "without"}, ["Dog", "Girl"]),
        ({"depictions": "only"}, ["Statue"]),
        ({"parts": True, "classes": ["Face"]}, ["Face"]),
    ],
)
def test_the_section_chooses_among_the_verified_boxes(make, image, rules, expected):
    box(image, "Girl", LARGE)
    ClassFactory(name="Person", label="/m/person")
    box(image, "Person", LARGE)
    box(image, "Dog", INNER)
    box(image, "Ant", SMALL)
    box(image, "Statue", (0.2, 0.2, 0.4, 0.4), is_depiction=True)
    box(image, "Cat", (0.0, 0.0, 1.0, 0.5), confidence=0)
    face = box(image, "Face", INNER)
    girl = Box.objects.get(object_class__name="Girl").object_class
    ClassRelation.objects.create(parent=girl, child=face.object_class, kind=RelationKind.PART)

    assert names(make(region=rules)) == expected


def test_regions_stay_in_order_if_a_later_box_has_the_edges_of_the_first(make, image):
    for name, edges in (("Apple", LARGE), ("Bat", INNER), ("Cat", LARGE)):
        box(image, name, edges)

    assert names(make()) == ["Apple", "Bat"]


def test_a_campaign_needs_a_region_and_has_no_baseline(make, image):
    box(image, "Dog", SMALL)

    with pytest.raises(CampaignNotPossible, match="none of the images"):
        make()
    with pytest.raises(CampaignNotPossible, match="baselines"):
        make(baselines=1, region={"least_size": 0})
    with pytest.raises(CampaignFileError, match="least_size"):
        make(region={"least_size": 0.5, "most_size": 0.1})


def test_the_methods_say_which_boxes_became_regions(make, image):
    box(image, "Dog", INNER)
    rules = {"classes": ["Dog"], "least_size": 0.02, "depictions": "without"}

    chosen, left_out = KIND.methods(make(region={**rules, "leave_out": ["duplicates", "nested"]}))

    assert "boxes of the classes Dog, without parts of objects, of 2.00% to 100.00%" in chosen
    assert "Drawings and the like of things: left out." in chosen
    assert left_out == ("Left out: boxes with the same edges as another and boxes inside another.")


def test_tasks_keep_their_region_when_boxes_change(make, image):
    dog = box(image, "Dog", INNER)
    campaign = make()
    dog.delete()

    [shown] = [KIND.context(task, campaign.config, {}) for task in campaign.tasks.all()]

    assert (shown["region"]["x_min"], shown["region"]["y_max"]) == (0.2, 0.5)
    assert shown["keywords"] == ["Dog"]


def test_half_of_the_regions_show_the_name_of_their_class_in_the_campaigns_language(make, image):
    for number, name in enumerate(["Dog", "Cat", "Bird", "Cow"]):
        each = box(image, name, (number / 5, 0.1, number / 5 + 0.2, 0.9))
        if name != "Cow":
            ClassName.objects.create(
                object_class=each.object_class, language="de", name=f"{name} (de)"
            )
    campaign = make(language="de", priming={"share": 0.5})
    tasks = campaign.tasks.order_by("number")

    assert sum(task.shows_keywords for task in tasks) == 2
    assert [task.payload["keywords"] for task in tasks] == [
        ["Bird (de)"],
        ["Cat (de)"],
        ["Cow"],
        ["Dog (de)"],
    ]
    assert [task.payload.get("english_keywords") for task in tasks] == [None, None, ["Cow"], None]
    assert campaign.config.hit.title == "Einen Teil eines Fotos beschreiben"


def test_a_page_shows_several_regions_of_an_image_and_its_svg_has_points(make, image, client):
    box(image, "Dog", INNER)
    box(image, "Girl", LARGE)
    campaign = make(language="de", hit={"images": 2})
    Campaign.objects.update(status="RUNNING")
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))

    page = open_page(client, hit, "A1", "AWORKER1").content.decode()

    assert page.count("data-region") == 2
    assert "M0.2 0.2H0.5V0.5H0.2Z" in page
    assert "Beschreiben Sie den markierten Teil in einem Satz" in page
    assert "Markierter Teil 2 von 2" in page


def test_the_api_has_the_region_of_each_task(make, image, client):
    box(image, "Dog", INNER)
    make()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))

    [task] = client.get("/api/campaigns/r/tasks/").json()["results"]

    assert task["region"]["name"] == "Dog"
    assert task["region"]["x_max"] == 0.5


@pytest.fixture
def release(make, image):
    """Two regions of one image with two captions each, and one of an image of unknown size."""
    other = ImageFactory(width=None, height=None)
    selection = SelectionFactory(images=[image, other])
    box(image, "Dog", INNER)
    box(image, "Girl", LARGE)
    box(other, "Dog", LARGE)
    campaign = make(selection=selection.name, references=2)
    for task in campaign.tasks.order_by("number"):
        for n, worker in enumerate(WorkerFactory.create_batch(2)):
            ResponseFactory(task=task, worker=worker, text=f"Caption {n} of region {task.number}.")
    return release_campaign(campaign=campaign, name="r1", seed=1, at=NOON)


def test_regions_json_is_in_cocos_form(release, tmp_path):
    KIND.write(release, tmp_path)
    data = json.loads((tmp_path / "regions.json").read_text())
    for each in data["annotations"]:
        each["area"] = each["area"] or 0  # pycocotools compares areas
    path = tmp_path / "sized.json"
    path.write_text(json.dumps(data))
    with redirect_stdout(StringIO()):
        coco = COCO(path)

    assert sorted(coco.getImgIds()) == [1, 2]
    assert [cat["name"] for cat in coco.loadCats(coco.getCatIds())] == ["Dog", "Girl"]
    first, *_, last = coco.loadAnns(sorted(coco.getAnnIds()))
    assert first["bbox"] == [40.0, 20.0, 60.0, 30.0]
    assert (first["area"], first["caption"]) == (1800.0, "Caption 0 of region 1.")
    assert (last["image_id"], last["region_id"], last["bbox"]) == (2, 3, None)


def test_the_pages_of_releases_do_not_take_regions_for_images(release, client):
    for item in release.images.all():
        item.is_hidden, item.record["license_url"] = True, ""
        item.save()
    release.hidden = {"splits": ["val"]}
    release.save()
    client.force_login(UserFactory(team=release.team))

    page = " ".join(client.get("/releases/r1/").content.decode().split())

    assert "<span>3 regions</span>" in page
    assert "The captions of 2 images are hidden" in page
    assert "The licence of 2 of 2 images is not known" in page
    assert ">3 regions</td>" in " ".join(client.get("/releases/").content.decode().split())


def test_regions_json_tells_classes_of_two_datasets_with_the_same_number_apart(image, make):
    dog = box(image, "Dog", INNER).object_class
    bridge = ClassFactory(name="Bridge", label=dog.label, team=TeamFactory())
    BoxFactory(image=image, object_class=bridge)
    for task in make().tasks.all():
        ResponseFactory(task=task, text="It stands in the shade.")
    release = release_campaign(campaign=Campaign.objects.get(), name="r1", seed=1, at=NOON)

    data = json.loads("".join(KIND.files["regions.json"](release)))

    categories = {each["id"]: each["name"] for each in data["categories"]}
    named = [categories[each["category_id"]] for each in data["annotations"]]
    assert named == ["Bridge", "Dog"]


def test_regions_json_names_image_files_as_their_dataset_does(image, make):
    Image.objects.update(source="COCO", file="images/val/4.jpg", file_name="000000000004.jpg")
    box(image, "Dog", INNER)
    ResponseFactory(task=make().tasks.get(), text="The head of a brown dog.")
    release = release_campaign(campaign=Campaign.objects.get(), name="r1", seed=1, at=NOON)

    data = json.loads("".join(KIND.files["regions.json"](release)))

    assert [each["file_name"] for each in data["images"]] == ["000000000004.jpg"]


def test_regions_json_can_be_imported_also_with_addresses_on_the_site(image, make, tmp_path):
    Image.objects.update(url="/open-images/4.jpg")
    box(image, "Dog", INNER)
    ResponseFactory(task=make().tasks.get(), text="The head of a brown dog.")
    KIND.write(
        release_campaign(campaign=Campaign.objects.get(), name="r1", seed=1, at=NOON), tmp_path
    )

    counts = import_coco(path=tmp_path / "regions.json", split="regions")

    assert (counts.images.new, counts.boxes.new) == (1, 1)
    assert Image.objects.get(split="regions").url == "/open-images/4.jpg"


def test_region_descriptions_are_in_visual_genomes_form(release, tmp_path):
    KIND.write(release, tmp_path)

    first, second = json.loads((tmp_path / "region_descriptions.json").read_text())

    assert (first["id"], len(first["regions"]), second["id"]) == (1, 4, 2)
    assert first["regions"][2] == {
        "region_id": 2,
        "image_id": 1,
        "phrase": "Caption 0 of region 2.",
        "x": 20,
        "y": 10,
        "width": 160,
        "height": 80,
    }
    assert second["regions"][0]["x"] is None


def test_tables_have_each_image_once_and_refer_to_each_other(release):
    images, boxes, regions, captions = content_of(release, extras_of(release)).tables

    assert [*images.values("image_id")] == [(1,), (2,)]
    assert [*boxes.values("image_id", "name")] == [(1, "Dog"), (1, "Girl"), (2, "Dog")]
    assert [*regions.values("region_id", "image_id", "name", "x_min")] == [
        (1, 1, "Dog", 0.2),
        (2, 1, "Girl", 0.1),
        (3, 2, "Dog", 0.1),
    ]
    assert [*captions.values("region_id", "image_id")] == [
        (region, image) for region, image in ((1, 1), (2, 1), (3, 2)) for _ in range(2)
    ]
    assert all(primed for (primed,) in captions.values("primed"))


@pytest.mark.parametrize("name", FORMATS)
def test_captions_of_hidden_images_are_in_no_format(release, name, tmp_path):
    campaign = release.campaign
    hidden = release_campaign(
        campaign=campaign, name="r2", seed=1, at=NOON, hidden={"share": 0.5, "seed": 1}
    )
    content = content_of(hidden, extras_of(hidden))

    texts = "".join(
        [
            *(str([*table.rows()]) for table in content.tables),
            *("".join(text) for _, text in content.own_files()),
        ]
    )

    [number] = hidden.images.filter(is_hidden=True).values_list("task__image", flat=True).distinct()
    secret = hidden.images.filter(task__image=number).values_list("number", flat=True)
    assert not any(f"of region {region}." in texts for region in secret)


def test_texts_in_rounds_about_whole_images_begin_from_the_captions_of_their_regions(release):
    file = {"name": "whole", "kind": "refine", "budget": "10.00"}
    draft = {"draft_release": release.name, "joins_captions": True, "rounds": 1}
    selection = release.campaign.selection.name
    config = parse_config({**file, "selection": selection, "refine": draft})

    first, _ = create_campaign(config=config, endpoint="local", at=NOON).tasks.order_by("number")

    assert first.payload["text"] == " ".join(
        f"Caption {n} of region {region}." for region in (1, 2) for n in (0, 1)
    )
    assert first.payload["origin"] == "edited from release r1"


def test_the_caption_of_the_first_region_alone_is_no_draft_of_the_whole_image(release):
    file = {"name": "whole", "kind": "refine", "budget": "10.00"}
    selection = release.campaign.selection.name
    draft = {"draft_release": release.name}
    config = parse_config({**file, "selection": selection, "refine": draft})

    with pytest.raises(CampaignNotPossible, match="joins_captions: 'r1' describes regions"):
        create_campaign(config=config, endpoint="local", at=NOON)


def test_a_region_has_the_context_of_its_image(image, make):
    box(image, "Dog", (0, 0, 1, 1))
    Image.objects.update(context="Herons leave.")

    shown = make(captions={"show_context": True}).tasks.first()

    assert shown.payload["context"] == "Herons leave."


ASKED = {"questions": [{"name": "q", "text": "Good?", "labels": ["no", "yes"]}]}


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "rating", "rating": {"sources": [{"name": "s", "release": "r1"}], **ASKED}},
        {"kind": "rating", "rating": {"sources": [{"name": "s", "caption_set": "r1"}], **ASKED}},
        {"captions": {"rate_first": "r1"}},
        {"kind": "refine", "refine": {"draft_set": "r1"}},
    ],
)
def test_captions_of_regions_are_not_taken_for_captions_of_the_image(release, values):
    set_of_release(name=release.name, team=release.team, at=NOON)
    file = {"name": "s", "budget": "10.00", "selection": release.campaign.selection.name, **values}

    with pytest.raises(CampaignNotPossible, match="'r1' describes regions of the images"):
        create_campaign(config=parse_config(file), endpoint="local", at=NOON)


def test_reasons_and_remarks_name_their_region(image, make):
    box(image, "Dog", (0, 0, 1, 1))
    box(image, "Cat", (0.1, 0.1, 0.6, 0.6))
    campaign = make(captions={"cannot_describe": ["too dark"], "remarks": True})
    first, second = campaign.tasks.order_by("number")
    ResponseFactory(task=first, text="A brown dog in the grass.")
    reason = ResponseFactory(task=second, text="")
    Response.objects.filter(pk=reason.pk).update(cannot_describe="too dark")
    Caption.objects.filter(pk=reason.pk).update(remark="No light.")
    shown = show_answer(KINDS["region"], Response.objects.get(pk=reason.pk))
    assert "Cannot be described: <strong" in shown
    assert "No light." in shown

    release = release_campaign(campaign=campaign, name="dark", seed=1, at=NOON)

    content = content_of(release, extras_of(release))
    files = {name: "".join(text) for name, text in content.own_files()}
    assert json.loads(files["regions.json"])["reasons"] == [
        {"image_id": 1, "region_id": 2, "reason": "too dark"}
    ]
    assert json.loads(files["remarks.json"])["remarks"] == [
        {"region_id": 2, "caption": "too dark", "remark": "No light."}
    ]
    [reasons] = [table for table in content.tables if table.name == "reasons"]
    assert [*reasons.values("region_id", "image_id", "reason")] == [(2, 1, "too dark")]


def test_a_release_of_regions_says_how_its_texts_came(image, make):
    box(image, "Dog", (0, 0, 1, 1))
    campaign = make(language="de")
    response = ResponseFactory(task=campaign.tasks.get(), text="Der Kopf eines Hundes.")
    Behaviour.objects.create(response=response, characters={"typed": 22})

    release = release_campaign(campaign=campaign, name="parts", seed=1, at=NOON)

    assert release.context["writing"]["ways"] == {"typed": 1.0}
    assert other_language_written(campaign) == "German"


def test_a_report_takes_each_region_for_an_image_of_its_own_class(release):
    classes = {image.number: image.classes for image in read_release(release).images}

    assert classes == {1: ("Dog",), 2: ("Girl",), 3: ("Dog",)}


def test_the_name_of_a_class_is_not_that_of_another_teams_class_of_the_same_label(make, image):
    """Datasets often number their own categories from 1."""
    dog = box(image, "Dog", INNER).object_class
    lamp = ClassFactory(name="Lamp", label=dog.label, team=TeamFactory())
    ClassName.objects.create(object_class=lamp, language="de", name="Lampe")

    [task] = make(language="de").tasks.all()

    assert task.payload["keywords"] == ["Dog"]
    assert task.payload["english_keywords"] == ["Dog"]


def test_the_domain_of_a_region_is_that_of_its_own_class(make, image):
    box(image, "Dog", INNER)
    box(image, "Lynx", LARGE)
    campaign = make()
    for task in campaign.tasks.all():
        ResponseFactory(task=task, text="It lies on the grass.")

    release = release_campaign(campaign=campaign, name="r1", seed=1, at=NOON)

    by_class = dict(zip(names(campaign), domains_of_release(release).values(), strict=True))
    assert by_class == {"Dog": "in-domain", "Lynx": "out-domain"}
    assert [image.subset for image in read_release(release).images] == ["in-domain", "out-domain"]


def test_campaigns_about_other_regions_of_the_same_images_make_no_release(image):
    box(image, "Dog", INNER)
    box(image, "Girl", LARGE)
    selection = SelectionFactory(images=[image])
    file = {"name": "r", "kind": "region", "selection": selection.name, "budget": "10.00"}
    plan = parse_plan({**file, "region": {"classes": ["Dog"]}, "languages": ["en", "de"]})
    english, german = create_campaigns(plan=plan, endpoint="local", at=NOON)
    values = {**german.config_json, "region": {"classes": ["Girl"]}}
    change_campaign(campaign=german, config=parse_config(values), begun_from=german.config_json)
    for campaign in (english, german):
        ResponseFactory(task=campaign.tasks.get(), text="It lies on the grass.")

    with pytest.raises(ReleaseRefused, match="r-de has other regions than r-en"):
        release_campaign(campaign=english, name="r1", seed=1, at=NOON, in_all_languages=True)


def test_the_facts_have_the_shares_as_they_were_set():
    rules = {"least_size": 0.005, "most_size": 0.125}
    campaign = {"config": {"priming": {"share": 0.375, "by": "image"}}}

    page = render_to_string("kinds/region/facts.html", {"rules": rules, "campaign": campaign})

    assert "0.5% to 12.5% of the image" in page
    assert "with 37.5% of the regions" in page
