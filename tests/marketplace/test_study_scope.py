"""A panel id gives access to the work of its study only, because anybody can put it in a URL."""

from copy import deepcopy
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import (
    Assignment,
    AssignmentStatus,
    Attempt,
    Hit,
    Message,
    Participation,
    Worker,
)
from marketplace.services import assignments, reviews, studies
from marketplace.services.links import sign_in_url
from tests.marketplace import factories
from tests.marketplace.factories import make_hit, make_hit_type, make_requester
from tests.worlds import shared_rows

pytestmark = pytest.mark.django_db

PANEL_ID = "p1"
NOT_PART_OF_IT = {
    "profile": "GET",
    "set_country": "POST",
    "set_adult": "POST",
    "set_password": "POST",
    "sign_out_everywhere": "POST",
    "preview": "GET",
    "accept": "POST",
    "group_link": "GET",
    "group_link_accept": "GET",
    "project": "GET",
    "projects": "GET",
    "project_accept": "GET",
    "queue": "GET",
    "qualification": "GET",
    "ask": "POST",
    "hand_in": "POST",
    "auto_accept": "POST",
    "earnings": "GET",
    "statement": "GET",
    "statement_csv": "GET",
    "messages": "GET",
    "people_home": "GET",
    "people_agree": "POST",
    "people_withdraw": "GET",
    "people_next": "POST",
    "people_task": "GET",
    "people_return": "POST",
    "people_done": "GET",
    "people_messages": "GET",
    "people_account": "GET",
}
# What a stranger can open as well, where a session neither gives nor takes anything.
OPEN_TO_STRANGERS = {
    "healthz", "readyz", "metrics",
    "sign_in", "sign_in_by_link", "sign_out", "sign_up", "invitation", "sso", "join",
    "question_frame", "external_submit", "people_welcome", "people_stop_mail", "prolific_hook",
    "set_clock", "set_faults", "set_settings", "make_requester", "make_worker",
}  # fmt: skip
OF_THE_STUDY = {
    "groups", "study", "study_next", "study_screening", "study_attention", "study_complete",
    "assignment", "return",
}  # fmt: skip


def make_open_hit_type(title: str):
    hit_type = make_hit_type(title=title)
    for _ in range(3):
        make_hit(hit_type, max_assignments=5)
    Hit.objects.update(expires_at=clock.now() + timedelta(hours=1))
    return hit_type


def make_study(name: str, hit_type, **changes):
    fields = {"assignments": 2, "completion_code": f"CODE-{name}", **changes}
    return factories.make_study(hit_type, name=name, at=clock.now(), **fields)


def arrive(client: Client, slug: str, identifier: str = PANEL_ID):
    return client.post(f"/join/{slug}", {"PROLIFIC_PID": identifier})


@pytest.fixture(scope="module")
def shared_victim(django_db_setup, django_db_blocker):
    with shared_rows(django_db_blocker):
        yield make_victim()


@pytest.fixture
def victim(shared_victim):
    """A participant with work inside and outside two studies, money, and a message."""
    return deepcopy(shared_victim)


def make_victim() -> SimpleNamespace:
    types = {name: make_open_hit_type(name) for name in ("first", "second", "outside")}
    for name in ("first", "second"):
        make_study(name, types[name])
    own = Client()
    paid = arrive(own, "second").url
    worker = Worker.objects.get()
    found = Assignment.objects.get(public_id=paid.rpartition("/")[2])
    assignments.submit(assignment=found, answer="<a/>", at=clock.now())
    reviews.approve(assignment=found, at=clock.now())
    Message.objects.create(
        requester=make_requester(), worker=worker, subject="Confidential", text="Between us.",
        sent_at=clock.now(),
    )  # fmt: skip
    return SimpleNamespace(
        worker=worker,
        types=types,
        second=own.post("/studies/second/next").url,
        outside=assignments.accept(
            worker=worker, hit_type=types["outside"], at=clock.now()
        ).get_absolute_url(),
    )


@pytest.fixture
def forger(victim) -> Client:
    """An attacker who put the participant's panel id into the URL of the first study."""
    client = Client()
    assert arrive(client, "first").status_code == 303
    return client


