"""Keywords: an image's classes without parts, once each, in alphabetical order."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from annotate.models import ClassRelation, ObjectClass
from annotate.queries.keywords import hidden_classes, keywords_of
from annotate.queries.keywords import keywords as keywords_of_image
from annotate.services import imports
from corpora.selection import priming as rules
from corpora.selection.priming import Edge, parts
from tests.factories import BoxFactory, ClassFactory, ImageFactory

THE_21_PARTS = [
    "Auto part",
    "Bicycle wheel",
    "Door handle",
    "Human arm",
    "Human beard",
    "Human body",
    "Human ear",
    "Human eye",
    "Human face",
    "Human foot",
    "Human hair",
    "Human hand",
    "Human head",
    "Human leg",
    "Human mouth",
    "Human nose",
    "Seat belt",
    "Skull",
    "Tire",
    "Vehicle registration plate",
    "Wheel",
]

edges = st.lists(
    st.builds(
        Edge,
        parent=st.integers(0, 9),
        child=st.integers(0, 9),
        kind=st.sampled_from(["PART", "SUBCATEGORY"]),
        parent_label=st.sampled_from(["/m/0cgh4", "/m/0k4j"]),
    )
)


@given(st.lists(st.text(max_size=5)))
def test_keywords_are_the_names_once_each(names):
    keywords = rules.keywords(names)

    assert len(keywords) == len(set(keywords))
    assert set(keywords) == set(names)


@given(st.lists(st.text(max_size=5)), st.randoms(use_true_random=False))
def test_the_order_of_keywords_says_nothing_of_the_order_of_boxes(names, shuffler):
    shuffled = [*names, *names]
    shuffler.shuffle(shuffled)

    assert rules.keywords(shuffled) == rules.keywords(names)


def test_keywords_are_in_the_order_of_the_alphabet_whatever_their_case():
    assert rules.keywords(["dog", "Cat", "apple", "Dog"]) == ["apple", "Cat", "Dog", "dog"]


@given(edges)
def test_whatever_stands_under_a_part_is_hidden_also_in_a_circle(graph):
    hidden = parts(graph)

    assert all(edge.child in hidden for edge in graph if edge.parent in hidden)


@given(edges)
def test_only_a_part_or_what_stands_under_one_is_hidden(graph):
    hidden = parts(graph)

    for node in hidden:
        assert any(
            edge.child == node
            and (edge.parent in hidden or (edge.kind == "PART" and edge.parent_label == "/m/0k4j"))
            for edge in graph
        )


@given(edges, edges)
def test_more_relations_never_show_what_was_hidden(graph, more):
    assert parts(graph) <= parts([*graph, *more])


@pytest.fixture
def official_classes(db, shared_data):
    folder = shared_data / "open_images"
    imports.import_classes(path=folder / "class-descriptions-boxable.csv")
    imports.import_hierarchy(path=folder / "bbox_labels_600_hierarchy.json")


def run(*arguments):
    out = io.StringIO()
    call_command("keywords", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_the_official_hierarchy_hides_exactly_the_21_parts(official_classes):
    assert [one.name for one in hidden_classes()] == THE_21_PARTS
    assert run("--hidden") == THE_21_PARTS


def test_parts_of_buildings_in_the_hierarchy_are_shown(official_classes):
    image = ImageFactory()
    for name in ("Television", "Guitar", "Human face", "Tire", "Person", "Building"):
        BoxFactory(image=image, object_class=ObjectClass.objects.get(name=name))

    assert keywords_of_image(image) == ["Building", "Guitar", "Person", "Television"]


@pytest.mark.django_db
def test_boxes_that_nobody_confirmed_give_no_keyword():
    box = BoxFactory(confidence=0)

    assert keywords_of_image(box.image) == []


@pytest.mark.django_db
def test_an_image_without_boxes_has_no_keywords():
    assert keywords_of_image(ImageFactory()) == []


@pytest.mark.django_db
def test_keywords_of_many_images_take_as_many_queries_as_of_one(django_assert_num_queries):
    boxes = BoxFactory.create_batch(30)
    BoxFactory(image=boxes[0].image, object_class=boxes[0].object_class, x_min=0.3)

    with django_assert_num_queries(2):
        keywords = keywords_of([box.image for box in boxes])

    assert keywords == {box.image_id: [box.object_class.name] for box in boxes}


@pytest.mark.django_db
def test_the_command_prints_a_line_an_image():
    dog, cat = ClassFactory(name="Dog"), ClassFactory(name="Cat")
    first, second = ImageFactory(key="b", split="test"), ImageFactory(key="a", split="test")
    BoxFactory(image=first, object_class=dog)
    BoxFactory(image=first, object_class=cat)
    ImageFactory(split="other")

    assert run("--split", "test") == ["a\t", "b\tCat, Dog"]
    assert run("--image", "b") == ["b\tCat, Dog"]
    assert second.key == "a"


@pytest.mark.django_db
def test_the_command_has_the_same_order_in_every_database():
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute('ALTER TABLE annotate_image ALTER key TYPE varchar COLLATE "en-x-icu"')
    for key in ("a", "B", "é", "Z", "b", "_"):
        ImageFactory(key=key, split="test")

    lines = run("--split", "test")

    assert [line.strip() for line in lines] == ["B", "Z", "_", "a", "b", "é"]


@pytest.mark.django_db
@pytest.mark.parametrize("option", ["--split", "--image"])
def test_the_command_says_when_there_is_no_such_image(option):
    with pytest.raises(CommandError, match="No such image"):
        run(option, "nothing")


@pytest.mark.django_db
def test_hidden_classes_are_only_those_of_the_relations_there_are():
    relation = ClassRelation.objects.create(
        parent=ClassFactory(), child=ClassFactory(name="Spoke"), kind="PART"
    )

    assert hidden_classes() == [relation.child]


SHARES = st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 0.29, 0.9, 1.0]) | st.floats(0, 1)


def primed_among(share, seed, number, primed, unprimed, wanted):
    """The number of primed responses once the image has all that it wants."""
    while primed + unprimed < wanted:
        counts = {"primed": primed, "unprimed": unprimed}
        is_primed = rules.primes_next(share=share, seed=seed, number=number, **counts)
        primed, unprimed = primed + is_primed, unprimed + (not is_primed)
    return primed


@given(SHARES, st.integers(-(2**63), 2**63 - 1), st.integers(0, 20_000), st.integers(0, 60))
def test_of_any_number_of_responses_the_share_is_primed_within_one(share, seed, number, responses):
    assert abs(primed_among(share, seed, number, 0, 0, responses) - share * responses) < 1 + 1e-9


@given(SHARES, st.integers(0, 99), st.integers(0, 99), st.integers(1, 40), st.data())
def test_the_share_is_right_again_after_any_responses_were_replaced(
    share, seed, number, wanted, data
):
    primed = primed_among(share, seed, number, 0, 0, wanted)
    left = data.draw(st.integers(0, primed)), data.draw(st.integers(0, wanted - primed))

    assert primed_among(share, seed, number, *left, wanted) == primed


def test_of_many_images_the_share_begins_primed():
    starts = [
        rules.primes_next(share=0.3, seed=7, number=number, primed=0, unprimed=0)
        for number in range(2_000)
    ]

    assert 500 < sum(starts) < 700
