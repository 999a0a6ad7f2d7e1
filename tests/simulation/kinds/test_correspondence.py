"""Links by simulated workers, their review, and the demo's checks of links."""

import random
from collections.abc import Collection, Mapping

import pytest
from bs4 import BeautifulSoup
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from annotate.kinds import KINDS
from annotate.kinds.correspondence.answers import parse
from annotate.models import Correspondence
from corpora.language.tokens import tokens
from simulation.checks import released_links, true_links
from simulation.kinds import judge_of
from simulation.kinds.correspondence import NOTHING, Linker, true_meanings
from simulation.scenes.dataset import HIDDEN, LABELS
from simulation.workers.browser import Item, SiteError, read_form
from simulation.workers.writers import Honest, Limits, Sight, mentions, references
from tests.factories import LinkTaskFactory, ResponseFactory

pytestmark = pytest.mark.one_database

SHOWN = sorted(set(LABELS) - HIDDEN)
CAPTION = "In a bright picture, a palm tree is near two dogs and a picture frame."
BOXES = {"box:1": "Dog", "box:2": "Dog", "box:3": "Palm tree", "box:4": "Picture frame"}
MEANINGS = {
    3: {"scene"},
    5: {"box:3"},
    6: {"box:3"},
    10: {"box:1", "box:2"},
    13: {"box:4"},
    14: {"box:4"},
}
things = st.dictionaries(st.sampled_from(SHOWN), st.integers(1, 8), min_size=1, max_size=9)


def shown(
    caption: str = CAPTION,
    boxes: Mapping[str, str] = BOXES,
    required: frozenset[int] = frozenset(),
) -> Item:
    """A caption and its fields on a page."""
    numbers = range(len(tokens(caption)))
    words = "".join(f"<i data-word data-select=w{number}></i>" for number in numbers)
    selects = "".join(
        f"<select id=w{number} name=word-{number}-1{' required' * (number in required)}></select>"
        for number in numbers
    )
    labels = "".join(f"<i data-box='{box}' data-label='{name}'></i>" for box, name in boxes.items())
    html = f"<p data-sentence>{caption}{words}</p>{selects}<p data-boxes>{labels}</p>"
    return Item(BeautifulSoup(html, "lxml"), "dogs.jpg")


def answered(
    errors: float, item: Item, seed: int = 1, known: Collection[str] = SHOWN
) -> dict[int, set[str]]:
    fields = Linker(frozenset(known), errors).fill(item, random.Random(seed))
    return {int(name.split("-")[1]): set(value.split()) for name, value in fields.items()}


def test_words_refer_to_all_boxes_of_the_class_they_name_and_to_the_scene():
    meanings = true_meanings(CAPTION, BOXES, SHOWN)

    assert {number: meaning for number, meaning in meanings.items() if meaning != NOTHING} == (
        MEANINGS
    )
    assert len(meanings) == len(tokens(CAPTION))


def test_a_palm_tree_is_in_no_box_of_a_tree():
    meanings = true_meanings("A palm tree by the sea.", {"box:1": "Tree"}, {"Palm tree"})

    assert set(meanings.values()) == {NOTHING}


@given(things, st.integers(0, 10**6))
def test_each_thing_that_an_honest_caption_names_has_its_words(seen, seed):
    text = Honest().write(Sight(seen), Limits(8, 60), random.Random(seed), refused=True)

    named = references(text, set(SHOWN))

    assert set(named.values()) == mentions(text, set(SHOWN)) <= set(seen)


def test_a_worker_without_errors_links_what_is_true_and_leaves_the_rest_open():
    assert answered(0, shown()) == MEANINGS


def test_a_worker_answers_what_the_page_requires():
    assert answered(0, shown(required=frozenset({1, 2})))[2] == {"not-visual"}


def test_a_mistake_is_another_box_or_kind():
    wrong = answered(1, shown())

    meanings = true_meanings(CAPTION, BOXES, SHOWN)
    assert len(wrong) > len(MEANINGS)
    assert not [number for number, said in wrong.items() if said & meanings[number]]


def test_one_word_in_five_goes_wrong():
    right = [answered(0.2, shown(), seed).get(10) == MEANINGS[10] for seed in range(400)]

    assert 0.75 < sum(right) / len(right) < 0.85


@pytest.mark.django_db
def test_the_page_of_a_correspondence_is_read_from_its_html():
    task = LinkTaskFactory(boxes=["Man", "Dog", "Car"])
    kind, config = KINDS["correspondence"], task.campaign.config
    item = {**kind.context(task, config, {}), "number": 1, "problems": []}
    html = render_to_string(kind.templates.task, {"item": item, "total": 1})

    form = read_form(BeautifulSoup(f'<form action="/t">{html}</form>', "lxml").form)

    (found,) = form.items
    names = {f"box:{box.pk}": box.object_class.name for box in task.image.boxes.all()}
    truth = true_meanings(task.subject.text, names, ())
    said = answered(0, found, known=())
    assert said == {n: truth[n] for n in truth if n in {1, 4, 10} or truth[n] != NOTHING}
    assert said.keys() >= {1, 4, 10}
    fields = Linker(frozenset(), 0).fill(found, random.Random(1))
    assert {name.split("-")[2] for name in fields} == {str(task.number)}


def test_a_page_without_a_task_is_said_so():
    form = BeautifulSoup('<form action="/t"><input name="token" value="x"></form>', "lxml").form

    with pytest.raises(SiteError, match="no field"):
        read_form(form)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("errors", "fault"), [(0.0, ""), (0.2, ""), (1.0, "most words refer to something else")]
)
def test_a_reviewer_finds_fault_where_most_words_are_wrong(errors, fault):
    task = LinkTaskFactory(boxes=["Man", "Dog", "Car"])
    response = ResponseFactory(task=task)
    boxes = task.image.boxes.values_list("object_class__name", "pk")
    names = {f"box:{pk}": name for name, pk in boxes}
    fields = Linker(frozenset(), errors).fill(shown(task.subject.text, names), random.Random(3))
    Correspondence.objects.filter(response=response).delete()
    Correspondence.objects.create(
        response=response,
        words={name.split("-")[1]: parse(value) for name, value in fields.items()},
    )

    response.refresh_from_db()

    assert judge_of(task.campaign)(response) == fault


def test_a_link_is_true_if_it_is_to_the_box_that_was_drawn():
    drawn = [
        ("a1", "Dog", ("0.100000", "0.200000", "0.500000", "0.600000")),
        ("a1", "Ball", ("0.700000", "0.200000", "0.900000", "0.600000")),
    ]
    boxes = {
        "a1-1": {"image_id": "a1", "label": "Ball", "fractions": [0.7, 0.2, 0.9, 0.6]},
        "a1-2": {"image_id": "a1", "label": "Dog", "fractions": [0.1, 0.2, 0.5, 0.6]},
    }
    row = {
        "id": 7,
        "caption": "A dog with a ball.",
        "links": {"1": [{"box": "a1-2"}], "4": [{"box": "a1-2"}]},
    }

    true, released = set(true_links(row, drawn)), set(released_links(row, boxes))

    assert {link[:2] for link in true} == {(7, 1), (7, 4)}
    assert released & true == {(7, 1, drawn[0])}
    assert released - true == {(7, 4, drawn[0])}
