"""Constraint filtering: which objects of an image a caption must mention."""

import json
from itertools import permutations

import pytest
from django.core.management import CommandError, call_command

from annotate.kinds.campaign_files import parse_config
from annotate.models import ClassRelation, ObjectClass
from annotate.services.campaigns import create_campaign
from corpora.captioners.constraints import (
    Candidate,
    choose_constraints,
    excluded_classes,
    intersection_over_union,
    levels,
)
from corpora.datasets.openimages import read_hierarchy
from corpora.errors import DomainError
from corpora.language.word_forms import word_forms
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ClassFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
)

pytestmark = pytest.mark.one_database

LEVELS = levels([("animal", "mammal"), ("mammal", "dog"), ("animal", "bird")])
WHOLE = (0.0, 1.0, 0.0, 1.0)


def box(label, edges=WHOLE, confidence=None):
    return Candidate(label, label.title(), *edges, confidence)


def chosen(*boxes, excluded=(), levels_of=LEVELS):
    return [one.label for one in choose_constraints(boxes, levels_of, excluded)]


def test_the_excluded_classes_are_those_of_table_5(shared_data):
    table = excluded_classes()
    named = json.loads((shared_data / "nocaps" / "nocaps_cbs_blacklist_39.json").read_text())

    assert sorted(name.lower() for name in table.values()) == sorted(named["blacklist"])
    assert table["/m/015h_t"] == "Human beard"  # "Beard" in version 7


def test_a_class_of_several_parents_has_the_level_of_its_longest_path():
    assert LEVELS == {"animal": 0, "mammal": 1, "bird": 1, "dog": 2}
    assert levels([("a", "b"), ("b", "c"), ("a", "c")])["c"] == 2


def test_a_circle_in_the_hierarchy_is_named():
    with pytest.raises(DomainError, match="circle: (a > b > a|b > a > b)"):
        levels([("a", "b"), ("b", "a"), ("root", "a")])


def test_the_real_hierarchy_has_levels(shared_data):
    hierarchy = read_hierarchy(shared_data / "open_images" / "bbox_labels_600_hierarchy.json")

    found = levels((relation.parent, relation.child) for relation in hierarchy.relations)

    assert found[hierarchy.root] == 0
    assert found["/m/0bt9lr"] > found["/m/04rky"] > found["/m/0jbk"]  # dog, mammal, animal


def test_of_overlapping_boxes_the_higher_class_is_removed_in_every_order():
    for order in permutations([box("animal"), box("mammal"), box("dog")]):
        assert chosen(*order) == ["dog"]


def test_classes_of_the_same_level_both_stay():
    assert sorted(chosen(box("mammal"), box("bird"))) == ["bird", "mammal"]


@pytest.mark.parametrize(("share", "labels"), [(0.85, ["dog"]), (0.84, ["mammal", "dog"])])
def test_boxes_overlap_from_an_iou_of_85_hundredths(share, labels):
    assert chosen(box("mammal"), box("dog", (0.0, share, 0.0, 1.0))) == labels


def test_excluded_classes_remove_nothing():
    assert chosen(box("mammal"), box("dog"), excluded={"dog"}) == ["mammal"]


def test_the_three_most_confident_classes_remain_each_once():
    boxes = [
        box("cat", (0.0, 0.1, 0.0, 0.1), 0.9),
        box("cat", (0.5, 0.6, 0.0, 0.1), 0.8),
        box("hat", (0.2, 0.3, 0.0, 0.1), 0.3),
        box("bus", (0.7, 0.8, 0.0, 0.1), 0.7),
        box("cup", (0.3, 0.4, 0.3, 0.4), 0.5),
    ]

    for order in permutations(boxes):
        assert chosen(*order, levels_of={}) == ["cat", "bus", "cup"]


def test_boxes_without_a_confidence_rank_by_area():
    small, large = box("cat", (0.0, 0.1, 0.0, 0.1)), box("bus", (0.2, 0.9, 0.0, 0.9))

    assert chosen(small, large) == ["bus", "cat"]


