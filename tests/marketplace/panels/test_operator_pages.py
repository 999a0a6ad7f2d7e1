"""The operator's page of a study at the panel, and the stand-in as a program."""

import json
import os
import subprocess
import sys
from datetime import datetime
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from marketplace import clock
from marketplace.models import Activity, AttentionCheck, Screening
from marketplace.panels.forms import PanelPlanForm
from marketplace.panels.models import BatchState, BonusBatch, PanelStudy, PanelSubmission
from marketplace.panels.services import rounds
from marketplace.services import reviews
from marketplace.services.studies import join
from simulation.prolific.server import StandIn
from simulation.prolific.state import World, new_id
from tests.marketplace.factories import make_study
from tests.marketplace.panels.people import (
    arrive,
    assignments_of,
    go_back,
    make_panel_study,
    published_study,
    work,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("panel_api")]

PAGE = "/operator/studies/everyday-scenes/panel"
PLAN = {
    "description": "Describe photographs.", "reward": "1.50", "minutes": "5", "places": "2",
    "devices": ["desktop"], "filters": "languages = 19, 20,\nage = 18..65",
    "consent": "You take part freely.", "no_consent_code": "NO",
    "question": "What?", "choices": "This\nThat", "failed_check_code": "FAILED",
}  # fmt: skip


def text_of(answer) -> str:
    return BeautifulSoup(answer.content, "lxml").find("main").get_text(" ", strip=True)


def act(operator, action: str, **fields: str) -> str:
    return text_of(operator.post(f"{PAGE}/study", {"action": action, **fields}, follow=True))


def test_from_a_study_to_a_published_one_with_the_cost_shown_first(operator, world):
    make_study(name="Everyday scenes", assignments=2)
    assert PAGE in operator.get("/operator/studies").content.decode()

    operator.post(PAGE, PLAN)
    act(operator, "draft")
    page = operator.get(PAGE)

    assert "Publish for 4.20" in text_of(page)
    assert "Available at Prolific: 10,000.00" in text_of(page)
    assert "confirm" in act(operator, "publish", confirmed="1.00")
    assert "Published." in act(operator, "publish", confirmed="4.20")
    [study] = world.studies.values()
    assert study.status == "ACTIVE"
    assert study.fields["filters"] == [
        {"filter_id": "languages", "selected_values": ["19", "20"]},
        {"filter_id": "age", "selected_range": {"lower": 18, "upper": 65}},
    ]
    assert Screening.objects.get().right_choice == "This"
    assert "Show cost" in text_of(operator.get(PAGE))
    assert "Add places for 2.10" in text_of(operator.get(f"{PAGE}?places=3"))
    assert "were added" in act(operator, "places", places="3", confirmed="2.10")
    assert study.places == 3
    assert "Paused" in act(operator, "pause")
    assert Activity.objects.filter(action="panel: publish").count() == 2


@pytest.mark.parametrize(
    "asks",
    [
        {},
        {"consent": "", "question": "", "attention_checks": "Choose Yes. | Yes | No"},
    ],
    ids=["screening", "attention check"],
)
def test_of_two_operators_who_put_a_study_at_the_panel_at_once_one_is_refused(
    operator, monkeypatch, asks
):
    """One sends the form after the other's request has read that the study is not there yet."""
    make_study(name="Everyday scenes", assignments=2)
    is_valid, rival = PanelPlanForm.is_valid, []

    def after_a_rival(form: PanelPlanForm) -> bool:
        if not rival:
            rival.append(None)
            rival[0] = operator.post(PAGE, PLAN | asks)
        return is_valid(form)

    monkeypatch.setattr(PanelPlanForm, "is_valid", after_a_rival)

    answer = operator.post(PAGE, PLAN | asks)

    assert [rival[0].status_code, answer.status_code] == [302, 400]
    assert "This study is at the panel already." in text_of(answer)
    assert PanelStudy.objects.count() == 1


