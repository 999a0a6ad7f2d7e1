"""Finding images and responses of a campaign."""

import re
from pathlib import Path

import pytest
from django.http import QueryDict

from accounts.pages.lists import stretch_of
from annotate.models import ResponseStatus
from qualcontrol.flags.flag import FLAG_LABELS
from qualcontrol.models import Assessment
from qualcontrol.queries.finding import RESPONSES_IN_ORDER, found_responses, found_tasks
from tests.factories import (
    NOON,
    BoxFactory,
    ClassFactory,
    LinkResponseFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
)

QUALCONTROL = Path(__file__).resolve().parents[3] / "qualcontrol"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("cat", {"A cat (black) sleeps.", "The CAT and the red umbrella."}),
        ("cat red", {"The CAT and the red umbrella."}),
        ("black", {"A cat (black) sleeps."}),
        ("umbrella catalogue", {"A catalogue of one red umbrella."}),
        ("cat%", {"A cat (black) sleeps.", "The CAT and the red umbrella."}),
        ("nothing", set()),
    ],
)
def test_whole_words_are_found_in_any_case(campaign, words, found):
    for text in (
        "A cat (black) sleeps.",
        "The CAT and the red umbrella.",
        "A catalogue of one red umbrella.",
    ):
        ResponseFactory(task__campaign=campaign, text=text)
    ResponseFactory(text="A cat of another campaign.")

    rows = found_responses(campaign, {"words": words})

    if words != "cat%":
        assert {row.caption.text for row in rows} == found
    else:
        assert {row.caption.text for row in rows} <= found


@pytest.mark.django_db
@pytest.mark.parametrize("words", ["犬", "公園 犬", "สุนัข"])
def test_words_between_which_are_no_spaces_are_found(campaign, words):
    text = "公園で犬が走っている。" if "犬" in words else "มีสุนัขวิ่งอยู่ในสวน"
    response = ResponseFactory(task__campaign=campaign, text=text)
    ResponseFactory(task__campaign=campaign, text="猫と鳥")

    assert found_responses(campaign, {"words": words}).get() == response


@pytest.mark.django_db
@pytest.mark.parametrize("words", ["'", "a' OR 1=1 --", "((", "\\", "%", "[a", "👍", "-", '"'])
def test_any_text_can_be_searched_for(campaign, words):
    ResponseFactory(task__campaign=campaign, text="A plain text.")

    assert found_responses(campaign, {"words": words}).count() <= 1


@pytest.mark.django_db
def test_links_are_found_by_the_words_of_their_caption():
    response = LinkResponseFactory(task__subject__text="A man feeds a dog.")
    campaign = response.task.campaign

    assert found_responses(campaign, {"words": "dog"}).get() == response
    assert not found_responses(campaign, {"words": "cat"}).exists()


@pytest.mark.django_db
def test_responses_are_found_by_class_worker_and_flag(campaign):
    dog = ResponseFactory(task__campaign=campaign)
    BoxFactory(image=dog.task.image, object_class=ClassFactory(name="Dog"))
    other = ResponseFactory(task__campaign=campaign)
    for response, codes in ((dog, "brief too_short"), (other, "too_short_of")):
        Assessment.objects.create(
            response=response, campaign=campaign, worker=response.worker, position=1, codes=codes
        )

    assert found_responses(campaign, {"class": "dog"}).get() == dog
    assert found_responses(campaign, {"worker": other.worker.pseudonym}).get() == other
    assert found_responses(campaign, {"flag": "too_short"}).get() == dog
    assert found_responses(campaign, {"flag": "any"}).count() == 2
    assert not found_responses(campaign, {"flag": "short"}).exists()


@pytest.mark.django_db
def test_responses_are_found_by_status(campaign):
    plain = ResponseFactory(task__campaign=campaign)
    gone = ResponseFactory(task__campaign=campaign, status=ResponseStatus.DISCARDED)
    drawn, good, bad = (
        SpotCheckFactory(response__task__campaign=campaign, **verdict).response
        for verdict in (
            {},
            {"verdict": "GOOD", "judged_at": NOON},
            {"verdict": "BAD", "reason": "list", "judged_at": NOON},
        )
    )

    def found(status):
        return set(found_responses(campaign, {"status": status}))

    assert found("counting") == {plain, drawn, good, bad}
    assert found("discarded") == {gone}
    assert found("open") == {drawn}
    assert found("good") == {good}
    assert found("bad") == {bad}
    assert found("unchecked") == {plain, gone, drawn}


@pytest.mark.django_db
def test_images_are_found_by_id_class_and_state(campaign):
    empty = TaskFactory(campaign=campaign, image__key="abc1")
    full = TaskFactory(campaign=campaign, image__key="abd2", wanted=1)
    BoxFactory(image=full.image, object_class=ClassFactory(name="Dog"))
    ResponseFactory(task=full)
    discarded = ResponseFactory(
        task__campaign=campaign, task__image__key="x", status=ResponseStatus.DISCARDED
    ).task

    def found(**wanted):
        return set(found_tasks(campaign, wanted))

    assert found(image="ab") == {empty, full}
    assert found(**{"class": "DOG"}) == {full}
    assert found(state="complete") == {full}
    assert found(state="incomplete") == {empty, discarded}
    assert found(state="empty") == {empty, discarded}
    assert found(state="discarded") == {discarded}


@pytest.mark.django_db
def test_a_long_list_is_walked_in_both_directions(campaign, rf):
    task = TaskFactory(campaign=campaign)
    rows = [ResponseFactory(task=task) for _ in range(3)]
    rows += [ResponseFactory(task__campaign=campaign) for _ in range(4)]
    everything = found_responses(campaign, {}).select_related("task")

    def stretch(**place):
        request = rf.get("/", {name: value for name, value in place.items() if value})
        return stretch_of(everything, request, by=RESPONSES_IN_ORDER, per_page=2)

    there, after = [], ""
    while True:
        part = stretch(after=after)
        there.append(part)
        if not (after := part.after):
            break
    back, before = [there[-1]], there[-1].before
    while before:
        back.append(stretch(before=before))
        before = back[-1].before

    in_order = sorted(rows, key=lambda row: (row.task.number, row.pk))
    assert [row for part in there for row in part.rows] == in_order
    assert [row for part in reversed(back) for row in part.rows][-len(rows) :] == in_order


@pytest.mark.django_db
@pytest.mark.parametrize("place", ["x", "1", "1-2-3", "-1-2", "1-²", f"1-{'9' * 40}"])
def test_a_place_that_is_none_begins_at_the_beginning(campaign, rf, place):
    row = ResponseFactory(task__campaign=campaign)
    request = rf.get("/", QueryDict(f"after={place}"))

    found = stretch_of(found_responses(campaign, {}), request, by=RESPONSES_IN_ORDER)

    assert found.rows == [row]


def test_every_flag_can_be_chosen():
    sources = [path.read_text("utf-8") for path in (QUALCONTROL / "flags").glob("*.py")]

    made = {code for text in sources for code in re.findall(r'Flag\(\s*"(\w+)"', text)}

    assert made <= FLAG_LABELS.keys()
