"""Participants from a panel join, do their HITs, and return with a code."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import (
    Assignment,
    ExternalIdentity,
    Hit,
    Participation,
    Screening,
    Study,
    Worker,
)
from marketplace.services import assignments, reviews, studies
from marketplace.services.links import sign_in_url
from tests.marketplace import factories
from tests.marketplace.factories import make_hit, make_hit_type

pytestmark = pytest.mark.django_db

BACK = "https://panel.example/complete?lang=en"
LOCALE = "00000000000000000071"


@pytest.fixture
def hit_type():
    found = make_hit_type()
    for _ in range(4):
        make_hit(found, max_assignments=3)
    open_all()
    return found


def open_all() -> None:
    """Make the HITs open by the real clock, too."""
    Hit.objects.update(expires_at=clock.now() + timedelta(hours=1))


def make_study(hit_type, **changes) -> Study:
    fields = {"name": "Everyday scenes", "assignments": 2, "return_url": BACK, **changes}
    return factories.make_study(hit_type, at=clock.now(), **fields)


def arrive(client: Client, identifier: str = "p1", parameter: str = "PROLIFIC_PID"):
    path = "/join/everyday-scenes"
    query = {parameter: identifier, "STUDY_ID": "s", "SESSION_ID": "z"}
    assert client.get(path, query).status_code == 200
    return client.post(path, {parameter: identifier})


def submit(client: Client, assignment_path: str):
    return client.post(
        "/mturk/externalSubmit",
        {"assignmentId": assignment_path.rpartition("/")[2], "caption": "A dog."},
    )


def go_on(client: Client):
    return client.post("/studies/everyday-scenes/next")


def test_a_participant_does_the_hits_and_goes_back_with_the_code(client, hit_type):
    make_study(hit_type)

    first = arrive(client)
    assert submit(client, first.url).status_code == 200
    second = go_on(client)
    assert submit(client, second.url).status_code == 200
    last = go_on(client)

    assert last.url == "/studies/everyday-scenes"
    assert "DONE" in client.get(last.url).content.decode()
    back = client.get("/studies/everyday-scenes/complete")
    assert (back.status_code, back.url) == (302, f"{BACK}&cc=DONE")
    assert Participation.objects.get().completed_at is not None


def test_looking_at_the_study_makes_no_account(client, hit_type):
    make_study(hit_type)

    response = client.get("/join/everyday-scenes", {"PROLIFIC_PID": "p1"})

    assert response.status_code == 200
    assert not Worker.objects.exists()


def test_a_participant_who_comes_twice_continues(hit_type):
    make_study(hit_type)
    here, elsewhere = Client(), Client()
    first = arrive(here)

    again = arrive(elsewhere)
    assert again.url == first.url
    submit(elsewhere, again.url)
    submit(here, go_on(here).url)

    assert arrive(elsewhere).url == "/studies/everyday-scenes"
    assert Worker.objects.count() == 1
    assert Assignment.objects.count() == 2


def test_the_panels_id_is_kept_in_one_place_only(client, hit_type):
    make_study(hit_type)

    submit(client, arrive(client, "panel-id-77").url)

    assert ExternalIdentity.objects.get().identifier == "panel-id-77"
    for model in (Worker, Participation, Assignment, Study):
        assert not any("panel-id-77" in str(row) for row in model.objects.values())
    assert "panel-id-77" not in json.dumps(dict(client.session))


def test_the_same_person_in_two_studies_is_one_worker_who_begins_at_zero(client, hit_type):
    make_study(hit_type)
    submit(client, arrive(client).url)
    make_study(hit_type, name="second", assignments=1, completion_code="SECOND")

    client.post("/join/second", {"PROLIFIC_PID": "p1"})

    assert Worker.objects.count() == 1
    page = client.get("/studies/second").content.decode()
    assert "0 of 1 tasks done" in page
    assert "SECOND" not in page


def test_another_panels_id_parameter_is_another_person(client, hit_type):
    make_study(hit_type, id_parameter="participant")

    assert arrive(client, "p1", parameter="participant").status_code == 303
    assert client.get("/join/everyday-scenes", {"PROLIFIC_PID": "p1"}).status_code == 400
    assert ExternalIdentity.objects.get().source == "participant"


@pytest.mark.parametrize(
    "identifier", ["", "   ", "x" * 201, "a\u202eb", "a\0b", "{{%PROLIFIC_PID%}}"]
)
def test_an_arrival_without_a_usable_id_is_told_so(client, hit_type, identifier):
    make_study(hit_type)

    response = client.post("/join/everyday-scenes", {"PROLIFIC_PID": identifier})

    assert response.status_code in (400, 403)
    assert not Worker.objects.exists()


def test_nobody_gets_the_code_before_the_last_hit(client, hit_type):
    make_study(hit_type)
    submit(client, arrive(client).url)

    assert client.get("/studies/everyday-scenes/complete").status_code == 404
    assert "DONE" not in client.get("/studies/everyday-scenes").content.decode()


def test_a_rejected_hit_counts_as_done(client, hit_type):
    make_study(hit_type, assignments=1)
    submit(client, arrive(client).url)
    reviews.reject(assignment=Assignment.objects.get(), feedback="Empty.", at=clock.now())

    assert client.get("/studies/everyday-scenes/complete").status_code == 302


def test_a_returned_hit_does_not_count(client, hit_type):
    make_study(hit_type, assignments=1)
    path = arrive(client).url

    response = client.post(f"{path}/return")

    assert response.url == "/studies/everyday-scenes"
    assert "0 of 1 tasks done" in client.get(response.url).content.decode()


def test_a_participant_who_finds_no_hit_can_go_back_with_the_code_for_that(client):
    make_study(make_hit_type(), no_work_code="NOWORK")

    response = arrive(client)

    text = response.content.decode()
    assert response.status_code == 409
    assert "no tasks left" in text
    assert f"{BACK.replace('&', '&amp;')}&amp;cc=NOWORK" in text
    assert "DONE" not in text


def test_without_such_a_code_the_page_says_what_to_do(client):
    make_study(make_hit_type())

    assert "return your place in the study there" in arrive(client).content.decode()


def test_a_participant_who_does_not_qualify_is_told_so(client):
    requirement = {
        "QualificationTypeId": LOCALE,
        "Comparator": "EqualTo",
        "LocaleValues": [{"Country": "NL"}],
        "ActionsGuarded": "Accept",
    }
    hit_type = make_hit_type(qualification_requirements=[requirement])
    make_hit(hit_type)
    open_all()
    make_study(hit_type, no_work_code="NOWORK")

    response = arrive(client)

    assert response.status_code == 403
    assert "NOWORK" in response.content.decode()
    assert not Assignment.objects.exists()


def test_a_closed_study_takes_nobody_new_and_lets_the_others_finish(client, hit_type):
    study = make_study(hit_type)
    first = arrive(client, "early")
    studies.set_open(study=study, is_open=False)

    assert arrive(Client(), "late").status_code == 403
    assert arrive(Client(), "early").url == first.url
    assert Participation.objects.count() == 1


def test_a_study_is_no_business_of_other_workers(client, hit_type):
    make_study(hit_type)
    arrive(Client(), "somebody")
    make_study(hit_type, name="other", assignments=1, completion_code="OTHER")
    client.post("/join/other", {"PROLIFIC_PID": "p2"})

    for path in ("", "/complete"):
        assert client.get(f"/studies/everyday-scenes{path}").status_code == 404
    assert go_on(client).status_code == 404


def test_arriving_ends_the_earlier_session(client, hit_type):
    make_study(hit_type)
    first = arrive(client, "p1")

    arrive(client, "p2")

    assert client.get(first.url).status_code == 404


def test_joining_needs_the_forms_token(hit_type):
    make_study(hit_type)
    client = Client(enforce_csrf_checks=True)

    assert client.post("/join/everyday-scenes", {"PROLIFIC_PID": "p1"}).status_code == 403
    assert not Worker.objects.exists()


def test_work_outside_of_a_study_stays_outside(hit_type):
    make_study(hit_type)
    worker = Worker.objects.create(name="Ada", created_at=clock.now())

    found = assignments.accept(worker=worker, hit_type=hit_type, at=clock.now())
    assignments.submit(assignment=found, answer="<a/>", at=clock.now())

    assert not Participation.objects.exists()


@pytest.mark.parametrize(
    "plan",
    [
        {"return_url": "javascript:alert(1)"},
        {"return_url": "panel.example"},
        {"completion_code": " "},
        {"assignments": 0},
        {"assignments": 10**9 * 10},
        {"completion_code": "x" * 101},
        {"no_work_code": "x\r\nSet-Cookie: a=b"},
        {"return_url": "https://panel.example/" + "x" * 1000},
    ],
)
def test_a_study_that_cannot_work_is_refused(hit_type, plan):
    with pytest.raises(StudyRefused):
        make_study(hit_type, **plan)


def test_the_command_makes_a_study_and_closes_it(client, hit_type, capsys):
    call_command(
        "marketplace_study", "Everyday scenes", hit_type=hit_type.public_id, assignments=1,
        completion_code="DONE", return_url=BACK, json=True,
    )  # fmt: skip
    made = json.loads(capsys.readouterr().out)

    assert made["panel_url"].endswith(
        "/join/everyday-scenes?PROLIFIC_PID={{%PROLIFIC_PID%}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert arrive(client).status_code == 303
    call_command("marketplace_study", "Everyday scenes", close=True)
    assert arrive(Client(), "late").status_code == 403


def test_the_command_says_what_is_missing_or_unknown(hit_type):
    with pytest.raises(CommandError, match="--completion-code, --return-url"):
        call_command("marketplace_study", "x", hit_type=hit_type.public_id, assignments=1)
    with pytest.raises(CommandError, match="no HIT type"):
        call_command(
            "marketplace_study", "x", hit_type="NONE", assignments=1, completion_code="C",
            return_url=BACK,
        )  # fmt: skip
    with pytest.raises(CommandError, match="no study"):
        call_command("marketplace_study", "x", close=True)


def test_hits_of_the_list_earn_no_completion_code_for_who_did_not_consent(client, hit_type):
    study = make_study(hit_type)
    screening = Screening(consent="You may stop at any time.", no_consent_code="NO")
    studies.set_screening(study=study, screening=screening)
    worker = factories.make_worker()
    participation = Participation.objects.create(study=study, worker=worker, started_at=clock.now())
    studies.consent(participation=participation, agrees=False, at=clock.now())
    for _ in range(2):
        found = assignments.accept(worker=worker, hit_type=hit_type, at=clock.now())
        assignments.submit(assignment=found, answer="<a/>", at=clock.now())
    client.get(sign_in_url(worker))

    assert "NO" in client.get("/studies/everyday-scenes").content.decode()
    assert client.get("/studies/everyday-scenes/complete").status_code == 404