def test_a_plan_that_the_panel_refuses_is_discarded_and_made_anew(operator, world, panel_api):
    make_study(name="Everyday scenes", assignments=2)
    operator.post(PAGE, PLAN | {"attention_checks": "Choose Yes. | Yes | No"})
    refuse_drafts(panel_api)
    assert "Prolific refused" in act(operator, "draft")
    panel_api.fault = lambda *_: None

    assert "The plan was discarded." in act(operator, "discard")
    assert not AttentionCheck.objects.exists()
    operator.post(PAGE, PLAN | {"question": "", "consent": ""})
    act(operator, "draft")

    assert len(world.studies) == 1
    assert not Screening.objects.exists()


def refuse_drafts(panel_api, status: int = 400, when: str = "before") -> None:
    panel_api.fault = lambda method, path, at: (
        status if (method, at) == ("POST", when) and path.endswith("/studies/") else None
    )


def test_a_plan_whose_draft_is_at_the_panel_is_not_discarded(operator, world, panel_api):
    make_panel_study()
    refuse_drafts(panel_api, 500, "after")
    act(operator, "draft")
    panel_api.fault = lambda *_: None

    lost = act(operator, "discard")
    act(operator, "draft")
    found = act(operator, "discard")

    assert "has a draft of this plan" in lost
    assert "has a draft of this plan" in found
    assert PanelStudy.objects.get().external_id in world.studies


def test_a_plan_of_a_study_that_somebody_has_joined_is_not_discarded(operator):
    study = make_panel_study().study
    join(study=study, identifier="p1", address="", at=clock.now())

    assert "joined this study" in act(operator, "discard")

    assert PanelStudy.objects.exists()


def test_a_plan_that_is_discarded_while_its_draft_is_made_is_said_to_be_gone(operator, panel_api):
    make_panel_study()

    def discard(method: str, path: str, when: str) -> None:
        if (method, when) == ("POST", "before") and path.endswith("/studies/"):
            act(operator, "discard")

    panel_api.fault = discard

    answer = operator.post(f"{PAGE}/study", {"action": "draft"}, follow=True)

    assert "discarded" in text_of(answer)
    assert not PanelStudy.objects.exists()


@pytest.mark.parametrize(
    ("action", "what"), [("stop", "cannot be undone"), ("unsubscribe", "for any study")]
)
def test_what_cannot_be_taken_back_is_explained_before_it_is_done(operator, action, what):
    published_study()

    page = BeautifulSoup(operator.get(PAGE).content, "lxml")

    button = page.select_one(f"details button[value={action}]")
    assert button is not None
    assert what in button.find_parent("form").get_text()


@pytest.mark.parametrize("text", ["", "NaN", "sNaN", "1E+999999"])
def test_an_invalid_cost_is_not_confirmed(operator, world, text):
    make_panel_study()
    act(operator, "draft")

    assert "confirm it" in act(operator, "publish", confirmed=text)

    assert [study.status for study in world.studies.values()] == ["UNPUBLISHED"]


@pytest.mark.parametrize(
    "changes",
    [
        {"filters": "nonsense"},
        {"filters": "age = a..b"},
        {"filters": "age = 65..18"},
        {"filters": "languages = ,"},
        {"reward": "0.10"},
        {"choices": "This"},
        {"description": ""},
    ],
)
def test_a_plan_that_cannot_work_is_refused_and_stores_nothing(operator, changes):
    make_study(name="Everyday scenes", assignments=2)

    assert operator.post(PAGE, {**PLAN, **changes}).status_code == 400
    assert not PanelStudy.objects.exists()
    assert not Screening.objects.exists()


@pytest.fixture
def unclear(world, panel_api, operator) -> BonusBatch:
    """A batch whose answer was lost before its effect, long ago."""
    panel_study = published_study()
    client, submission = arrive(world, panel_study, new_id())
    work(client, panel_study.study, hits=2)
    go_back(world, client, panel_study.study, submission)
    for assignment in assignments_of(panel_study):
        reviews.approve(assignment=assignment, at=clock.now())
    panel_api.fault = lambda _method, path, when: (
        500 if path.endswith("/pay/") and when == "before" else None
    )
    for _ in range(3):
        rounds.run_round(panel_study=panel_study, at=clock.now())
    panel_api.fault = lambda *_: None
    batch = BonusBatch.objects.get()
    assert batch.state == BatchState.UNCLEAR
    return batch


