"""The stand-in for Prolific in this process, and participants who work through the site's pages."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import requests
from django.test import Client
from requests.adapters import BaseAdapter

from marketplace import clock
from marketplace.models import Assignment, Hit, Participation, Screening, Study
from marketplace.panels import client as prolific_client
from marketplace.panels.models import PanelStudy
from marketplace.panels.services import amounts, rounds
from marketplace.panels.services import studies as panel_studies
from marketplace.services import assignments, reviews, studies
from simulation.prolific.routes import Routes
from simulation.prolific.state import Submission, World, new_id
from tests.marketplace.factories import make_hit, make_hit_type, make_requester, make_study
from tests.marketplace.panels.prolific_requests import check_request

TOKEN = "a token of the test"
ADDRESS = "https://prolific.test"
REWARD = Decimal("2.00")


class StandInAdapter(BaseAdapter):
    """Answers a session's requests from a World; `fault` may answer or raise around each.

    Each request is checked against Prolific's reference first.
    """

    def __init__(self, world: World) -> None:
        super().__init__()
        self.routes = Routes(world, token=TOKEN)
        self.calls: list[str] = []
        self.documented: set[str] = set()
        # Called with the method, the path and "before" or "after"; returns a status, or None.
        self.fault: Callable[[str, str, str], int | None] = lambda *_: None

    def send(self, request, **_kwargs) -> requests.Response:
        path = urlsplit(request.url).path
        self.calls.append(f"{request.method} {path}")
        body = json.loads(request.body) if request.body else None
        self.documented.add(check_request(request.method, request.path_url, body))
        status = self.fault(request.method, path, "before")
        content, headers = None, {}
        if status is None:
            status, content, headers = self.routes.answer(
                request.method, request.path_url, request.headers.get("Authorization", ""), body
            )
            lost = self.fault(request.method, path, "after")
            if lost is not None:
                status, content = lost, None
        response = requests.Response()
        response.status_code, response.request, response.url = status, request, request.url
        response.headers.update(headers)
        response._content = b"" if content is None else json.dumps(content).encode()
        return response

    def close(self) -> None:
        pass


def connect(world: World, settings, monkeypatch) -> StandInAdapter:
    """Let the site talk to this world in place of Prolific."""
    adapter = StandInAdapter(world)

    def new_session() -> requests.Session:
        session = requests.Session()
        session.trust_env = False
        session.mount("https://", adapter)
        return session

    monkeypatch.setattr(prolific_client, "new_session", new_session)
    settings.PROLIFIC_API_TOKEN = TOKEN
    settings.PROLIFIC_API_URL = ADDRESS
    settings.PROLIFIC_WORKSPACE, settings.PROLIFIC_PROJECT = world.workspace, world.project
    settings.PROLIFIC_VAT = Decimal("0.20")
    settings.PROLIFIC_BONUS_EVERY = timedelta(0)
    return adapter


def make_panel_study(
    *,
    name: str = "Everyday scenes",
    hits: int = 2,
    places: int = 3,
    reward: str = "1.50",
    per_hit: str = "1.00",
    screening: Screening | None = None,
    **plan,
) -> PanelStudy:
    """A study of `hits` HITs a participant, planned for the panel and not yet a draft there."""
    requester = make_requester(balance="100000.00")
    hit_type = make_hit_type(requester, reward=Decimal(per_hit), auto_approval_delay=timedelta(30))
    for _ in range(hits):
        make_hit(hit_type, max_assignments=places + 5)
    Hit.objects.update(expires_at=clock.now() + timedelta(days=60))
    study = make_study(
        hit_type,
        at=clock.now(),
        name=name,
        assignments=hits,
        no_work_code="NOWORK",
        return_url="https://app.prolific.test/submissions/complete",
    )
    if screening is not None:
        studies.set_screening(study=study, screening=screening)
    fields = {
        "description": "Describe photographs.",
        "reward": Decimal(reward),
        "minutes": 5,
        "places": places,
        **plan,
    }
    return panel_studies.plan_study(panel_study=PanelStudy(study=study, **fields), at=clock.now())


def publish(panel_study: PanelStudy, at: datetime | None = None) -> None:
    """Create the draft and publish it at the cost that is shown."""
    at = at or clock.now()
    panel_studies.make_draft(panel_study=panel_study, at=at)
    offer = panel_studies.offer(panel_study=panel_study, places=panel_study.places)
    panel_studies.publish(panel_study=panel_study, confirmed=offer.total, at=at)


def published_study(**plan) -> PanelStudy:
    """A study that `make_panel_study` plans, published at the panel."""
    panel_study = make_panel_study(**plan)
    publish(panel_study)
    return panel_study


def arrive(world: World, panel_study: PanelStudy, participant: str) -> tuple[Client, Submission]:
    """A participant takes a place at the panel and follows the study's link."""
    at_panel = world.study(panel_study.external_id)
    submission = world.take_place(at_panel, participant)
    address = urlsplit(at_panel.fields["external_study_url"])
    marks = {"PROLIFIC_PID": participant, "STUDY_ID": at_panel.id, "SESSION_ID": submission.id}
    query = {name: marks[name] for name, _ in parse_qsl(address.query)}
    client = Client()
    client.post(address.path, query)
    return client, submission


