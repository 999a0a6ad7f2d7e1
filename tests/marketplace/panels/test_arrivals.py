"""Signed arrivals, hooks, consent and the question with two tries."""

import base64
import hashlib
import hmac
import json
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import Participation, Screening, Worker
from marketplace.panels import arrivals
from marketplace.panels.client import prolific
from marketplace.panels.models import PanelStudy, PanelSubmission
from marketplace.panels.panel import PanelUnclear
from marketplace.panels.services import rounds, submissions
from marketplace.panels.services import studies as panel_studies
from marketplace.services import studies
from simulation.prolific.server import StandIn
from simulation.prolific.state import new_id
from tests.marketplace.panels.people import (
    TOKEN,
    arrive,
    make_panel_study,
    publish,
    published_study,
    work,
)

pytestmark = pytest.mark.django_db

SECRET = "the workspace's secret"
CHECK = {
    "consent": "You take part freely.",
    "no_consent_code": "NOCONSENT",
    "question": "What do you describe?",
    "choices": ["A photograph", "A song", "A text"],
    "right_choice": "A photograph",
    "failed_check_code": "FAILED",
}


@pytest.fixture
def stand_in(world, panel_api, monkeypatch) -> StandIn:
    """The stand-in whose keys the site knows."""
    made = StandIn(world, token=TOKEN)
    keys = arrivals.KeySet([made.key])
    arrivals.keys.forget()
    monkeypatch.setattr(arrivals.keys, "_ask", lambda: keys)
    yield made
    arrivals.keys.forget()


@pytest.fixture
def signed(world, panel_api) -> PanelStudy:
    return published_study(is_signed=True)


def address_of(stand_in, panel_study, participant: str, now: float | None = None):
    study = stand_in.world.study(panel_study.external_id)
    submission = stand_in.world.take_place(study, participant)
    now = clock.now().timestamp() if now is None else now
    return urlsplit(stand_in.address_for(submission, now=now))


def open_and_join(address, participant: str, **changes: str):
    """Open the address and press the button; returns the answers to both."""
    client = Client()
    query = {**dict(parse_qsl(address.query)), **changes}
    opened = client.get(address.path, query)
    form = {"PROLIFIC_PID": query["PROLIFIC_PID"]}
    text = opened.content.decode()
    if 'name="ticket" value="' in text:
        form["ticket"] = text.partition('name="ticket" value="')[2].partition('"')[0]
    return opened, client.post(address.path, form)


def test_a_signed_arrival_joins(stand_in, signed):
    participant = new_id()

    opened, joined = open_and_join(address_of(stand_in, signed, participant), participant)

    assert (opened.status_code, joined.status_code) == (200, 303)
    assert Participation.objects.count() == 1


@pytest.mark.parametrize("token", ["", "x.y.z", "other key", "late", "other participant"])
def test_an_arrival_without_a_valid_signature_is_refused(stand_in, signed, token):
    participant = new_id()
    address = address_of(stand_in, signed, participant)
    changes = {"prolific_token": token}
    if token == "other key":
        forger = StandIn(stand_in.world, token=TOKEN)
        changes = dict(parse_qsl(address_of(forger, signed, participant).query))
    elif token == "late":
        past = clock.now().timestamp() - 3600
        changes = dict(parse_qsl(address_of(stand_in, signed, participant, now=past).query))
    elif token == "other participant":
        changes = {"PROLIFIC_PID": new_id()}

    opened, joined = open_and_join(address, participant, **changes)

    assert (opened.status_code, joined.status_code) == (403, 403)
    assert not Worker.objects.exists()


def test_keys_that_cannot_be_read_are_asked_for_once_in_a_minute(stand_in, signed, monkeypatch):
    """Everybody who arrives waits for an answer, and anybody can arrive with an unknown key."""
    asked = []

    def fail():
        asked.append(None)
        raise PanelUnclear("Prolific is away.")

    participant = new_id()
    address = address_of(stand_in, signed, participant)
    monkeypatch.setattr(arrivals.keys, "_ask", fail)
    answers = [open_and_join(address, participant)[0] for _ in range(3)]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert len(asked) == 1


def test_a_ticket_of_one_participant_lets_no_other_in(stand_in, signed):
    participant, stranger = new_id(), new_id()
    address = address_of(stand_in, signed, participant)
    text = Client().get(address.path, dict(parse_qsl(address.query))).content.decode()
    ticket = text.partition('name="ticket" value="')[2].partition('"')[0]

    refused = Client().post(address.path, {"PROLIFIC_PID": stranger, "ticket": ticket})

    assert refused.status_code == 403


def test_a_signature_for_another_study_is_refused(stand_in, signed):
    now = clock.now().timestamp()
    token = stand_in.sign("https://elsewhere.example/join/x", "s", {}, now=now)

    with pytest.raises(panel_studies.PanelRefused, match="another study"):
        arrivals.signed_arrival(token, audience="https://here.example/join/x", now=now)