def test_boxes_without_an_area_do_not_overlap():
    point = box("cat", (0.5, 0.5, 0.5, 0.5))

    assert intersection_over_union(point, point) == 0
    assert chosen(point, box("mammal", (0.5, 0.5, 0.5, 0.5))) == ["cat", "mammal"]


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("Dog", ("dog", "dogs")),
        ("Bus", ("bus", "buses")),
        ("Hippopotamus", ("hippopotamus", "hippopotamuses")),
        ("Knife", ("knife", "knives")),
        ("French fries", ("french fry", "french fries")),
        ("Sheep", ("sheep",)),
        ("Scissors", ("scissors",)),
        ("Kitchen & dining room table", ("table", "tables")),
        ("Human foot", ("human foot", "human feet")),
        ("Ball (Object)", ("ball", "balls")),
        ("Burrito", ("burrito", "burritos")),
        ("Mango", ("mango", "mangos", "mangoes")),
        ("Banjos", ("banjo", "banjos", "banjoes")),
        ("Water buffaloes", ("water buffalo", "water buffalos", "water buffaloes")),
        ("Potato", ("potato", "potatoes")),
        ("Tacos", ("taco", "tacos")),
        ("Rhinoceros", ("rhinoceros", "rhinoceroses")),
        ("Thermos", ("thermos", "thermoses")),
        ("Lens", ("lens", "lenses")),
        ("Chaos", ("chaos", "chaoses")),
        ("Table tennis", ("table tennis", "table tennises")),
        ("Nachos", ("nacho", "nachos")),
        ("Nacho", ("nacho", "nachos")),
        ("Hooves", ("hoof", "hooves", "hoofs")),
        ("Persons", ("person", "persons", "people")),
        ("skis", ("ski", "skis")),
        ("TV", ("tv", "tvs")),
        ("-in-law", ("in-law", "in-laws")),
        ("Café", ("café", "cafés")),
        ("Route 66", ("route 66", "route 66s")),
        ("犬", ("犬",)),
        ("Собака", ("собака",)),
        ("कुत्ता", ("कुत्ता",)),
    ],
)
def test_words_of_a_class_are_its_singular_and_plural(name, forms):
    assert word_forms(name) == forms


# The command


@pytest.fixture
def released(db):
    """A release of one image with a dog, a mammal in the same place, a person and a small bus."""
    task = TaskFactory(campaign=CampaignFactory(config={"references": 1, "baselines": 1}), wanted=2)
    classes = {
        label: ClassFactory(label=f"/m/{label}", name=label.title())
        for label in ("animal", "mammal", "dog", "bus")
    }
    classes["person"] = ClassFactory(label="/m/01g317", name="Person")
    for parent, child in (("animal", "mammal"), ("mammal", "dog")):
        ClassRelation.objects.create(
            parent=classes[parent], child=classes[child], kind="SUBCATEGORY"
        )
    for label, edges in {
        "dog": (0.1, 0.9, 0.1, 0.9),
        "mammal": (0.1, 0.9, 0.1, 0.89),
        "person": WHOLE,
        "bus": (0.0, 0.2, 0.0, 0.2),
    }.items():
        names = ("x_min", "x_max", "y_min", "y_max")
        BoxFactory(
            image=task.image, object_class=classes[label], **dict(zip(names, edges, strict=True))
        )
    ResponseFactory.create_batch(2, task=task)
    return release_campaign(campaign=task.campaign, name="pets", seed=1, at=NOON)


def written(capsys, *arguments):
    call_command("export_constraints", "pets", *map(str, arguments))
    return json.loads(capsys.readouterr().out)


def detections(tmp_path, *rows):
    path = tmp_path / "detections.csv"
    header = "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax\n"
    path.write_text(header + "".join(f"{row}\n" for row in rows))
    return path


def test_a_releases_own_boxes_give_constraints_with_their_words(released, capsys):
    (image,) = written(capsys)["images"]

    assert [one["class"] for one in image["constraints"]] == ["/m/dog", "/m/bus"]
    assert image["constraints"][0]["words"] == ["dog", "dogs"]
    assert image["open_images_id"] == released.images.get().record["open_images_id"]


