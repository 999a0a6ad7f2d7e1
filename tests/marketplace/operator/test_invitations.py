"""Creating and ending invitations, studies and layouts on the operator's pages."""

from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from marketplace import clock
from marketplace.models import Activity, ExternalIdentity, HitLayout, Invitation, Study, Worker
from marketplace.services import accounts, hit_types
from tests.marketplace.factories import make_hit_type, make_requester, make_study

pytestmark = pytest.mark.django_db

STUDY = {
    "name": "Everyday scenes",
    "assignments": "10",
    "return_url": "https://panel.example/complete?x=1",
    "completion_code": "C1A2B3",
    "no_work_code": "",
    "id_parameter": "PROLIFIC_PID",
}


def text_of(answer) -> str:
    return BeautifulSoup(answer.content, "lxml").find("main").get_text(" ", strip=True)


def address_in(answer) -> str:
    """The link in the first row of a page."""
    return BeautifulSoup(answer.content, "lxml").find(class_="address").text


def test_an_invitation_of_the_page_makes_accounts(operator, settings):
    operator.post("/operator/invitations", {"uses": "2", "days": "7"})

    link = address_in(operator.get("/operator/invitations")).removeprefix(settings.MARKETPLACE_URL)
    account = {"name": "Ada", "password": "four quiet brown horses", "country": ""}

    assert Client().post(link, account).status_code == 303
    assert Worker.objects.get().name == "Ada"
    assert Invitation.objects.get().uses_left == 1


def test_an_ended_invitation_makes_no_more_accounts(operator, settings):
    made = accounts.invite(uses=5, expires_at=clock.now() + timedelta(days=1), at=clock.now())
    link = address_in(operator.get("/operator/invitations")).removeprefix(settings.MARKETPLACE_URL)

    operator.post(f"/operator/invitations/{made.pk}/end")

    assert Client().get(link).status_code == 403
    assert "expired or used up" in text_of(operator.get("/operator/invitations"))
    assert Activity.objects.get().action == "revoked an invitation"


@pytest.mark.parametrize("given", [{"uses": "0", "days": "7"}, {"uses": "1", "days": "4000"}])
def test_an_impossible_invitation_is_not_made(operator, given):
    answer = operator.post("/operator/invitations", given)

    assert answer.status_code == 400
    assert not Invitation.objects.exists()


def test_a_study_of_the_page_is_joined_at_its_address(operator, settings):
    hit_type = make_hit_type()
    operator.post("/operator/studies", {**STUDY, "hit_type": hit_type.public_id})

    address = address_in(operator.get("/operator/studies"))

    assert address == (
        f"{settings.MARKETPLACE_URL}/join/everyday-scenes?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    # There is no HIT for them yet, but who came is known.
    Client().post("/join/everyday-scenes", {"PROLIFIC_PID": "p1"})
    cells = BeautifulSoup(operator.get("/operator/studies").content, "lxml").select("td.number")
    assert [cell.text for cell in cells] == ["1", "0"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"hit_type": "3NONE"}, "There is no such group of HITs."),
        ({"return_url": "panel.example"}, "The return address must be a complete https address."),
        ({"name": "Scenes"}, "There is a study at 'scenes' already."),
        ({"name": "???"}, "The name must contain letters or digits"),
        ({"assignments": "0"}, "greater than or equal to 1"),
    ],
)
def test_a_study_that_cannot_be_is_refused_with_what_was_filled_in(operator, change, told):
    study = make_study()

    answer = operator.post(
        "/operator/studies", {**STUDY, "hit_type": study.hit_type.public_id, **change}
    )

    assert answer.status_code == 400
    assert told in text_of(answer)
    assert BeautifulSoup(answer.content, "lxml").find(id="id_completion_code")["value"] == "C1A2B3"
    assert Study.objects.get() == study


def test_a_closed_study_lets_nobody_new_in_until_it_is_open_again(operator):
    study = make_study()

    operator.post(f"/operator/studies/{study.slug}/open", {"open": "no"})
    refused = Client().post("/join/scenes", {"PROLIFIC_PID": "early"})
    operator.post(f"/operator/studies/{study.slug}/open", {"open": "yes"})
    Client().post("/join/scenes", {"PROLIFIC_PID": "late"})

    assert refused.status_code == 403
    assert ExternalIdentity.objects.get().identifier == "late"
    logged = Activity.objects.order_by("pk").values_list("action", "about")
    assert list(logged) == [("closed a study", "scenes"), ("reopened a study", "scenes")]


def test_a_layout_of_the_page_has_the_gaps_of_its_html(operator):
    lab = make_requester()
    given = {"requester": lab.pk, "name": "Captions", "frame_height": "400"}

    operator.post("/operator/layouts", {**given, "page": "<p>${image} by ${author}</p>"})

    made = HitLayout.objects.get()
    assert (made.requester, made.name) == (lab, "Captions")
    page = text_of(operator.get("/operator/layouts"))
    assert made.public_id in page
    assert "author, image" in page


def test_a_layout_that_no_hit_could_show_is_refused(operator):
    lab = make_requester()
    given = {"requester": lab.pk, "name": "Captions", "frame_height": "0"}
    hit_types.create_layout(requester=lab, name="Captions", page="<p>x</p>", at=clock.now())

    taken = operator.post("/operator/layouts", {**given, "page": "<p>y</p>"})
    ending = operator.post("/operator/layouts", {**given, "name": "New", "page": "a ]]> b"})

    assert "has a layout 'Captions' already" in text_of(taken)
    assert "which is not allowed in a layout" in text_of(ending)
    assert HitLayout.objects.count() == 1


@pytest.mark.parametrize("path", ["invitations", "studies", "layouts"])
def test_a_page_asks_for_no_more_where_there_is_more_to_show(
    operator, django_assert_max_num_queries, path
):
    for number in range(5):
        accounts.invite(uses=5, expires_at=clock.now() + timedelta(days=1), at=clock.now())
        make_study(name=f"Study {number}")
        hit_types.create_layout(
            requester=make_requester(), name="L", page="<p>x</p>", at=clock.now()
        )

    with django_assert_max_num_queries(4):
        answer = operator.get(f"/operator/{path}")

    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