@pytest.mark.parametrize("action", ["unpaid", "listed"])
def test_a_person_sees_both_sides_and_decides_an_unclear_batch(
    operator, world, unclear, settings, action
):
    page = text_of(operator.get(PAGE))
    assert f"Was batch {unclear.pk} paid?" in page
    # Nothing was sent if the panel lists bonuses that are not recorded here.
    assert "was sent at" not in page
    address = f"{PAGE}/batches/{unclear.pk}"

    early = text_of(operator.post(address, {"action": action}, follow=True))
    settings.PROLIFIC_BONUS_SETTLES = clock.now() - clock.now()
    operator.post(address, {"action": "read"})
    operator.post(address, {"action": action})

    assert "may still be paying" in early
    unclear.refresh_from_db()
    assert (unclear.state, unclear.decided_by) == (BatchState.REFUSED, "root")
    for _ in range(3):
        act(operator, "read")
    [submission] = world.submissions.values()
    assert submission.bonuses == [50]
    assert "differs" not in text_of(operator.get(PAGE))


def test_an_operator_approves_asks_and_rejects(operator, world, panel_api):
    panel_study = published_study()
    found = [world.take_place(world.study(panel_study.external_id), new_id()) for _ in range(3)]
    for each in found:
        world.complete(each, "DONE")
    rounds.run_round(panel_study=panel_study, at=clock.now())
    assert "3 decisions wait for you" in text_of(operator.get(PAGE))
    keys = {each.external_id: each.pk for each in PanelSubmission.objects.all()}

    def post(number: int, **fields: str) -> str:
        address = f"{PAGE}/submissions/{keys[found[number].id]}"
        return text_of(operator.post(address, fields, follow=True))

    post(0, action="approve")
    post(1, action="return", reason="We found no answers of yours.")
    assert "The panel requires 100" in post(2, action="reject", category="OTHER", reason="No.")
    post(2, action="reject", category="NO_DATA", reason="We found no answers of yours. " * 4)

    assert [each.status for each in found] == ["APPROVED", "AWAITING REVIEW", "REJECTED"]
    assert found[1].messages == ["We found no answers of yours."]


def test_no_participants_id_is_on_the_page(operator, world, panel_api):
    panel_study = published_study()
    participant = new_id()
    arrive(world, panel_study, participant)
    rounds.run_round(panel_study=panel_study, at=clock.now())

    assert participant not in operator.get(PAGE).content.decode()


def test_without_a_token_the_page_says_what_to_set(operator, settings):
    make_panel_study()
    settings.PROLIFIC_API_TOKEN = ""

    assert "PROLIFIC_API_TOKEN" in act(operator, "draft")


def call(app, method: str, path: str, *, token: str = "", body: object = None, query: str = ""):
    content, found = json.dumps(body).encode() if body is not None else b"", {}
    environ = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query,
        "CONTENT_LENGTH": str(len(content)), "wsgi.input": BytesIO(content),
        "HTTP_AUTHORIZATION": f"Token {token}",
    }  # fmt: skip
    parts = app(environ, lambda status, headers: found.update(status=status, headers=headers))
    return int(found["status"].split()[0]), b"".join(parts).decode(), dict(found["headers"])


DRAFT = {
    "name": "n", "description": "d", "external_study_url": "https://a.example/?p={{%PROLIFIC_PID%}}",
    "prolific_id_option": "url_parameters", "total_available_places": 1,
    "estimated_completion_time": 5, "reward": 100,
    "completion_codes": [{"code": "A", "code_type": "COMPLETED", "actions": []}],
}  # fmt: skip


def test_the_stand_in_refuses_a_wrong_token():
    assert call(StandIn(World(), token="t"), "GET", "/api/v1/studies/", token="wrong")[0] == 401


@pytest.mark.parametrize(
    "wrong", [{"reward": "1.00"}, {"name": ""}, {"surprise": 1}, {"completion_codes": []}]
)
def test_the_stand_in_refuses_a_draft_that_the_schemas_do_not_allow(wrong):
    app = StandIn(World(), token="t")

    assert call(app, "POST", "/api/v1/studies/", token="t", body={**DRAFT, **wrong})[0] == 400