def hook(body: dict, *, secret: str = SECRET, age: float = 0, client: Client | None = None):
    content, stamp = json.dumps(body).encode(), str(int(clock.now().timestamp() - age))
    digest = hmac.new(secret.encode(), stamp.encode() + content, hashlib.sha256).digest()
    return (client or Client()).post(
        "/panels/prolific/hook",
        content,
        content_type="application/json",
        headers={
            "X-Prolific-Request-Timestamp": stamp,
            "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
        },
    )


def test_a_signed_hook_makes_the_next_reading_come_sooner(world, panel_api, settings):
    settings.PROLIFIC_HOOK_SECRET = SECRET
    panel_study = published_study()
    later = clock.now() + timedelta(hours=1)
    PanelStudy.objects.update(read_next_at=later)

    for resource in (panel_study.external_id, panel_study.external_id, new_id()):
        answer = hook({"resource_id": resource, "event_type": "submission.status.change"})
        assert answer.status_code == 204

    panel_study.refresh_from_db()
    assert panel_study.read_next_at < later


@pytest.mark.parametrize("how", ["other secret", "old", "no secret"])
def test_a_hook_without_a_valid_signature_changes_nothing(world, panel_api, settings, how):
    settings.PROLIFIC_HOOK_SECRET = "" if how == "no secret" else SECRET
    panel_study = published_study()
    later = clock.now() + timedelta(hours=1)
    PanelStudy.objects.update(read_next_at=later)

    answer = hook(
        {"resource_id": panel_study.external_id},
        secret="" if how == "no secret" else "guess" if how == "other secret" else SECRET,
        age=10 * 24 * 3600 if how == "old" else 0,
    )

    assert answer.status_code == 403
    panel_study.refresh_from_db()
    assert panel_study.read_next_at == later


@pytest.fixture
def checked(world, panel_api) -> PanelStudy:
    """A study that asks for consent and has a question."""
    panel_study = make_panel_study(hits=1)
    studies.set_screening(study=panel_study.study, screening=Screening(**CHECK))
    publish(panel_study)
    return panel_study


def answer(client: Client, **fields: str) -> str:
    client.post("/studies/everyday-scenes/screening", fields)
    return client.get("/studies/everyday-scenes").content.decode()


def test_a_participant_consents_fails_and_passes_the_question_and_works(world, checked):
    client, _ = arrive(world, checked, new_id())
    assert client.post("/studies/everyday-scenes/next").url == "/studies/everyday-scenes"
    assert "You take part freely." in client.get("/studies/everyday-scenes").content.decode()

    assert "What do you describe?" in answer(client, consent="yes")
    assert "one more try" in answer(client, answer="A song")
    answer(client, answer="A photograph")
    work(client, checked.study, hits=1)

    assert client.get("/studies/everyday-scenes/complete").status_code == 302


def test_a_double_click_on_a_wrong_answer_is_one_try(world, checked):
    client, _ = arrive(world, checked, new_id())
    page = BeautifulSoup(answer(client, consent="yes"), "lxml")
    hidden = page.select('form[action$="/screening"] input[type=hidden]')
    fields = {each["name"]: each["value"] for each in hidden}

    answer(client, answer="A song", **fields)

    assert "one more try" in answer(client, answer="A song", **fields)


def test_two_wrong_answers_lead_to_a_return_and_never_to_a_rejection(world, checked):
    client, submission = arrive(world, checked, new_id())
    answer(client, consent="yes")
    answer(client, answer="A song")
    page = answer(client, answer="A text")
    assert "cc=FAILED" in page
    assert "A photograph" not in answer(client, answer="A photograph")
    assert client.post("/studies/everyday-scenes/next").url == "/studies/everyday-scenes"

    world.complete(submission, "FAILED")
    rounds.run_round(panel_study=checked, at=clock.now())

    assert submission.return_requested is not None
    with pytest.raises(StudyRefused, match="no reason for a rejection"):
        submissions.reject(
            submission=PanelSubmission.objects.get(),
            category="FAILED_CHECK",
            reason="You failed the question. " * 6,
            panel=prolific(),
        )


def test_a_participant_who_does_not_consent_goes_back_with_the_code_for_that(world, checked):
    client, _ = arrive(world, checked, new_id())

    page = answer(client, consent="no")

    assert "cc=NOCONSENT" in page
    assert "You take part freely." not in answer(client, consent="yes")
    assert client.post("/studies/everyday-scenes/next").url == "/studies/everyday-scenes"


def test_the_codes_of_a_screening_ask_for_a_return_at_the_panel(world, checked):
    study = world.study(checked.external_id)
    actions = {
        each["code"]: each["actions"][0]["action"] for each in study.fields["completion_codes"]
    }

    assert actions == {
        "DONE": "MANUALLY_REVIEW",
        "NOWORK": "REQUEST_RETURN",
        "NOCONSENT": "REQUEST_RETURN",
        "FAILED": "REQUEST_RETURN",
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"choices": ["A photograph"]},
        {"choices": ["A photograph", "A photograph"]},
        {"no_consent_code": ""},
        {"failed_check_code": ""},
        {"failed_check_code": "DONE"},
    ],
)
def test_a_screening_that_cannot_work_is_refused(panel_api, changes):
    panel_study = make_panel_study()

    with pytest.raises(StudyRefused):
        studies.set_screening(study=panel_study.study, screening=Screening(**{**CHECK, **changes}))
