"""Selections in the database: classes that count, and what is stored."""

import io

import pytest
from django.core.management import CommandError, call_command

from annotate.errors import DomainError
from annotate.models import ClassRelation, Selection
from annotate.services import selections
from tests.factories import NOON, BoxFactory, ClassFactory, ImageFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def classes():
    """Eight classes, and a wheel that is a part of the first one."""
    found = ClassFactory.create_batch(8)
    ClassRelation.objects.create(parent=found[0], child=found[1], kind="SUBCATEGORY")
    ClassRelation.objects.create(parent=found[0], child=ClassFactory(name="Wheel"), kind="PART")
    return found


def image_with(classes, **fields):
    image = ImageFactory(**fields)
    for object_class in classes:
        BoxFactory(image=image, object_class=object_class)
    return image


def draw(count, **fields):
    values = {"name": "subset", "split": "validation", "at": NOON, **fields}
    return selections.draw_selection(count=count, **values).selection


def test_a_selection_keeps_its_numbers_and_its_order(classes):
    images = {image_with(classes[:number]).pk for number in (2, 3, 7)}

    selection = draw(3, sample=4, seed=9)

    assert (selection.sample, selection.seed, selection.created_at) == (4, 9, NOON)
    assert selection.ignored_classes == [
        "Auto part",
        "Home appliance",
        "Sports equipment",
        "Wheel",
    ]
    assert set(selection.selected.values_list("image_id", flat=True)) == images
    assert list(selection.selected.values_list("position", flat=True)) == [1, 2, 3]


@pytest.mark.parametrize("rotation", [None, 90, 180, 270])
def test_images_that_are_not_known_to_stand_upright_are_left_out(classes, rotation):
    upright = image_with(classes[:2])
    image_with(classes[:2], rotation=rotation)

    selection = draw(1)

    assert selection.images.get() == upright
    with pytest.raises(DomainError, match="split .validation. has only 1"):
        draw(2, name="other")


@pytest.mark.parametrize("ignored", ["Wheel", "Sports equipment", "Home appliance", "Auto part"])
def test_parts_and_broad_classes_do_not_count(classes, ignored):
    not_counted = ClassFactory._meta.model.objects.filter(name=ignored).first()
    image_with([classes[0], not_counted or ClassFactory(name=ignored)])

    with pytest.raises(DomainError, match="has only 0 that are upright"):
        draw(1)


def test_boxes_that_nobody_confirmed_do_not_count(classes):
    image = image_with(classes[:1])
    BoxFactory(image=image, object_class=classes[1], confidence=0)

    with pytest.raises(DomainError, match="has only 0 that are upright"):
        draw(1)


def test_a_class_can_be_ignored_on_request_if_it_exists(classes):
    image_with(classes[:2])

    with pytest.raises(DomainError, match="has only 0 that are upright"):
        draw(1, ignore=[classes[0].name])
    with pytest.raises(DomainError, match="Unknown class: Unicorn"):
        draw(1, ignore=["Unicorn"])


def test_instances_are_counted_and_a_group_is_one(classes):
    image = image_with(classes[:2])
    BoxFactory(image=image, object_class=classes[0], x_min=0.2)
    BoxFactory(image=image, object_class=classes[1], x_min=0.2, is_group=True)
    BoxFactory(image=image, object_class=classes[1], x_min=0.3, is_group=True)

    _, candidates = selections.candidates_of(split="validation", ignored=[])

    assert candidates[0].instances == ((classes[0].pk, 2), (classes[1].pk, 3))


def test_without_the_hierarchy_no_selection_is_drawn():
    image_with(ClassFactory.create_batch(2))

    with pytest.raises(DomainError, match="import_openimages --hierarchy"):
        draw(1)


def test_coco_has_no_hierarchy_and_needs_none():
    image_with(ClassFactory.create_batch(2), source="COCO")

    assert draw(1).images.count() == 1


def test_an_unknown_split_is_named():
    with pytest.raises(DomainError, match="The split 'nowhere' has no images"):
        draw(1, split="nowhere")


def test_only_the_split_is_drawn_from(classes):
    image_with(classes[:3], split="test")
    image_with(classes[:1], split="validation")

    with pytest.raises(DomainError, match="split .validation. has only 0"):
        draw(1)