def test_a_participant_takes_part_in_a_published_study_of_the_stand_in():
    world = World()
    app = StandIn(world, token="t")
    _, text, _ = call(app, "POST", "/api/v1/studies/", token="t", body=DRAFT)
    study = world.study(json.loads(text)["id"])

    assert call(app, "GET", "/take-part", query=f"study={study.id}&participant=x")[0] == 400
    world.move_study(study, "PUBLISH")
    status, _, headers = call(app, "GET", "/take-part", query=f"study={study.id}&participant=p1")
    assert (status, headers["Location"]) == (303, "https://a.example/?p=p1")
    assert "Code A received" in call(app, "GET", "/submissions/complete", query="cc=A")[1]
    assert world.spent(study)["rewards"] == 0
    assert "p1: awaiting review" in call(app, "GET", "/")[1]
    world.set_places(study, 2)
    call(app, "GET", "/take-part", query=f"study={study.id}&participant=%3Cb%3E")
    assert "&lt;b&gt;: active" in call(app, "GET", "/")[1]


def test_a_published_client_can_post_approve_pay_and_delete():
    """The requests of Dallinger's client (dallinger/prolific.py), which uses older fields."""
    world = World()
    app = StandIn(world, token="t")

    def ask(method: str, path: str, body: object = None):
        status, text, _ = call(app, method, f"/api/v1{path}", token="t", body=body)
        assert status < 300, text
        return json.loads(text) if text else status

    draft = {
        "name": "n", "internal_name": "i", "description": "d",
        "external_study_url": "https://a.example/?p={{%PROLIFIC_PID%}}",
        "prolific_id_option": "url_parameters", "completion_code": "A", "completion_option": "url",
        "total_available_places": 2, "estimated_completion_time": 5, "maximum_allowed_time": 17,
        "reward": 100, "eligibility_requirements": [], "status": "UNPUBLISHED",
        "device_compatibility": ["desktop"], "peripheral_requirements": ["audio"],
    }  # fmt: skip
    assert ask("GET", "/users/me/")["id"] == ask("GET", "/workspaces/")["results"][0]["owner"]
    other, made = ask("POST", "/studies/", draft), ask("POST", "/studies/", draft)
    assert ask("DELETE", f"/studies/{other['id']}") == 204
    assert ask("POST", f"/studies/{made['id']}/transition/", {"action": "PUBLISH"})
    [row] = ask("GET", "/studies/")["results"]
    assert (row["internal_name"], row["status"]) == ("i", "ACTIVE")
    assert datetime.fromisoformat(row["date_created"])
    submission = world.take_place(world.study(made["id"]), "participant-7")
    world.complete(submission, "A")
    session = ask("GET", f"/submissions/{submission.id}/")
    assert (session["status"], session["participant"]) == ("AWAITING REVIEW", "participant-7")
    ask("POST", f"/submissions/{submission.id}/transition/", {"action": "APPROVE"})
    body = {"study_id": made["id"], "csv_bonuses": "participant-7,0.5\n"}
    bonus = ask("POST", "/submissions/bonus-payments/", body)
    ask("POST", f"/bulk-bonus-payments/{bonus['id']}/pay/")
    places = ask("PATCH", f"/studies/{made['id']}/", {"total_available_places": 3})

    assert (submission.status, submission.bonuses) == ("APPROVED", [50])
    assert places["total_available_places"] == 3
    deleted = call(app, "DELETE", f"/api/v1/studies/{made['id']}/", token="t")
    assert deleted[0] == 400, "only a draft can be deleted"


