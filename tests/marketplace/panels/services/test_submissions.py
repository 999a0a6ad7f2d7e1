"""Submissions: approved, rejected, asked to return, or left to a person."""

from datetime import timedelta
from decimal import Decimal

import pytest

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import Hit, Study, Transfer, Worker
from marketplace.panels.client import prolific
from marketplace.panels.models import BonusBatch, PanelStudy, PanelSubmission
from marketplace.panels.panel import LONGEST_CODE
from marketplace.panels.services import submissions
from marketplace.services import reviews
from marketplace.services.retention import data_of, forget
from marketplace.services.sweep import sweep
from simulation.prolific.state import Refused, new_id
from tests.marketplace.factories import make_hit
from tests.marketplace.panels.people import (
    agree,
    approve_all,
    arrive,
    assignments_of,
    make_panel_study,
    participate,
    publish,
    published_study,
    run,
    work,
)

pytestmark = pytest.mark.django_db


def test_work_for_a_later_study_approves_no_earlier_one(world, panel_api):
    """Two studies of the same HITs. The participant has left the first one after half of it."""
    first, participant = make_panel_study(hits=2), new_id()
    publish(first)
    client, left = arrive(world, first, participant)
    work(client, first.study, hits=1)
    world.complete(left, "DONE")
    second = make_panel_study(name="The same again", hits=2)
    Study.objects.filter(pk=second.study.pk).update(hit_type=first.study.hit_type)
    second = PanelStudy.objects.get(pk=second.pk)
    make_hit(first.study.hit_type, max_assignments=9)
    Hit.objects.update(expires_at=clock.now() + timedelta(days=60))
    publish(second)
    done = participate(world, second, participant)
    approve_all(second)

    for panel_study in (first, second):
        run(panel_study)

    assert (left.status, done.status) == ("AWAITING REVIEW", "APPROVED")
    question = PanelSubmission.objects.get(panel_study=first).question
    assert question == "The participant did 1 of 2 HITs before returning."


def test_a_bonus_does_not_wait_for_the_work_of_a_later_study(world, panel_api):
    first, participant = make_panel_study(hits=2), new_id()
    publish(first)
    done = participate(world, first, participant)
    approve_all(first)
    second = make_panel_study(name="The same again", hits=2)
    Study.objects.filter(pk=second.study.pk).update(hit_type=first.study.hit_type)
    second = PanelStudy.objects.get(pk=second.pk)
    make_hit(first.study.hit_type, max_assignments=9)
    Hit.objects.update(expires_at=clock.now() + timedelta(days=60))
    publish(second)
    client, _ = arrive(world, second, participant)
    work(client, second.study, hits=1)

    run(first, times=4)

    assert done.bonuses == [50]


def test_the_workers_data_has_the_submissions_and_payments_at_panels(world, panel_api):
    panel_study = published_study()
    submission = participate(world, panel_study, new_id())
    worker = Worker.objects.get()
    participate(world, panel_study, new_id())
    approve_all(panel_study)
    run(panel_study, times=3)

    data = data_of(worker)

    [row] = data["panel_submissions"]
    assert (row["external_id"], row["status"], row["code"]) == (submission.id, "APPROVED", "DONE")
    paid = [(each["kind"], each["amount"]) for each in data["panel_payments"]]
    assert paid == [("reward", Decimal("1.50")), ("bonus", Decimal("0.50"))]


def test_a_participant_of_whom_the_panel_awaits_a_decision_is_not_deleted_as_idle(world, panel_api):
    """They did nothing here, and have not returned the submission there."""
    panel_study = published_study()
    _, submission = arrive(world, panel_study, new_id())
    world.complete(submission, "NOWORK")
    run(panel_study)
    later = clock.now() + timedelta(days=40)
    sweep(at=later)

    forget(at=later)
    run(panel_study, later=timedelta(days=40))

    assert (
        PanelSubmission.objects.get().question == "The participant has not returned the submission."
    )
    world.give_back(submission)
    run(panel_study, later=timedelta(days=40))
    forget(at=later)
    assert not Worker.objects.exists()