def address(name: str, victim) -> str:
    arguments = {
        "preview": [victim.types["outside"].public_id],
        "accept": [victim.types["outside"].public_id],
        "project": [victim.types["first"].group_id],
        "project_accept": [victim.types["first"].group_id],
        "qualification": ["3QUALIFICATION"],
        "ask": ["3QUALIFICATION"],
        "hand_in": ["3QUALIFICATION"],
        "people_agree": [1],
        "people_withdraw": [1],
        "people_next": [1],
        "people_task": ["3ASSIGNMENT"],
        "people_return": ["3ASSIGNMENT"],
        "statement": [clock.now().year, clock.now().month],
        "statement_csv": [clock.now().year, clock.now().month],
    }
    return reverse(name, args=arguments.get(name, []))


def test_every_route_of_the_site_is_judged_here():
    """A new route is outside studies until it is listed here."""
    patterns = get_resolver("marketplace.urls").url_patterns
    names = {each.name for each in patterns if not isinstance(each, URLResolver)}

    assert names == set(NOT_PART_OF_IT) | OPEN_TO_STRANGERS | OF_THE_STUDY


@pytest.mark.parametrize("name", sorted(NOT_PART_OF_IT))
@pytest.mark.parametrize("follow", [False, True])
def test_a_page_of_the_account_is_not_there(victim, forger, name, follow):
    before = Worker.objects.values().get()
    method = forger.get if NOT_PART_OF_IT[name] == "GET" else forger.post
    fields = {"password": "a new long password", "current": "", "country": "NL", "adult": "1"}

    response = method(address(name, victim), fields, follow=follow)

    assert response.status_code == 404
    assert "not part of your study" in response.content.decode()
    assert Worker.objects.values().get() == before


def test_the_list_of_hits_is_the_study(forger):
    response = forger.get("/")

    assert (response.status_code, response.url) == (302, "/studies/first")


def test_another_study_of_the_same_person_is_not_there(forger):
    assert forger.get("/studies/second").status_code == 404
    assert forger.get("/studies/second/complete").status_code == 404
    assert forger.post("/studies/second/next").status_code == 404


@pytest.mark.parametrize("which", ["second", "outside"])
def test_other_work_of_the_same_person_is_not_there(victim, forger, which):
    path = getattr(victim, which)

    assert forger.get(path).status_code == 404
    assert forger.post(f"{path}/return").status_code == 404
    submitted = forger.post(
        "/mturk/externalSubmit", {"assignmentId": path.rpartition("/")[2], "caption": "Forged."}
    )

    assert submitted.status_code == 409
    statuses = Assignment.objects.filter(public_id=path.rpartition("/")[2])
    assert statuses.get().status == AssignmentStatus.ACCEPTED


def test_work_of_the_type_from_before_the_study_is_not_there(victim):
    """The worker did HITs of the type before the study existed."""
    earlier = assignments.accept(
        worker=victim.worker, hit_type=victim.types["outside"], at=clock.now()
    )
    make_study("third", victim.types["outside"])
    client = Client()
    arrive(client, "third")

    assert client.get(earlier.get_absolute_url()).status_code == 404


def test_operators_pages_are_not_there(forger):
    for each in get_resolver("marketplace.operator.urls").url_patterns:
        arguments = {name: 1 for name in each.pattern.converters} | {
            name: "x"
            for name, kind in each.pattern.converters.items()
            if type(kind).__name__ != "IntConverter"
        }
        path = reverse(f"operator:{each.name}", kwargs=arguments)
        if each.name not in {"sign_in", "end_hand_over", "new_password"}:
            answers = [forger.get(path), forger.post(path)]
            served = [response for response in answers if response.status_code != 405]
            assert {response.url.split("?")[0] for response in served} == {
                reverse("operator:sign_in")
            }


def test_a_forged_panel_id_opens_only_that_studys_work(forger):
    page = forger.get("/studies/first").content.decode()
    task = forger.post("/studies/first/next")

    assert "0 of 2 tasks done" in page
    assert forger.get(task.url).status_code == 200
    shown = page + forger.get(task.url).content.decode()
    assert "Confidential" not in shown
    # The header leads to none of the worker's own pages, and does not name the worker.
    for hidden in ("/earnings", "/profile", "/queue", "/messages", 'class="worker-id"'):
        assert hidden not in shown


