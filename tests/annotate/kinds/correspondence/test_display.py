"""A worker's links as a reviewer sees them."""

import pytest
from bs4 import BeautifulSoup

from annotate.kinds import KINDS
from annotate.models import Box
from annotate.templatetags.campaigns import show_answer
from tests.factories import LinkResponseFactory, LinkTaskFactory

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def shown(words, boxes=("Car", "Dog", "Man")):
    """The answer to `A man feeds a dog in front of a red car.`; `words` has boxes by their numbers,
    which follow the classes' names."""
    task = LinkTaskFactory(boxes=list(boxes))
    keys = Box.objects.filter(image=task.image).order_by("object_class__name", "x_min")
    keys = dict(enumerate(keys.values_list("pk", flat=True), start=1))
    answer = {
        word: said if isinstance(said, str) else sorted(keys[number] for number in said)
        for word, said in words.items()
    }
    response = LinkResponseFactory(task=task, words=answer)
    return BeautifulSoup(show_answer(KINDS["correspondence"], response), "html.parser")


def test_linked_words_stand_in_brackets_with_their_boxes_numbers():
    page = shown({"1": [3], "4": [2, 1]})

    assert (
        " ".join(page.p.get_text().split()) == "A [man]3 feeds a [dog]1, 2 in front of a red car."
    )


def test_words_without_a_box_say_what_they_are():
    page = shown({"6": "not-visual"})

    assert "front (not visible) of" in " ".join(page.p.get_text().split())


def test_neighbouring_words_of_one_name_stand_in_one_bracket():
    page = shown({"9": [1], "10": [1]})

    assert "[red car]1." in " ".join(page.p.get_text().split())


def test_all_boxes_are_drawn_and_those_that_words_refer_to_have_their_numbers():
    page = shown({"1": [3], "4": [2]})

    assert len(page.select("path")) == 3
    assert [text.get_text() for text in page.select("text")] == ["2", "3"]
    assert [item.get_text() for item in page.select("li")] == ["Car", "Dog", "Man"]
    assert [item.get_text() for item in page.select("li.named")] == ["Dog", "Man"]


def test_a_boxs_number_stands_in_the_middle_of_its_upper_edge():
    page = shown({"1": [2]}, boxes=["Car", "Dog"])

    number = page.select_one("text")
    assert (number["x"], number["y"]) == ("15.00%", "20.00%")


def test_a_link_to_a_box_that_is_not_shown_is_left_out():
    response = LinkResponseFactory(words={"1": [0], "4": "scene"})

    page = show_answer(KINDS["correspondence"], response)

    assert "A man feeds a <mark>dog</mark>" in page


def test_a_box_of_several_things_is_marked_as_a_group():
    task = LinkTaskFactory(boxes=["Man"])
    Box.objects.update(is_group=True)
    response = LinkResponseFactory(task=task)

    page = show_answer(KINDS["correspondence"], response)

    assert "Man</span> (group)" in page