def work(client: Client, study: Study, *, hits: int) -> None:
    """Submit this many HITs on the study's pages."""
    for number in range(hits):
        path = client.post(f"/studies/{study.slug}/next").url
        answer = client.post(
            "/mturk/externalSubmit",
            {"assignmentId": path.rpartition("/")[2], "caption": f"A dog {number}."},
        )
        assert answer.status_code == 200, answer.content.decode()


def go_back(world: World, client: Client, study: Study, submission: Submission) -> None:
    """Return to the panel with the code of the study's last page."""
    target = client.get(f"/studies/{study.slug}/complete").url
    world.complete(submission, dict(parse_qsl(urlsplit(target).query))["cc"])


def assignments_of(panel_study: PanelStudy):
    return Assignment.objects.filter(hit__hit_type=panel_study.study.hit_type)


def run(panel_study: PanelStudy, *, times: int = 1, later: timedelta = timedelta(0)) -> PanelStudy:
    for _ in range(times):
        rounds.run_round(panel_study=panel_study, at=clock.now() + later)
        panel_study.refresh_from_db()
    return panel_study


def participate(world, panel_study, participant, *, hits=2):
    client, submission = arrive(world, panel_study, participant)
    work(client, panel_study.study, hits=hits)
    go_back(world, client, panel_study.study, submission)
    return submission


def approve_all(panel_study) -> None:
    for assignment in assignments_of(panel_study).filter(status="Submitted"):
        reviews.approve(assignment=assignment, at=clock.now())


def approved_work(world, **plan) -> tuple[PanelStudy, Submission]:
    """A published study, and a submission in it whose HITs are approved."""
    panel_study = published_study(**plan)
    submission = participate(world, panel_study, new_id())
    approve_all(panel_study)
    return panel_study, submission


def agree(world, panel_study) -> None:
    """The ledger here and the stand-in have the same amounts, to the cent."""
    here = amounts.recorded(panel_study)
    cents = {name: int(amount * 100) for name, amount in vars(here).items()}
    assert cents == world.spent(world.study(panel_study.external_id))


def give_bonus(panel_study, amount: str) -> None:
    assignment = assignments_of(panel_study).first()
    reviews.send_bonus(
        requester=panel_study.study.hit_type.requester, worker=assignment.worker,
        assignment=assignment, amount=Decimal(amount), reason="Very good.", at=clock.now(),
    )  # fmt: skip


def paid_by_hand(worker) -> None:
    """The worker earns $5.00 in a study that no panel pays by its API."""
    study = make_panel_study(name="By hand", hits=1, per_hit="5.00").study
    study.at_panel.delete()
    participation = Participation.objects.create(study=study, worker=worker, started_at=clock.now())
    assignment = studies.next_assignment(participation=participation, at=clock.now())
    assignments.submit(assignment=assignment, answer="<a/>", at=clock.now())
    reviews.approve(assignment=assignment, at=clock.now())