def test_boxes_come_from_the_release_and_not_from_the_live_tables(released, capsys):
    before = written(capsys)
    released.images.get().task.image.boxes.all().delete()
    ObjectClass.objects.filter(label="/m/dog").update(name="Hound")

    assert written(capsys) == before


@pytest.mark.django_db
def test_an_image_with_several_regions_has_one_entry_with_its_own_id(capsys):
    selection = SelectionFactory(images=2)
    described = selection.images.get(selected__position=2)
    for name, edge in (("Dog", 0.5), ("Bus", 0.6)):
        BoxFactory(image=described, object_class=ClassFactory(name=name), x_min=0.1, x_max=edge)
    file = {"name": "parts", "kind": "region", "selection": selection.name, "references": 1}
    config = parse_config({**file, "budget": "9.00"})
    campaign = create_campaign(config=config, endpoint="local", at=NOON)
    for task in campaign.tasks.all():
        ResponseFactory(task=task)
    release_campaign(campaign=campaign, name="pets", seed=1, at=NOON)

    (image,) = written(capsys)["images"]

    assert (image["image_id"], image["open_images_id"]) == (2, described.key)
    assert [one["name"] for one in image["constraints"]] == ["Bus", "Dog"]


@pytest.mark.parametrize("label", ["coco:1", "own:1f2e"])
def test_classes_of_other_datasets_are_left_out_by_their_names(released, capsys, label):
    person = ObjectClass.objects.get(name="Person")
    ObjectClass.objects.filter(pk=person.pk).update(label=label, name="person")
    again = release_campaign(campaign=released.campaign, name="again", seed=1, at=NOON)

    call_command("export_constraints", again.name)

    content = json.loads(capsys.readouterr().out)
    [image] = content["images"]
    assert [one["class"] for one in image["constraints"]] == ["/m/dog", "/m/bus"]
    assert label in content["info"]["excluded_classes"]


def test_detections_rank_by_confidence(released, capsys, tmp_path):
    key = released.images.get().record["open_images_id"]
    path = detections(
        tmp_path,
        f"{key},,/m/bus,0.9,0,0.2,0,0.2",
        f"{key},,/m/dog,0.4,0,1,0,1",
        "else,,/m/dog,1,0,1,0,1",
    )

    call_command("export_constraints", "pets", detections=path, out=tmp_path / "new")

    (image,) = json.loads((tmp_path / "new" / "constraints.json").read_text())["images"]
    assert [one["class"] for one in image["constraints"]] == ["/m/bus", "/m/dog"]
    assert "1 image of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("KEY,,/m/unicorn,1,0,1,0,1", ":2: class '/m/unicorn' is not known"),
        ("KEY,,/m/dog,nan,0,1,0,1", "Confidence 'nan' is not between 0 and 1"),
        ("KEY,,/m/dog,1,0,640,0,1", "XMax '640' is not between 0 and 1"),
        ("KEY,,/m/dog,1,left,1,0,1", "XMin 'left' is not a number"),
        ("KEY,,/m/dog,1,0.5,0.4,0,1", "XMin is greater than XMax"),
        ("KEY,,/m/dog,1", "8 fields are expected"),
        (",,/m/dog,1,0,1,0,1", ":2: ImageID is empty"),
        ("nowhere,,/m/dog,1,0,1,0,1", "has no image of pets"),
        ("", "has no detections"),
    ],
)
def test_detections_of_another_form_are_an_error(released, tmp_path, row, reason):
    key = released.images.get().record["open_images_id"]
    path = detections(tmp_path, row.replace("KEY", key))

    with pytest.raises(CommandError, match=reason):
        call_command("export_constraints", "pets", detections=path, out=tmp_path / "new")

    assert not (tmp_path / "new").exists()


def test_a_circle_in_the_imported_classes_is_one_line(released):
    dog, animal = (ObjectClass.objects.get(label=f"/m/{name}") for name in ("dog", "animal"))
    ClassRelation.objects.create(parent=dog, child=animal, kind="SUBCATEGORY")

    with pytest.raises(CommandError, match="The class hierarchy has a circle"):
        call_command("export_constraints", "pets")
