"""The pages of a campaign's images and answers, and the stories of answers."""

import csv
from datetime import timedelta
from io import StringIO

import pytest

from annotate.models import ResponseStatus
from hits.models import AssignmentStatus
from qualcontrol.review.judging import judge
from tests.factories import (
    NOON,
    AssignmentFactory,
    BoxFactory,
    CampaignFactory,
    LinkResponseFactory,
    ResponseFactory,
    TaskFactory,
    TaskPageFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def reader(client):
    client.force_login(UserFactory())


def text_of(answer):
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_images_are_listed_with_their_counts(client, campaign):
    full = ResponseFactory(task__campaign=campaign, task__number=7, task__wanted=2).task
    TaskFactory(image__key="elsewhere")

    page = text_of(client.get("/campaigns/pilot/images/"))

    assert "/campaigns/pilot/images/7/" in page
    assert "1 of 2" in page
    assert full.image.key in page
    assert "elsewhere" not in page


def test_own_images_are_listed_by_their_file_names(client, campaign):
    TaskFactory(campaign=campaign, image__source="OWN", image__file_name="cups/coffee_b.jpg")

    page = text_of(client.get("/campaigns/pilot/images/"))

    assert ">coffee_b.jpg</p>" in page


def test_captions_are_filtered_and_named(client, campaign):
    ResponseFactory(task__campaign=campaign, text="A red kite over the hill.")
    ResponseFactory(task__campaign=campaign, text="A <b>dog</b> in the snow.")

    page = text_of(client.get("/campaigns/pilot/responses/", {"words": "dog"}))
    nothing = text_of(client.get("/campaigns/pilot/responses/", {"words": "cat"}))
    wrong = text_of(client.get("/campaigns/pilot/responses/", {"status": "lost"}))

    assert "A &lt;b&gt;dog&lt;/b&gt; in the snow." in page
    assert "red kite" not in page
    assert "Nothing matches these filters." in nothing
    assert "Select a valid choice" in wrong
    assert "red kite" in wrong


@pytest.mark.parametrize("path", ["images/", "responses/"])
def test_lists_take_the_same_queries_whatever_they_show(
    client, campaign, path, django_assert_max_num_queries
):
    for _ in range(30):
        task = TaskFactory(campaign=campaign)
        for _ in range(2):
            ResponseFactory(task=task)

    with django_assert_max_num_queries(6):
        client.get(f"/campaigns/pilot/{path}")


def test_the_shown_captions_are_downloaded_without_formulas(client, campaign):
    shown = ResponseFactory(task__campaign=campaign, text="=1+1 dogs")
    ResponseFactory(task__campaign=campaign, text="A cat.")

    answer = client.get("/campaigns/pilot/responses/", {"words": "dogs", "format": "csv"})

    text = b"".join(answer.streaming_content).decode()
    [row] = csv.DictReader(StringIO(text))
    assert (row["answer"], row["worker"]) == ("'=1+1 dogs", shown.worker.pseudonym)
    assert "attachment" in answer["Content-Disposition"]


def test_an_image_shows_its_boxes_and_answers(client, campaign, django_assert_max_num_queries):
    task = TaskFactory(campaign=campaign, number=3)
    TaskFactory(campaign=campaign, number=9)
    box = BoxFactory(image=task.image)
    for number in range(11):
        response = ResponseFactory(task=task, text=f"Caption {number}.")
        judge(response=response, verdict="GOOD", reason="", reviewer=None, at=NOON)

    with django_assert_max_num_queries(14):
        page = text_of(client.get("/campaigns/pilot/images/3/"))

    assert box.object_class.name in page
    assert "Caption 10." in page
    assert "/campaigns/pilot/images/9/" in page
    assert client.get("/campaigns/pilot/images/4/").status_code == 404


def test_the_keywords_of_an_image_are_those_of_its_task(client, campaign):
    task = TaskFactory(campaign=campaign, number=3, payload={"keywords": ["Hund"]})
    BoxFactory(image=task.image, object_class__name="Dog")

    page = text_of(client.get("/campaigns/pilot/images/3/"))

    assert ">Hund</span></dd>" in page


def test_the_story_of_an_answer_is_told_in_order(client, campaign):
    reviewer = UserFactory(username="ada")
    assignment = AssignmentFactory(
        hit__campaign=campaign,
        hit__hit_type__campaign=campaign,
        accepted_at=NOON - timedelta(minutes=3),
        status=AssignmentStatus.APPROVED,
        decided_at=NOON + timedelta(hours=1),
    )
    TaskPageFactory(
        hit=assignment.hit,
        assignment_id=assignment.assignment_id,
        marketplace_id=assignment.account.marketplace_id,
        opened_at=NOON - timedelta(minutes=2),
        answered_at=NOON - timedelta(minutes=1),
    )
    first = ResponseFactory(
        task__campaign=campaign,
        task__number=1,
        worker=assignment.account.worker,
        assignment=assignment,
    )
    judge(
        response=first,
        verdict="BAD",
        reason="a list",
        reviewer=reviewer,
        at=NOON + timedelta(minutes=1),
    )
    second = ResponseFactory(task=first.task, submitted_at=NOON + timedelta(minutes=5))

    answers = client.get("/campaigns/pilot/images/1/").context["answers"]

    stories = {response: [(e.what, e.who, e.why) for e in story] for response, story in answers}
    assert stories[first] == [
        ("HIT accepted", "", ""),
        ("task claimed by the worker's page", "", ""),
        ("answer stored", "", ""),
        ("submitted to the marketplace", "", ""),
        ("judged bad", "ada", "a list"),
        ("discarded", "ada", "a list"),
        ("replaced by another response", "", ""),
        ("assignment approved and paid", "", ""),
    ]
    assert stories[second] == [("imported from a file", "", "")]
    replacements = [e.replacement for e in dict(answers)[first] if e.replacement]
    assert replacements == [second]


def test_a_page_that_claims_to_be_another_workers_is_no_part_of_the_story(client, campaign):
    assignment = AssignmentFactory(hit__campaign=campaign, hit__hit_type__campaign=campaign)
    TaskPageFactory(
        hit=assignment.hit, assignment_id=assignment.assignment_id, marketplace_id="AFORGED"
    )
    ResponseFactory(
        task__campaign=campaign,
        task__number=1,
        worker=assignment.account.worker,
        assignment=assignment,
    )

    [(_, story)] = client.get("/campaigns/pilot/images/1/").context["answers"]

    assert [event.what for event in story] == ["submitted to the marketplace"]


def test_a_verdict_that_waits_for_a_second_one_is_no_part_of_the_story(client):
    campaign = CampaignFactory(slug="two", config={"review": {"reviewers": 2}})
    response = ResponseFactory(task__campaign=campaign, task__number=1)
    judge(response=response, verdict="BAD", reason="secret", reviewer=UserFactory(), at=NOON)

    assert "secret" not in text_of(client.get("/campaigns/two/images/1/"))
    assert "secret" not in text_of(client.get("/campaigns/two/responses/"))


def test_discarded_answers_are_shown_as_such(client, campaign):
    ResponseFactory(
        task__campaign=campaign, task__number=1, status=ResponseStatus.DISCARDED, text="Gone."
    )

    page = text_of(client.get("/campaigns/pilot/responses/", {"status": "discarded"}))

    assert "Gone." in page
    assert "Discarded" in page


def test_links_have_these_pages_too(client):
    response = LinkResponseFactory(task__boxes=["Dog"])
    slug = response.task.campaign.slug

    for path in ("images/", f"images/{response.task.number}/", "responses/"):
        text_of(client.get(f"/campaigns/{slug}/{path}"))