def test_the_study_is_done_from_such_a_session(forger):
    for _ in range(2):
        path = forger.post("/studies/first/next").url
        submitted = forger.post(
            "/mturk/externalSubmit", {"assignmentId": path.rpartition("/")[2], "caption": "A dog."}
        )
        assert submitted.status_code == 200

    assert forger.get("/studies/first/complete").status_code == 302


def test_returning_a_hit_leads_back_to_the_study(forger):
    path = forger.post("/studies/first/next").url

    assert forger.post(f"{path}/return").url == "/studies/first"


def give_password(worker: Worker) -> None:
    Worker.objects.filter(pk=worker.pk).update(password=make_password("a long password"))


def test_an_account_with_a_password_is_never_entered_by_a_panel_id(victim):
    give_password(victim.worker)
    client = Client()

    response = arrive(client, "first")

    assert response.status_code == 403
    assert "has a password" in response.content.decode()
    assert client.get("/studies/first").url.startswith("/sign-in")
    assert not Participation.objects.filter(study__slug="first").exists()


def test_a_session_that_a_panel_began_ends_when_the_account_gets_a_password(victim, forger):
    give_password(victim.worker)

    assert forger.get("/studies/first").url.startswith("/sign-in")
    assert forger.post("/studies/first/next").url.startswith("/sign-in")


def test_a_worker_who_signs_in_with_the_password_continues_the_study(victim):
    give_password(victim.worker)
    client = Client()
    refused = arrive(client, "first").content.decode()
    assert 'href="/sign-in?next=%2Fjoin%2Ffirst%3FPROLIFIC_PID%3Dp1"' in refused

    client.post("/sign-in", {"name": victim.worker.name, "password": "a long password"})

    assert arrive(client, "first").status_code == 303
    assert client.get("/studies/first").status_code == 200
    # It is still the worker's own session.
    assert client.get("/earnings").status_code == 200


def test_signing_out_everywhere_ends_such_sessions_too(victim, forger):
    own = Client()
    own.get("/" + sign_in_url(victim.worker).split("/", 3)[3])
    own.post("/profile/sign-out")

    assert forger.get("/studies/first").url.startswith("/sign-in")


def test_a_session_from_a_panel_lasts_a_day(forger):
    assert forger.session.get_expiry_age() <= timedelta(days=1).total_seconds()


def test_arriving_again_in_the_same_session_makes_no_new_one(forger):
    key = forger.session.session_key

    arrive(forger, "first")

    assert forger.session.session_key == key


@pytest.mark.parametrize("name", ["sso", "csrfmiddlewaretoken", "", "a b", "x" * 65, "id&next"])
def test_a_panels_parameter_cannot_pass_for_another_source(name):
    """Workers introduced by another site have the source `sso`."""
    with pytest.raises(StudyRefused, match="parameter"):
        make_study("Scenes", make_open_hit_type("Scenes"), id_parameter=name)


def test_arrivals_from_one_address_are_limited(victim, settings):
    settings.ARRIVALS_PER_ADDRESS = 3
    Attempt.objects.all().delete()

    statuses = [arrive(Client(), "first").status_code for _ in range(5)]

    assert statuses == [303, 303, 303, 429, 429]


def test_ids_cannot_be_guessed_at_a_closed_study_without_limit(victim, settings):
    settings.ARRIVALS_PER_ADDRESS = 2
    Attempt.objects.all().delete()
    studies.set_open(study=Participation.objects.first().study, is_open=False)

    statuses = [arrive(Client(), "second", f"guess {n}").status_code for n in range(4)]

    assert statuses == [403, 403, 429, 429]


def test_a_frame_without_a_session_submits(victim):
    """Frames may have no session; the assignment's id is sufficient then."""
    response = Client().post(
        "/mturk/externalSubmit",
        {"assignmentId": victim.second.rpartition("/")[2], "caption": "A dog."},
    )

    assert response.status_code == 200