def run(*arguments):
    out = io.StringIO()
    call_command("select_images", "--split=validation", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_the_command_prints_the_pool_beside_the_choice(classes):
    for number in (1, 2, 2, 3, 7):
        image_with(classes[:number])

    lines = run("--count=3", "--name=subset")

    assert [line.split() for line in lines[:6]] == [
        ["pool", "chosen"],
        ["1", "class", "1", "0"],
        ["2", "classes", "2", "1"],
        ["3", "classes", "1", "1"],
        ["7", "classes", "1", "1"],
        ["images", "5", "3"],
    ]
    assert lines[6].startswith("entropy (nats)")
    assert lines[-1] == "subset: 3 images selected."


def test_the_command_says_when_rich_images_had_to_be_left_out(classes):
    for _ in range(3):
        image_with(classes)

    lines = run("--count=2", "--name=subset")

    assert "1 of them were left out at random" in lines[-2]


def test_the_same_command_again_changes_nothing_and_another_one_is_refused(classes):
    image_with(classes[:2])
    image_with(classes[:3])
    run("--count=1", "--name=subset", "--seed=1")
    before = list(Selection.objects.get().selected.values_list("image_id", "position"))

    again = run("--count=1", "--name=subset", "--seed=1")

    assert again == ["subset already exists with the same options."]
    assert list(Selection.objects.get().selected.values_list("image_id", "position")) == before
    with pytest.raises(CommandError, match="already exists with another seed; choose another name"):
        run("--count=1", "--name=subset", "--seed=2")


@pytest.mark.parametrize("arguments", [["--count=0"], ["--count=1", "--sample=0"]])
def test_impossible_numbers_are_refused(classes, arguments):
    image_with(classes[:2])

    with pytest.raises(CommandError, match="must be 1 or more"):
        run("--name=subset", *arguments)


def test_a_name_that_is_no_slug_is_refused(classes):
    image_with(classes[:2])

    with pytest.raises(CommandError, match="cannot be the name of a selection"):
        run("--name=my subset", "--count=1")


# Other procedures


def test_all_images_whatever_their_classes_and_rotation_can_be_selected():
    images = [ImageFactory(rotation=None), ImageFactory(rotation=90)]

    selection = selections.select_all(name="every", split="validation", at=NOON)

    assert (selection.procedure, selection.count) == ("all", 2)
    assert set(selection.images.all()) == set(images)


def test_selecting_all_twice_changes_nothing_until_there_are_more_images():
    ImageFactory()
    first = selections.select_all(name="every", split="validation", at=NOON)

    assert selections.select_all(name="every", split="validation", at=NOON) == first

    ImageFactory()
    with pytest.raises(DomainError, match="already exists with other images"):
        selections.select_all(name="every", split="validation", at=NOON)


def test_images_drawn_at_random_depend_on_the_seed_alone():
    ImageFactory.create_batch(30)

    def drawn(name, seed):
        found = selections.select_random(name=name, split="validation", count=5, seed=seed, at=NOON)
        return list(found.selected.values_list("image_id", flat=True))

    assert drawn("first", 1) == drawn("again", 1)
    assert drawn("other", 2) != drawn("first", 1)


@pytest.mark.parametrize("count", [0, 3])
def test_no_more_images_are_drawn_than_there_are(count):
    ImageFactory.create_batch(2)

    with pytest.raises(DomainError, match="Give a number from 1 to 2"):
        selections.select_random(name="some", split="validation", count=count, at=NOON)


def test_picked_images_keep_their_order():
    first, second, third = ImageFactory.create_batch(3)

    selection = selections.select_picked(name="picked", images=[third.pk, first.pk], at=NOON)

    assert list(selection.selected.values_list("image_id", flat=True)) == [third.pk, first.pk]


def test_picked_images_are_of_one_split():
    images = [ImageFactory(split="a").pk, ImageFactory(split="b").pk]

    with pytest.raises(DomainError, match=r"several splits \(a, b\)"):
        selections.select_picked(name="picked", images=images, at=NOON)


def test_a_name_of_another_procedure_is_taken(classes):
    image_with(classes[:3])
    draw(1, name="subset")

    with pytest.raises(DomainError, match="already exists"):
        selections.select_all(name="subset", split="validation", at=NOON)
    selections.select_all(name="every", split="validation", at=NOON)
    with pytest.raises(DomainError, match="another procedure"):
        selections.find_selection(name="every", split="validation", count=1, sample=10, seed=0)


def test_the_command_takes_a_count_or_all():
    with pytest.raises(CommandError, match="one of the arguments --count --all is required"):
        call_command("select_images", "--split", "validation", "--name", "x")
