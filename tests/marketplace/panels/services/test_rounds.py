"""Rounds of a study: when they are due, and what a fault leaves for the next one."""

from datetime import timedelta

import pytest
from django.db import IntegrityError

from marketplace import clock
from marketplace.panels.models import PanelStudy
from marketplace.panels.services import bonuses, rounds
from simulation.prolific.state import Submission, new_id
from tests.marketplace.panels.people import approve_all, arrive, participate, published_study, run

pytestmark = pytest.mark.django_db


def test_a_published_study_that_the_panel_does_not_find_stays_linked(world, panel_api):
    panel_study = published_study()
    known = panel_study.external_id
    panel_api.fault = lambda *_: 404

    run(panel_study)

    assert panel_study.external_id == known
    assert "404" in panel_study.problem


@pytest.mark.parametrize("started_at", [None, "soon", 5])
def test_a_submission_that_cannot_be_read_does_not_stop_the_others(
    world, panel_api, monkeypatch, started_at
):
    panel_study = published_study(places=2)
    broken, fine = [
        world.take_place(world.study(panel_study.external_id), new_id()) for _ in range(2)
    ]
    shown = Submission.shown

    def shown_broken(submission):
        return shown(submission) | ({"started_at": started_at} if submission is broken else {})

    monkeypatch.setattr(Submission, "shown", shown_broken)
    run(panel_study)

    assert [each.external_id for each in panel_study.submissions.all()] == [fine.id]
    assert broken.id in panel_study.problem
    assert panel_study.read_at is None
    monkeypatch.setattr(Submission, "shown", shown)
    assert run(panel_study).problem == ""
    assert panel_study.submissions.count() == 2


def test_a_place_that_nobody_has_begun_is_no_problem(world, panel_api, monkeypatch):
    panel_study = published_study()
    reserved = world.take_place(world.study(panel_study.external_id), new_id())
    row = {**reserved.shown(), "status": "RESERVED", "started_at": None}
    monkeypatch.setattr(Submission, "shown", lambda _: row)

    assert run(panel_study).problem == ""

    assert not panel_study.submissions.exists()
    assert panel_study.read_at is not None


def test_an_error_of_the_site_itself_is_shown_with_the_study(world, panel_api, monkeypatch):
    panel_study = published_study()

    def broken(**_arguments):
        raise IntegrityError("panel_bonus_once_per_batch")

    monkeypatch.setattr(bonuses, "plan_batch", broken)
    run(panel_study)

    assert "IntegrityError" in panel_study.problem
    assert panel_study.read_at is not None


@pytest.mark.parametrize("status", [400, 500])
def test_a_request_to_return_that_fails_is_repeated_and_keeps_no_other_step_from_being_taken(
    world, panel_api, status
):
    panel_study = published_study()
    idle = [arrive(world, panel_study, new_id())[1] for _ in range(2)]
    for each in idle:
        world.complete(each, "NONE")
    done = participate(world, panel_study, new_id())
    approve_all(panel_study)
    panel_api.fault = lambda _method, path, when: (
        status if path.endswith(f"{idle[0].id}/request-return/") and when == "before" else None
    )

    run(panel_study)
    panel_api.fault = lambda *_: None
    assert done.status == "APPROVED"
    run(panel_study)

    assert all(each.return_requested is not None for each in idle)


def test_a_round_takes_a_study_once_when_it_is_due(world, panel_api, settings):
    settings.PROLIFIC_SECONDS = 60
    panel_study = published_study()

    at = clock.now()
    assert rounds.follow(at=at) == 1
    assert rounds.follow(at=at) == 0
    rounds.note_hook(resource=panel_study.external_id, at=at)
    assert rounds.follow(at=at + rounds.HOOKS_GATHERED) == 1


def test_a_study_is_read_whose_next_time_a_clock_set_while_it_was_ahead(world, panel_api, settings):
    settings.PROLIFIC_SECONDS = 60
    published_study()
    at = clock.now()
    PanelStudy.objects.update(read_next_at=at + timedelta(days=365))

    assert rounds.follow(at=at) == 1
    assert rounds.follow(at=at) == 0


def test_a_study_that_slow_rounds_have_taken_is_taken_by_no_other_process(
    world, panel_api, settings
):
    settings.PROLIFIC_SECONDS = 60
    published_study()
    began = clock.now() - timedelta(minutes=2)
    PanelStudy.objects.update(read_next_at=began)

    assert rounds.follow(at=began) == 1
    assert rounds.follow(at=clock.now()) == 0