def test_a_participant_whom_the_panel_refuses_keeps_nobody_else_from_being_approved(
    world, panel_api, monkeypatch
):
    panel_study = published_study(places=6)
    done = [participate(world, panel_study, new_id()) for _ in range(5)]
    _, unfinished = arrive(world, panel_study, new_id())
    world.complete(unfinished, "NOWORK")
    approve_all(panel_study)
    original = world.approve

    def refuse_one(submission):
        if submission is done[0]:
            raise Refused(400, "This account is closed.")
        original(submission)

    monkeypatch.setattr(world, "approve", refuse_one)
    run(panel_study)

    assert [each.status for each in done] == ["AWAITING REVIEW", *["APPROVED"] * 4]
    assert unfinished.return_requested is not None
    assert "This account is closed." in panel_study.problem


def test_a_participant_who_leaves_early_is_asked_to_return_and_paid_for_approved_work(
    world, panel_api, settings
):
    panel_study = published_study()
    client, submission = arrive(world, panel_study, new_id())
    world.complete(submission, "NOWORK")
    other, partly = arrive(world, panel_study, new_id())
    work(other, panel_study.study, hits=1)
    world.give_back(partly)
    approve_all(panel_study)

    run(panel_study)
    assert submission.return_requested is not None
    assert partly.bonuses == []
    run(panel_study, later=settings.PROLIFIC_UNREWARDED_AFTER + timedelta(hours=1), times=3)

    assert partly.bonuses == [100]
    assert submission.bonuses == []
    agree(world, panel_study)


def test_only_a_person_rejects_and_with_a_long_reason(world, panel_api):
    panel_study = published_study(hits=1)
    submission = participate(world, panel_study, new_id(), hits=1)
    for assignment in assignments_of(panel_study).filter(status="Submitted"):
        reviews.reject(assignment=assignment, feedback="Empty.", at=clock.now())
    run(panel_study)
    [mine] = PanelSubmission.objects.all()
    assert (submission.status, mine.question) == (
        "AWAITING REVIEW", "All of the participant's HITs were rejected.",
    )  # fmt: skip

    panel = prolific()
    with pytest.raises(StudyRefused, match="100"):
        submissions.reject(submission=mine, category="LOW_EFFORT", reason="Bad.", panel=panel)
    submissions.reject(
        submission=mine, category="LOW_EFFORT", reason="The text was empty. " * 6, panel=panel
    )
    run(panel_study)

    assert submission.status == "REJECTED"
    assert PanelSubmission.objects.get().question == ""


def test_nobody_waits_longer_than_the_days_allowed(world, panel_api, settings):
    panel_study = published_study()
    submission = participate(world, panel_study, new_id())

    run(panel_study, later=settings.PROLIFIC_DECIDE_WITHIN - timedelta(hours=1))
    assert submission.status == "AWAITING REVIEW"
    run(panel_study, later=settings.PROLIFIC_DECIDE_WITHIN + timedelta(hours=1))

    assert submission.status == "APPROVED"


def test_somebody_who_never_arrived_is_left_to_a_person(world, panel_api):
    panel_study = published_study()
    stranger = world.take_place(world.study(panel_study.external_id), new_id())
    world.complete(stranger, "DONE")

    run(panel_study)

    assert stranger.status == "AWAITING REVIEW"
    assert "Nobody arrived" in PanelSubmission.objects.get().question


@pytest.mark.parametrize("code", ["I forgot the code. " * 50, "DONE\0", "DONE\ud800"])
def test_no_code_keeps_a_study_from_being_read(world, panel_api, code):
    panel_study = published_study()
    stranger = world.take_place(world.study(panel_study.external_id), new_id())
    world.complete(stranger, code)

    assert run(panel_study).problem == ""
    stored = PanelSubmission.objects.get().code
    assert len(stored) <= LONGEST_CODE
    assert stored != "DONE"


def test_the_panels_ids_of_participants_are_in_one_table_only(world, panel_api):
    panel_study = published_study()
    participant = new_id()
    participate(world, panel_study, participant)
    approve_all(panel_study)
    run(panel_study, times=4)

    for model in (PanelStudy, PanelSubmission, BonusBatch, Transfer):
        assert model.objects.exists()
        assert not any(participant in str(row) for row in model.objects.values())