def test_a_published_client_can_make_a_project_list_submissions_and_screen_out():
    """Further requests of Dallinger 12.4's client, which screens participants itself."""
    world = World()
    app = StandIn(world, token="t")

    def ask(method: str, path: str, body: object = None, query: str = ""):
        status, text, _ = call(app, method, f"/api/v1{path}", token="t", body=body, query=query)
        return status, json.loads(text)

    status, project = ask("POST", f"/workspaces/{world.workspace}/projects/", {"title": "birds"})
    assert status == 201
    projects = ask("GET", f"/workspaces/{world.workspace}/projects/")[1]["results"]
    assert [each["title"] for each in projects] == ["Stand-in", "birds"]
    draft = {
        "name": "n", "description": "d", "external_study_url": "https://a.example/",
        "prolific_id_option": "url_parameters", "completion_code": "A", "reward": 100,
        "total_available_places": 2, "estimated_completion_time": 5, "project": project["id"],
        "is_custom_screening": True,
    }  # fmt: skip
    study = world.study(ask("POST", "/studies/", draft)[1]["id"])
    other = world.study(ask("POST", "/studies/", {**draft, "is_custom_screening": False})[1]["id"])
    path = f"/projects/{world.project}/studies/"
    assert ask("GET", path)[1]["results"] == []
    for each in (study, other):
        world.move_study(each, "PUBLISH")
    screened, kept = (world.take_place(study, name) for name in ("p1", "p2"))
    elsewhere = world.take_place(other, "p1")

    def screen_out(of, *submissions, **more):
        ids = [each.id for each in submissions]
        body = {"submission_ids": ids, "bonus_per_submission": 0.2, **more}
        return ask("POST", f"/studies/{of.id}/screen-out-submissions/", body)[0]

    assert screen_out(study, kept, elsewhere) == 400
    assert screen_out(other, elsewhere) == 400
    assert screen_out(study, screened, increase_places=True) == 200
    assert screen_out(study, screened) == 400

    found = ask("GET", "/submissions/", query=f"study={study.id}")[1]["results"]
    assert [row["status"] for row in found] == ["SCREENED OUT", "ACTIVE"]
    assert (screened.bonuses, kept.bonuses, study.places) == ([20], [], 2)
    assert world.take_place(study, "p3").status == "ACTIVE"
    assert len(ask("GET", "/submissions/")[1]["results"]) == 4
    assert ask("GET", "/messages/unread/") == (
        200,
        {"results": [], "_links": {"next": {"href": None}}},
    )


def test_lists_of_the_stand_in_have_pages():
    world = World()
    app = StandIn(world, token="t")
    for number in range(5):
        world.create({"name": str(number), "estimated_completion_time": 5,
                      "total_available_places": 1, "reward": 100})  # fmt: skip
    path = f"/api/v1/projects/{world.project}/studies/"

    def names(query: str) -> list[str]:
        status, text, _ = call(app, "GET", path, token="t", query=query)
        assert status == 200
        return [row["name"] for row in json.loads(text)["results"]]

    assert names("page=2&page_size=2") == ["2", "3"]
    assert names("page=3&page_size=2&ordering=-date_created") == ["0"]
    for query, status in (("page=4&page_size=2", 404), ("page=0", 400), ("page=x", 400)):
        assert call(app, "GET", path, token="t", query=query)[0] == status


def test_paying_the_same_bonuses_twice_pays_twice_at_the_stand_in(world, panel_api):
    panel_study = published_study()
    study = world.study(panel_study.external_id)
    submission = world.take_place(study, new_id())
    bulk = world.set_up_bonuses(study, [(submission.id, 25)])

    world.pay_bonuses(bulk.id)
    world.pay_bonuses(bulk.id)

    assert submission.bonuses == [25, 25]


@pytest.mark.slow
@pytest.mark.one_database
def test_the_command_prints_what_connects_the_marketplace():
    root = Path(__file__).resolve().parents[3]
    process = subprocess.Popen(
        [sys.executable, "manage.py", "panel_stand_in", "--port", "21599", "--balance", "5"],
        cwd=root, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
    )  # fmt: skip
    try:
        lines = [process.stdout.readline() for _ in range(7)]
    finally:
        process.terminate()
        process.communicate(timeout=30)

    assert "export PROLIFIC_API_URL=http://127.0.0.1:21599\n" in lines
    assert {line.partition("=")[0] for line in lines} == {
        f"export PROLIFIC_{name}"
        for name in (
            "API_URL", "API_TOKEN", "WORKSPACE", "PROJECT", "RETURN_URL", "HOOK_SECRET", "VAT",
        )
    }  # fmt: skip
    assert Decimal(lines[-1].partition("=")[2]) == Decimal("0.20")
