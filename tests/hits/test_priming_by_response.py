"""Campaigns that show keywords for a share of each image's captions (`priming.by = "response"`)."""

import pytest

from annotate.models import Release, ReleasedCaption, Response
from annotate.services.campaigns import create_campaign
from annotate.services.responses import discard
from hits.models import Claim, TaskPage
from hits.services.hit_pages import close_pages
from qualcontrol.models import Assessment
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    ClassFactory,
    HitFactory,
    HitTypeFactory,
    SelectionFactory,
    config,
)
from tests.hits.opened_pages import form_fields, listed, open_page, send
from tests.submitted import take_submission

pytestmark = pytest.mark.django_db

BY_RESPONSE = {"share": 0.5, "by": "response"}


@pytest.fixture
def hit():
    """A HIT of a campaign of one image with a guitar and four captions, two of them primed."""
    selection = SelectionFactory(name="scenes", images=1)
    image = selection.selected.get().image
    BoxFactory(image=image, object_class=ClassFactory(name="Guitar"))
    file = config(references=4, baselines=0, priming=BY_RESPONSE, review={"share": 0, "first": 0})
    campaign = create_campaign(config=file, endpoint="local", at=NOON)
    type(campaign).objects.update(status="RUNNING")
    return HitFactory(hit_type=HitTypeFactory(campaign=campaign))


def shows(page):
    return "Guitar" in page.content.decode()


def opened(client, hit, number):
    return open_page(client, hit, f"A{number}", f"AW{number}")


def open_primed(client, hit, *, primed):
    """Open pages of different workers until one of them is primed, or not; return its number."""
    return next(number for number in range(1, 9) if shows(opened(client, hit, number)) == primed)


def report(hit, number, **fields):
    """Ingest the assignment of `opened` and return its response."""
    submitted = listed(f"A{number}", f"AW{number}", **fields)
    assignment, _ = take_submission(campaign=hit.campaign, hit=hit, listed=submitted, at=NOON)
    return assignment.submission.responses.get()


def written(client, hit, number):
    """The response of a worker who opens the page and writes a caption."""
    send(client, hit, opened(client, hit, number))
    return report(hit, number)


def test_half_of_the_pages_of_an_image_show_its_keywords(client, hit):
    pages = [shows(opened(client, hit, number)) for number in range(4)]

    assert sorted(pages) == [False, False, True, True]


def test_the_page_keeps_its_decision_when_it_is_opened_again(client, hit):
    first = [shows(opened(client, hit, number)) for number in range(4)]

    assert [shows(opened(client, hit, number)) for number in range(4)] == first


@pytest.mark.parametrize("primed", [True, False])
def test_the_page_keeps_its_decision_when_a_caption_has_to_be_corrected(client, hit, primed):
    page = opened(client, hit, open_primed(client, hit, primed=primed))

    refused = send(client, hit, page, text="Too short.")

    assert refused.status_code == 422
    assert shows(refused) == primed


@pytest.mark.parametrize("primed", [True, False])
def test_the_form_of_a_closed_page_keeps_its_decision(client, hit, primed):
    number = open_primed(client, hit, primed=primed)
    page = opened(client, hit, number)
    close_pages(TaskPage.objects.values_list("pk", flat=True))

    assert shows(send(client, hit, page, text="Too short.")) == primed
    send(client, hit, page)

    assert Claim.objects.get().primed == primed
    assert report(hit, number).primed == primed


@pytest.mark.parametrize("primed", [True, False])
def test_the_form_that_the_answer_came_from_counts_and_not_a_later_page(client, hit, primed):
    number = open_primed(client, hit, primed=primed)
    earlier = opened(client, hit, number)
    close_pages(TaskPage.objects.values_list("pk", flat=True))
    opened(client, hit, number)
    Claim.objects.update(primed=not primed)

    send(client, hit, earlier)

    assert report(hit, number).primed == primed


def test_the_response_keeps_what_its_page_showed(client, hit):
    pages = [shows(opened(client, hit, number)) for number in range(4)]

    assert [written(client, hit, number).is_primed for number in range(4)] == pages


def test_the_response_keeps_what_its_page_showed_if_the_site_never_got_the_answer(client, hit):
    pages = [opened(client, hit, number) for number in range(4)]
    field = next(name for name in form_fields(pages[0]) if name.startswith("caption-"))

    responses = [report(hit, n, **{field: f"A man plays for {n} people."}) for n in range(4)]

    assert [response.is_primed for response in responses] == [shows(page) for page in pages]


def test_of_an_answer_without_a_page_nobody_knows_what_it_showed(hit):
    response = report(hit, 1, **{f"caption-{hit.campaign.tasks.get().number}": "A man plays."})

    assert response.is_primed is None


def test_an_answer_without_a_page_leaves_the_share_of_the_others_alone(client, hit):
    report(hit, 9, **{f"caption-{hit.campaign.tasks.get().number}": "A man plays."})
    responses = [written(client, hit, number) for number in range(2)]

    assert {response.is_primed for response in responses} == {True, False}


@pytest.mark.parametrize("primed", [True, False])
def test_a_discarded_response_gives_its_place_in_the_share_back(client, hit, primed):
    for number in range(4):
        written(client, hit, number)

    discard(responses=Response.objects.filter(primed=primed))

    assert [shows(opened(client, hit, number)) for number in (5, 6)] == [primed, primed]


def test_a_closed_page_gives_its_place_in_the_share_back(client, hit):
    shown = {number: shows(opened(client, hit, number)) for number in range(4)}
    for number, primed in shown.items():
        close_pages(
            TaskPage.objects.filter(assignment_id=f"A{number}").values_list("pk", flat=True)
        )

        assert shows(opened(client, hit, number + 10)) == primed


def test_only_workers_who_saw_the_keywords_are_told_that_they_listed_them(client, hit):
    for number in range(4):
        page = opened(client, hit, number)
        field = next(name for name in form_fields(page) if name.startswith("caption-"))
        report(hit, number, **{field: "Guitar and guitars."})

    flagged = Assessment.objects.filter(codes__contains="keyword_list")

    assert {row.response.primed for row in flagged} == {True}
    assert flagged.count() == 2


def test_the_release_says_of_each_caption_whether_it_was_primed(client, hit):
    responses = [written(client, hit, number) for number in range(4)]

    release_campaign(campaign=hit.campaign, name="r1", seed=1, at=NOON)

    released = dict(ReleasedCaption.objects.values_list("response", "primed"))
    assert released == {response.pk: response.primed for response in responses}
    assert set(released.values()) == {True, False}
    assert Release.objects.get().is_partial is False


def test_the_api_says_of_each_response_whether_keywords_were_shown(client, hit, django_user_model):
    responses = [written(client, hit, number) for number in range(3)]
    responses.append(
        report(hit, 9, **{f"caption-{hit.campaign.tasks.get().number}": "A man plays."})
    )
    client.force_login(django_user_model.objects.create_superuser("ada"))

    rows = client.get(f"/api/campaigns/{hit.campaign.slug}/responses/").json()["results"]

    assert [row["keywords_shown"] for row in rows] == [each.is_primed for each in responses]
    assert None in [row["keywords_shown"] for row in rows]


def test_the_campaigns_page_names_the_share_of_captions(client, hit, django_user_model):
    client.force_login(django_user_model.objects.create_superuser("ada"))

    page = client.get(hit.campaign.get_absolute_url()).content.decode()

    assert "50% of the captions of each image" in page


def test_the_preview_shows_that_there_may_be_keywords(client, hit):
    assert shows(client.get(f"/task/{hit.campaign.slug}/"))
