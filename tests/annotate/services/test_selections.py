"""Selections in the database: classes that count, and what is stored."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.services.teams import first_team
from annotate.models import ClassRelation, Selection
from annotate.services import selections
from corpora.datasets.image_names import image_names, read_image_ids
from corpora.errors import DomainError
from tests.factories import (
    NOON,
    BoxFactory,
    ClassFactory,
    ImageFactory,
    SelectionFactory,
    TeamFactory,
)

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
    for number in (0, 0, 1, 2, 2, 3, 7):
        image_with(classes[:number])

    lines = run("--count=3", "--name=subset")

    assert [line.split() for line in lines[:7]] == [
        ["pool", "chosen"],
        ["0", "classes", "2", "0"],
        ["1", "class", "1", "0"],
        ["2", "classes", "2", "1"],
        ["3", "classes", "1", "1"],
        ["7", "classes", "1", "1"],
        ["images", "7", "3"],
    ]
    assert lines[7].startswith("entropy (nats)")
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


def test_a_name_that_is_not_a_slug_is_refused(classes):
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


@pytest.mark.django_db(transaction=True)
def test_others_write_while_images_are_chosen(classes):
    image_with(classes[:3])
    inside = []

    draw(1, progress=lambda _: inside.append(connection.in_atomic_block))

    assert inside
    assert not any(inside)


def test_a_name_that_was_taken_while_images_were_chosen_is_refused(classes):
    images = [image_with(classes[:3]), image_with(classes[:2])]

    def rival(_):
        if not Selection.objects.exists():
            SelectionFactory(name="subset", images=images[:1], count=1)

    with pytest.raises(DomainError, match="already exists with other images"):
        draw(2, progress=rival)


def test_the_same_selection_that_was_made_while_images_were_chosen_is_kept(classes):
    image_with(classes[:3])
    first = []

    def rival(_):
        if not first:
            first.append(None)
            first[0] = draw(1)

    assert draw(1, progress=rival) == first[0]
    assert Selection.objects.count() == 1


def test_a_name_of_another_procedure_is_taken(classes):
    image_with(classes[:3])
    draw(1, name="subset")

    with pytest.raises(DomainError, match="already exists"):
        selections.select_all(name="subset", split="validation", at=NOON)
    selections.select_all(name="every", split="validation", at=NOON)
    with pytest.raises(DomainError, match="another procedure"):
        selections.find_selection(name="every", split="validation", count=1, sample=10, seed=0)


NOCAPS_FORM = json.dumps([{"image": f"val/{key}.jpg", "img_id": 7} for key in ("b", "x", "a")])
COCO_FORM = json.dumps(
    {"images": [{"id": n, "open_images_id": key} for n, key in enumerate(("b", "x", "a"))]}
)


@pytest.mark.parametrize(
    "listed", ["b\nx\n\n a \nb\n", "val/b.jpg\nval/x.jpg\nval/a.jpg\n", NOCAPS_FORM, COCO_FORM]
)
def test_a_published_list_of_ids_is_selected_in_its_order(tmp_path, capsys, listed):
    for key in "abc":
        ImageFactory(key=key)
    ImageFactory(key="x", split="test")
    path = tmp_path / "list"
    path.write_text(listed)
    options = ("--split=validation", f"--ids={path}", "--name=published")

    call_command("select_images", *options)
    call_command("select_images", *options)

    made = Selection.objects.get()
    assert list(made.images.order_by("selected").values_list("key", flat=True)) == ["b", "a"]
    assert made.procedure == "listed"
    out, problems = capsys.readouterr()
    assert out == "published: 2 images selected.\n" * 2
    name = "val/x.jpg" if "val/" in listed else "x"
    assert problems == f"1 id is not in the split 'validation': '{name}'.\n" * 2


def test_images_in_coco_form_are_listed_by_id_and_by_the_names_of_their_files():
    for number, name in ((1, "000000.jpg"), (2, "000001.jpg"), (3, "zebra.jpg")):
        ImageFactory(source="COCO", key=str(number), split="frames", file_name=name)

    made, unknown = selections.select_listed(
        name="some", split="frames", ids=["000001.jpg", "zebra.jpg", "1", "4"], at=NOON
    )

    keys = made.images.order_by("selected").values_list("key", flat=True)
    assert (list(keys), unknown) == (["2", "3", "1"], ["4"])


def test_own_files_are_listed_by_their_names(tmp_path):
    team = first_team(at=NOON)
    for number, name in enumerate(("trip/a.jpg", "trip/b.jpg", "home/b.jpg")):
        ImageFactory(
            source="OWN", key=f"k{number}", split="own", file_name=name, sha256=name, team=team
        )

    made, unknown = selections.select_listed(
        name="own", split="own", ids=["home/b.jpg", "a", "b.jpg", "trip/c.jpg"], at=NOON
    )

    found = list(made.images.order_by("selected").values_list("file_name", flat=True))
    assert found == ["home/b.jpg", "trip/a.jpg"]
    assert unknown == ["b.jpg", "trip/c.jpg"]


def test_many_ids_that_are_not_in_the_split_are_counted_and_the_first_named():
    assert selections.unknown_ids([str(n) for n in range(1_000)], "val") == (
        "1,000 ids are not in the split 'val': '0', '1', '2', '3', '4' and 995 more."
    )


@pytest.mark.parametrize(
    ("listed", "reason"),
    [
        ("", "The list names no image."),
        ("x\ny", "None of the 2 ids is in the split 'validation'"),
        ('{"images": 3}', "there is no list of images"),
        ('[{"name": "a"}]', r"images\[0\]: None is not the id of an image"),
        ("[1", "not valid JSON"),
    ],
)
def test_a_list_that_names_no_image_is_refused(tmp_path, listed, reason):
    ImageFactory(key="a")
    path = tmp_path / "list"
    path.write_text(listed)

    with pytest.raises(CommandError, match=reason):
        call_command("select_images", "--split=validation", f"--ids={path}", "--name=published")

    assert not Selection.objects.exists()


def test_a_list_names_no_image_of_another_team():
    ImageFactory(key="a", team=TeamFactory())

    with pytest.raises(DomainError, match="has no images"):
        selections.select_listed(name="own", split="validation", ids=["a"], at=NOON)


def test_the_ids_of_nocaps_are_read(shared_data):
    for part, number in (("val", 4_500), ("test", 10_600)):
        ids = read_image_ids(shared_data / "nocaps" / f"nocaps_{part}.json")

        assert len({image_names(one)[-1] for one in ids}) == number
        assert image_names(ids[0])[-1].isalnum()


def test_the_command_takes_one_way_of_choosing():
    with pytest.raises(CommandError, match="one of the arguments --count --all --ids is required"):
        call_command("select_images", "--split", "validation", "--name", "x")
