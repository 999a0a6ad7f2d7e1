"""A study at Prolific's stand-in: draft, publication, submissions, approval and bonuses."""

from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
import requests
from bs4 import BeautifulSoup
from django.db import IntegrityError, connection
from django.test import Client
from django.urls import reverse

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import (
    Account,
    ExternalIdentity,
    Hit,
    Participation,
    Study,
    Transfer,
    TransferKind,
    Worker,
)
from marketplace.pages.links import sign_in_url
from marketplace.panels.client import prolific
from marketplace.panels.models import (
    BatchState,
    BonusBatch,
    PanelPayment,
    PanelStudy,
    PanelSubmission,
    PanelTransfer,
)
from marketplace.panels.panel import PanelRefused, PanelUnclear, StudyAction
from marketplace.panels.services import amounts, bonuses, rounds, submissions
from marketplace.panels.services import studies as panel_studies
from marketplace.services import assignments, money, reviews, studies
from marketplace.services.retention import CannotErase, data_of, erase_worker, forget
from marketplace.services.sweep import sweep
from simulation.prolific.state import Refused, Submission, new_id
from tests.marketplace.factories import make_hit, make_worker
from tests.marketplace.panels.people import (
    agree,
    approve_all,
    arrive,
    assignments_of,
    give_bonus,
    go_back,
    make_panel_study,
    paid_by_hand,
    participate,
    publish,
    run,
    work,
)
from tests.marketplace.panels.prolific_requests import DOCUMENTED
from tests.races import while_open

pytestmark = pytest.mark.django_db


def test_a_study_becomes_a_draft_and_is_published_at_the_cost_that_was_shown(world, there):
    panel_study = make_panel_study(filters=[{"filter_id": "age", "selected_values": ["1"]}])

    publish(panel_study)

    [study] = world.studies.values()
    assert (study.status, panel_study.status) == ("ACTIVE", "ACTIVE")
    assert study.fields["reward"] == 150
    # In five minutes; the panel's own default is its longest time.
    assert study.fields["maximum_allowed_time"] == 17
    assert study.fields["filters"] == [{"filter_id": "age", "selected_values": ["1"]}]
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in study.fields["external_study_url"]
    codes = {
        each["code"]: each["actions"][0]["action"] for each in study.fields["completion_codes"]
    }
    assert codes == {"DONE": "MANUALLY_REVIEW", "NOWORK": "REQUEST_RETURN"}


def test_a_draft_whose_answer_was_lost_is_found_and_not_made_twice(world, there):
    panel_study = make_panel_study()
    there.fault = lambda method, path, when: (
        500 if (method, when) == ("POST", "after") and path.endswith("/studies/") else None
    )
    with pytest.raises(PanelUnclear):
        panel_studies.make_draft(panel_study=panel_study, at=clock.now())
    there.fault = lambda *_: None

    panel_studies.make_draft(panel_study=panel_study, at=clock.now())

    assert [study.id for study in world.studies.values()] == [panel_study.external_id]


def test_a_draft_that_was_deleted_at_the_panel_can_be_made_again(world, there):
    panel_study = make_panel_study()
    panel_studies.make_draft(panel_study=panel_study, at=clock.now())
    world.delete(world.study(panel_study.external_id))

    run(panel_study)
    assert (panel_study.external_id, panel_study.status) == ("", "")
    assert "deleted" in panel_study.problem
    panel_studies.make_draft(panel_study=panel_study, at=clock.now())

    assert [study.id for study in world.studies.values()] == [panel_study.external_id]
    assert run(panel_study).problem == ""


def test_a_published_study_that_the_panel_does_not_find_stays_linked(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    known = panel_study.external_id
    there.fault = lambda *_: 404

    run(panel_study)

    assert panel_study.external_id == known
    assert "404" in panel_study.problem


def test_of_two_drafts_made_at_once_the_first_stays_the_studys(world, there):
    panel_study = make_panel_study()
    other = PanelStudy.objects.get()

    def make_another(method, path, when):
        if (method, when) == ("POST", "before") and path.endswith("/studies/"):
            there.fault = lambda *_: None
            publish(other)

    there.fault = make_another
    panel_studies.make_draft(panel_study=panel_study, at=clock.now())

    assert panel_study.external_id == other.external_id
    assert panel_study.status == "ACTIVE"


@pytest.mark.parametrize("project", ["of the world", ""])
def test_a_draft_is_found_among_hundreds_of_studies(world, there, settings, project):
    if not project:
        settings.PROLIFIC_PROJECT = ""
    panel_study = make_panel_study()
    there.fault = lambda method, path, when: (
        500 if (method, when) == ("POST", "after") and path.endswith("/studies/") else None
    )
    with pytest.raises(PanelUnclear):
        panel_studies.make_draft(panel_study=panel_study, at=clock.now())
    there.fault = lambda *_: None
    [draft] = world.studies.values()
    for number in range(250):
        world.create({**draft.fields, "internal_name": f"another {number}"})

    panel_studies.make_draft(panel_study=panel_study, at=clock.now())

    assert panel_study.external_id == draft.id
    assert len(world.studies) == 251


def test_all_submissions_and_subscriptions_are_read_from_all_pages(world, there, settings):
    panel_study = make_panel_study(places=45)
    publish(panel_study)
    for _ in range(45):
        world.take_place(world.study(panel_study.external_id), new_id())
    panel = prolific()
    panel.make_hook_secret()
    for number in range(45):
        panel.subscribe("study.status.change", f"https://site.example/{number}")

    assert len(panel.submissions(panel_study.external_id)[0]) == 45
    assert len({each.address for each in panel.subscriptions()}) == 45


def test_a_study_whose_later_pages_are_refused_is_not_read(world, there):
    """Those on the other pages would seem to hold no place."""
    panel_study = make_panel_study(places=45)
    publish(panel_study)
    for _ in range(45):
        world.take_place(world.study(panel_study.external_id), new_id())

    def refuse_second(_method, path, when):
        is_list = path.endswith("/submissions/")
        pages = sum(call.endswith("/submissions/") for call in there.calls)
        return 403 if is_list and when == "before" and pages == 2 else None

    there.fault = refuse_second
    run(panel_study)

    assert "Prolific refused" in panel_study.problem
    assert panel_study.read_at is None


def test_each_request_of_the_client_is_in_the_panels_reference(world, there, settings):
    panel_study = make_panel_study(is_signed=True, devices=["mobile"])
    publish(panel_study)
    panel, study = prolific(), world.study(panel_study.external_id)
    done = [world.take_place(study, new_id()) for _ in range(3)]
    for each in done:
        world.complete(each, "DONE")
    panel.ask_to_return(done[0].id, "You did not finish the study.")
    panel.approve([done[1].id])
    panel.reject(done[2].id, category="LOW_EFFORT", reason="The text was empty. " * 6)
    panel.pay_bonuses(panel.set_up_bonuses(study.id, {done[1].id: Decimal("0.50")}).id)
    panel.bonuses_of(done[1].id)
    panel.submissions(study.id)
    panel.spent(study.id)
    panel.set_places(study.id, 9)
    panel.make_hook_secret()
    panel.hook_secret()
    panel.unsubscribe(panel.subscribe("study.status.change", "https://site.example/").id)
    panel.subscriptions()
    replace(panel, project="").find_study("none")

    # Each was checked when it was sent; this is all that there is.
    assert there.documented == DOCUMENTED.keys()


def test_nothing_is_published_at_another_cost_or_without_the_money(world, there):
    panel_study = make_panel_study()
    panel_studies.make_draft(panel_study=panel_study, at=clock.now())

    with pytest.raises(StudyRefused, match="confirm it again"):
        panel_studies.publish(panel_study=panel_study, confirmed=Decimal("1.00"), at=clock.now())
    world.balance = 100
    with pytest.raises(StudyRefused, match="does not cover"):
        publish(panel_study)

    assert world.study(panel_study.external_id).status == "UNPUBLISHED"


def test_a_study_is_paused_started_stopped_and_gets_more_places(world, there):
    panel_study = make_panel_study(places=2)
    publish(panel_study)
    for action, status in (("PAUSE", "PAUSED"), ("START", "ACTIVE")):
        panel_studies.change_status(
            panel_study=panel_study, action=StudyAction(action), at=clock.now()
        )
        assert world.study(panel_study.external_id).status == status

    offer = panel_studies.offer(panel_study=panel_study, places=3)
    panel_studies.add_places(
        panel_study=panel_study, places=5, confirmed=offer.total, at=clock.now()
    )

    assert (world.study(panel_study.external_id).places, panel_study.places) == (5, 5)
    panel_studies.change_status(panel_study=panel_study, action=StudyAction.STOP, at=clock.now())
    with pytest.raises(PanelRefused, match="COMPLETED"):
        panel_studies.change_status(
            panel_study=panel_study, action=StudyAction.PAUSE, at=clock.now()
        )


def test_a_reward_below_the_panels_least_is_refused(there):
    with pytest.raises(StudyRefused, match="per hour"):
        make_panel_study(reward="0.50", minutes=5)


def test_a_study_that_takes_ids_by_another_name_is_refused(there):
    """The panel would send everybody to the same address, and all were one participant."""
    panel_study = make_panel_study()
    study, plan = panel_study.study, plan_of(panel_study)
    panel_study.delete()
    Study.objects.update(id_parameter="participant")
    study.refresh_from_db()

    with pytest.raises(StudyRefused, match="PROLIFIC_PID"):
        panel_studies.plan_study(study=study, plan=plan, at=clock.now())


def plan_of(panel_study) -> panel_studies.PanelPlan:
    names = [each.name for each in fields(panel_studies.PanelPlan)]
    return panel_studies.PanelPlan(**{name: getattr(panel_study, name) for name in names})


def test_a_participant_is_approved_and_gets_what_was_earned_above_the_reward(world, there):
    panel_study = make_panel_study(hits=2, per_hit="1.00", reward="1.50")
    publish(panel_study)
    submission = participate(world, panel_study, new_id())
    run(panel_study)
    assert submission.status == "AWAITING REVIEW"

    approve_all(panel_study)
    for _ in range(4):
        run(panel_study)

    assert (submission.status, submission.bonuses) == ("APPROVED", [50])
    assert BonusBatch.objects.get().state == BatchState.PAID
    agree(world, panel_study)
    assert money.balances() == {}


def test_who_earned_less_than_the_reward_gets_no_bonus(world, there):
    panel_study = make_panel_study(hits=1, per_hit="0.00", reward="1.50")
    publish(panel_study)
    submission = participate(world, panel_study, new_id(), hits=1)
    approve_all(panel_study)
    for _ in range(3):
        run(panel_study)

    assert (submission.status, submission.bonuses) == ("APPROVED", [])
    agree(world, panel_study)


def test_bonuses_of_the_requesters_after_the_payment_follow(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    submission = participate(world, panel_study, new_id())
    approve_all(panel_study)
    for _ in range(4):
        run(panel_study)

    for amount in ("0.25", "0.15"):
        give_bonus(panel_study, amount)
        for _ in range(3):
            run(panel_study)

    assert submission.bonuses == [50, 25, 15]
    agree(world, panel_study)


def test_a_study_at_a_panel_hides_nothing_that_is_owed_for_other_work(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    participate(world, panel_study, new_id())
    approve_all(panel_study)
    worker = Worker.objects.get()
    paid_by_hand(worker)
    assert money.balances() == {worker.pk: Decimal("5.00")}

    for _ in range(4):
        run(panel_study)

    assert money.balances() == {worker.pk: Decimal("5.00")}
    with pytest.raises(CannotErase, match=r"\$5\.00"):
        erase_worker(worker=worker, at=clock.now())
    money.pay_out(at=clock.now())
    assert money.balances() == {}
    erase_worker(worker=worker, at=clock.now())


def test_a_worker_reads_what_a_payout_will_pay_without_what_the_panel_pays(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    participate(world, panel_study, new_id())
    approve_all(panel_study)
    worker = Worker.objects.get()
    paid_by_hand(worker)
    client = Client()
    client.get(urlsplit(sign_in_url(worker)).path)

    page = BeautifulSoup(client.get("/earnings").content, "lxml").get_text(" ", strip=True)

    assert "Total earned $7.00" in page
    assert "Not yet paid out $5.00" in page


def test_work_for_a_later_study_approves_no_earlier_one(world, there):
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


def test_who_worked_before_the_study_was_at_a_panel_is_paid_by_hand(world, there):
    panel_study = make_panel_study(hits=1)
    worker = make_worker()
    before = clock.now() - timedelta(hours=1)
    participation = Participation.objects.create(
        study=panel_study.study, worker=worker, started_at=before
    )
    assignment = studies.next_assignment(participation=participation, at=before)
    assignments.submit(assignment=assignment, answer="<a/>", at=before)
    reviews.approve(assignment=assignment, at=before)

    assert money.balances() == {worker.pk: Decimal("1.00")}


def test_who_works_before_there_is_a_draft_at_the_panel_is_paid_by_hand(world, there):
    """The panel refuses the draft, and people come by a link of ours meanwhile."""
    there.fault = lambda method, path, when: 400 if path.endswith("/studies/") else None
    panel_study = make_panel_study(hits=1)
    with pytest.raises(PanelRefused):
        panel_studies.make_draft(panel_study=panel_study, at=clock.now())
    client = Client()
    client.post(reverse("join", args=[panel_study.study.slug]), {"PROLIFIC_PID": new_id()})
    work(client, panel_study.study, hits=1)
    approve_all(panel_study)
    worker = Worker.objects.get()

    assert money.balances() == {worker.pk: Decimal("1.00")}
    with pytest.raises(CannotErase, match=r"\$1\.00"):
        erase_worker(worker=worker, at=clock.now())
    there.fault = lambda *_: None
    publish(panel_study)
    run(panel_study)
    assert money.balances() == {worker.pk: Decimal("1.00")}


def test_who_was_paid_by_a_payout_is_not_paid_again_through_the_panel(world, there):
    """Somebody who came by a link of ours, and later takes a place in the same study."""
    panel_study = make_panel_study(hits=2)
    participant = new_id()
    client = Client()
    client.post(reverse("join", args=[panel_study.study.slug]), {"PROLIFIC_PID": participant})
    work(client, panel_study.study, hits=1)
    approve_all(panel_study)
    worker = Worker.objects.get()
    PanelStudy.objects.update(created_at=clock.now())
    assert money.balances() == {worker.pk: Decimal("1.00")}
    money.pay_out(at=clock.now())

    publish(panel_study)
    client, submission = arrive(world, panel_study, participant)
    work(client, panel_study.study, hits=1)
    go_back(world, client, panel_study.study, submission)
    approve_all(panel_study)
    for _ in range(4):
        run(panel_study)

    assert submission.status == "AWAITING REVIEW"
    assert "A payout has paid the participant $1.00" in PanelSubmission.objects.get().question
    submissions.approve_by_hand(
        submission=PanelSubmission.objects.get(), there=prolific(), at=clock.now()
    )
    for _ in range(4):
        run(panel_study)
    assert (submission.status, submission.bonuses) == ("APPROVED", [])
    # What they do elsewhere is paid whole.
    paid_by_hand(worker)
    assert money.balances() == {worker.pk: Decimal("5.00")}
    agree(world, panel_study)
    money.pay_out(at=clock.now())
    erase_worker(worker=worker, at=clock.now())


def test_a_payout_before_the_panels_submission_is_known_is_not_paid_again(world, there):
    """The panel does not answer for hours, or a payout comes just before the next round."""
    panel_study = make_panel_study(hits=1)
    participant = new_id()
    client = Client()
    client.post(reverse("join", args=[panel_study.study.slug]), {"PROLIFIC_PID": participant})
    work(client, panel_study.study, hits=1)
    approve_all(panel_study)
    publish(panel_study)
    client, submission = arrive(world, panel_study, participant)
    go_back(world, client, panel_study.study, submission)
    [paid] = money.balances().values()

    money.pay_out(at=clock.now())
    run(panel_study)

    assert (paid, submission.status) == (Decimal("1.00"), "AWAITING REVIEW")
    assert "A payout has paid the participant $1.00" in PanelSubmission.objects.get().question


def come_by_a_link_of_ours(panel_study, participant) -> None:
    """Somebody without a place at the panel does the first HIT, which is approved."""
    client = Client()
    client.post(reverse("join", args=[panel_study.study.slug]), {"PROLIFIC_PID": participant})
    work(client, panel_study.study, hits=1)
    approve_all(panel_study)


def test_who_holds_no_place_at_the_panel_is_paid_by_hand(world, there):
    panel_study = make_panel_study(hits=1)
    publish(panel_study)
    run(panel_study)
    come_by_a_link_of_ours(panel_study, new_id())
    worker = Worker.objects.get()
    assert money.balances() == {}
    with pytest.raises(CannotErase, match="panel"):
        erase_worker(worker=worker, at=clock.now())

    run(panel_study)

    assert money.balances() == {worker.pk: Decimal("1.00")}
    with pytest.raises(CannotErase, match=r"\$1\.00"):
        erase_worker(worker=worker, at=clock.now())
    money.pay_out(at=clock.now())
    erase_worker(worker=worker, at=clock.now())


def test_who_takes_a_place_after_a_payout_is_not_paid_again(world, there):
    """They came by a link of ours while the study was at the panel."""
    panel_study = make_panel_study(hits=2)
    publish(panel_study)
    participant = new_id()
    come_by_a_link_of_ours(panel_study, participant)
    run(panel_study)
    money.pay_out(at=clock.now())

    client, submission = arrive(world, panel_study, participant)
    work(client, panel_study.study, hits=1)
    go_back(world, client, panel_study.study, submission)
    approve_all(panel_study)
    for _ in range(4):
        run(panel_study)

    assert submission.status == "AWAITING REVIEW"
    assert "A payout has paid the participant $1.00" in PanelSubmission.objects.get().question
    submissions.approve_by_hand(
        submission=PanelSubmission.objects.get(), there=prolific(), at=clock.now()
    )
    for _ in range(4):
        run(panel_study)
    assert (submission.status, submission.bonuses) == ("APPROVED", [])
    assert money.balances() == {}


def came_first(world, there):
    """A study in which somebody came by a link of ours and has taken a place since."""
    panel_study, participant = make_panel_study(hits=1), new_id()
    publish(panel_study)
    come_by_a_link_of_ours(panel_study, participant)
    run(panel_study)
    client, submission = arrive(world, panel_study, participant)
    go_back(world, client, panel_study.study, submission)
    return panel_study


def test_a_payout_during_a_round_is_not_paid_again(world, there):
    panel_study = came_first(world, there)

    def pay_out(_method, path, when):
        if path.endswith("/submissions/") and when == "after":
            money.pay_out(at=clock.now())

    there.fault = pay_out
    run(panel_study)

    assert "A payout has paid the participant $1.00" in PanelSubmission.objects.get().question


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_a_payout_that_waits_for_a_round_has_not_paid_what_the_panel_pays(world, there):
    panel_study = came_first(world, there)
    worker = Worker.objects.get()
    paid_by_hand(worker)
    at = clock.now()

    while_open(
        lambda: Worker.objects.select_for_update().get(),
        lambda: money.pay_out(at=at),
        meanwhile=lambda: run(panel_study),
    )

    assert Transfer.objects.get(kind=TransferKind.PAYOUT).amount == Decimal("5.00")
    assert amounts.paid_out(panel_study.study.participations.get()) == 0


def test_a_payout_has_not_paid_what_was_approved_later_for_an_earlier_time(world, there):
    """The sweep comes late, and dates an automatic approval when it was due."""
    panel_study, participant, client = make_panel_study(hits=1), new_id(), Client()
    publish(panel_study)
    client.post(reverse("join", args=[panel_study.study.slug]), {"PROLIFIC_PID": participant})
    work(client, panel_study.study, hits=1)
    due_at = clock.now()
    run(panel_study)
    paid_by_hand(Worker.objects.get())
    money.pay_out(at=clock.now())

    reviews.approve(assignment=assignments_of(panel_study).get(), at=due_at)
    client, submission = arrive(world, panel_study, participant)
    go_back(world, client, panel_study.study, submission)
    run(panel_study)

    assert submission.status == "APPROVED"


@pytest.mark.parametrize("state", ["before the batch", "before it was sent"])
def test_a_bonus_is_not_paid_again_after_an_older_backup_was_restored(world, there, state):
    panel_study = make_panel_study()
    publish(panel_study)
    submission = participate(world, panel_study, new_id())
    approve_all(panel_study)
    for _ in range(4):
        run(panel_study)
    PanelTransfer.objects.filter(kind="panel bonus").delete()
    Transfer.objects.filter(kind="panel bonus").delete()
    if state == "before the batch":
        PanelTransfer.objects.filter(batch__isnull=False).delete()
        PanelPayment.objects.filter(kind="bonus").delete()
        BonusBatch.objects.all().delete()
    else:
        BonusBatch.objects.update(state=BatchState.SET_UP, sending_at=None, ended_at=None)

    for _ in range(4):
        run(panel_study)

    assert submission.bonuses == [50]
    batch = BonusBatch.objects.get()
    assert batch.state == BatchState.UNCLEAR
    assert "restored backup" in batch.problem


def test_a_participant_is_erased_only_when_the_panel_has_decided_and_paid(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    submission = participate(world, panel_study, new_id())
    approve_all(panel_study)
    worker = Worker.objects.get()

    for _ in ("not read yet", "approved, without its bonus"):
        with pytest.raises(CannotErase, match="panel"):
            erase_worker(worker=worker, at=clock.now())
        run(panel_study)
    erase_worker(worker=worker, at=clock.now())

    assert submission.bonuses == [50]


def test_the_workers_data_has_the_submissions_and_payments_at_panels(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    submission = participate(world, panel_study, new_id())
    worker = Worker.objects.get()
    participate(world, panel_study, new_id())
    approve_all(panel_study)
    for _ in range(3):
        run(panel_study)

    data = data_of(worker)

    [row] = data["panel_submissions"]
    assert (row["external_id"], row["status"], row["code"]) == (submission.id, "APPROVED", "DONE")
    paid = [(each["kind"], each["amount"]) for each in data["panel_payments"]]
    assert paid == [("reward", Decimal("1.50")), ("bonus", Decimal("0.50"))]


def test_a_participant_of_whom_the_panel_awaits_a_decision_is_not_deleted_as_idle(world, there):
    """They did nothing here, and have not returned the submission there."""
    panel_study = make_panel_study()
    publish(panel_study)
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


def test_a_submission_stays_known_when_the_panels_id_is_deleted(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    submission = participate(world, panel_study, new_id())
    approve_all(panel_study)
    for _ in range(4):
        run(panel_study)
    ExternalIdentity.objects.all().delete()
    give_bonus(panel_study, "0.25")

    for _ in range(3):
        run(panel_study)

    assert submission.bonuses == [50, 25]
    agree(world, panel_study)


def test_work_without_a_reward_is_paid_once_after_two_refused_batches(world, there, settings):
    panel_study = make_panel_study()
    publish(panel_study)
    client, submission = arrive(world, panel_study, new_id())
    work(client, panel_study.study, hits=1)
    world.give_back(submission)
    approve_all(panel_study)
    later = settings.PROLIFIC_UNREWARDED_AFTER + timedelta(hours=1)
    there.fault = lambda _method, path, when: (
        400 if path.endswith("/bonus-payments/") and when == "before" else None
    )
    for day in range(2):
        for hour in range(3):
            run(panel_study, later=later + timedelta(days=day, hours=hour))
    assert BonusBatch.objects.filter(state=BatchState.REFUSED).count() == 2
    there.fault = lambda *_: None

    for _ in range(3):
        run(panel_study, later=later + timedelta(days=3))

    assert submission.bonuses == [100]
    agree(world, panel_study)


def test_a_participant_whom_the_panel_refuses_keeps_nobody_else_from_being_paid(
    world, there, monkeypatch
):
    panel_study = make_panel_study(places=5)
    publish(panel_study)
    done = [participate(world, panel_study, new_id()) for _ in range(5)]
    approve_all(panel_study)
    original = world.set_up_bonuses

    def refuse_one(study, lines):
        if any(done[3].id == each or done[3].participant == each for each, _ in lines):
            raise Refused(400, "This account is closed.")
        return original(study, lines)

    monkeypatch.setattr(world, "set_up_bonuses", refuse_one)
    for hour in range(12):
        run(panel_study, later=timedelta(hours=hour))

    assert [each.bonuses for each in done] == [[50], [50], [50], [], [50]]
    refused = BonusBatch.objects.filter(state=BatchState.REFUSED)
    assert [batch.payments.count() for batch in refused.order_by("pk")] == [5, 2, 1]


def test_a_participant_whom_the_panel_refuses_keeps_nobody_else_from_being_approved(
    world, there, monkeypatch
):
    panel_study = make_panel_study(places=6)
    publish(panel_study)
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


@pytest.mark.parametrize("started_at", [None, "soon", 5])
def test_a_submission_that_cannot_be_read_does_not_stop_the_others(
    world, there, monkeypatch, started_at
):
    panel_study = make_panel_study(places=2)
    publish(panel_study)
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


def test_a_place_that_nobody_has_begun_is_no_problem(world, there, monkeypatch):
    panel_study = make_panel_study()
    publish(panel_study)
    reserved = world.take_place(world.study(panel_study.external_id), new_id())
    row = {**reserved.shown(), "status": "RESERVED", "started_at": None}
    monkeypatch.setattr(Submission, "shown", lambda _: row)

    assert run(panel_study).problem == ""

    assert not panel_study.submissions.exists()
    assert panel_study.read_at is not None


def test_an_error_of_the_site_itself_is_shown_with_the_study(world, there, monkeypatch):
    panel_study = make_panel_study()
    publish(panel_study)

    def broken(**_arguments):
        raise IntegrityError("panel_bonus_once_per_batch")

    monkeypatch.setattr(bonuses, "plan_batch", broken)
    run(panel_study)

    assert "IntegrityError" in panel_study.problem
    assert panel_study.read_at is not None


def test_who_leaves_early_is_asked_to_return_and_paid_for_what_is_approved(world, there, settings):
    panel_study = make_panel_study()
    publish(panel_study)
    client, submission = arrive(world, panel_study, new_id())
    world.complete(submission, "NOWORK")
    other, partly = arrive(world, panel_study, new_id())
    work(other, panel_study.study, hits=1)
    world.give_back(partly)
    approve_all(panel_study)

    run(panel_study)
    assert submission.return_requested is not None
    assert partly.bonuses == []
    for _ in range(3):
        run(panel_study, later=settings.PROLIFIC_UNREWARDED_AFTER + timedelta(hours=1))

    assert partly.bonuses == [100]
    assert submission.bonuses == []
    agree(world, panel_study)


@pytest.mark.parametrize("status", [400, 500])
def test_a_request_to_return_that_fails_is_repeated_and_keeps_no_other_step_from_being_taken(
    world, there, status
):
    panel_study = make_panel_study()
    publish(panel_study)
    idle = [arrive(world, panel_study, new_id())[1] for _ in range(2)]
    for each in idle:
        world.complete(each, "NONE")
    done = participate(world, panel_study, new_id())
    approve_all(panel_study)
    there.fault = lambda _method, path, when: (
        status if path.endswith(f"{idle[0].id}/request-return/") and when == "before" else None
    )

    run(panel_study)
    there.fault = lambda *_: None
    assert done.status == "APPROVED"
    run(panel_study)

    assert all(each.return_requested is not None for each in idle)


def test_only_a_person_rejects_and_with_a_long_reason(world, there):
    panel_study = make_panel_study(hits=1)
    publish(panel_study)
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
        submissions.reject(submission=mine, category="LOW_EFFORT", reason="Bad.", there=panel)
    submissions.reject(
        submission=mine, category="LOW_EFFORT", reason="The text was empty. " * 6, there=panel
    )
    run(panel_study)

    assert submission.status == "REJECTED"
    assert PanelSubmission.objects.get().question == ""


def test_nobody_waits_longer_than_the_days_allowed(world, there, settings):
    panel_study = make_panel_study()
    publish(panel_study)
    submission = participate(world, panel_study, new_id())

    run(panel_study, later=settings.PROLIFIC_DECIDE_WITHIN - timedelta(hours=1))
    assert submission.status == "AWAITING REVIEW"
    run(panel_study, later=settings.PROLIFIC_DECIDE_WITHIN + timedelta(hours=1))

    assert submission.status == "APPROVED"


def test_somebody_who_never_arrived_is_left_to_a_person(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    stranger = world.take_place(world.study(panel_study.external_id), new_id())
    world.complete(stranger, "DONE")

    run(panel_study)

    assert stranger.status == "AWAITING REVIEW"
    assert "Nobody arrived" in PanelSubmission.objects.get().question


@pytest.mark.parametrize("status", [429, 500, "lost"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_bonuses_whose_answer_is_lost_are_left_to_a_person(world, there, settings, status, when):
    panel_study = make_panel_study()
    publish(panel_study)
    submission = participate(world, panel_study, new_id())
    approve_all(panel_study)

    def fault(_method, path, moment):
        if not path.endswith("/pay/") or moment != when:
            return None
        if status == "lost":
            raise requests.ConnectionError("cut")
        return status

    there.fault = fault
    for _ in range(4):
        run(panel_study)
    there.fault = lambda *_: None
    for _ in range(3):
        run(panel_study, later=timedelta(days=2))

    assert sum(call.endswith("/pay/") for call in there.calls) == 1
    batch, panel = BonusBatch.objects.get(), prolific()
    assert batch.state == BatchState.UNCLEAR
    assert rounds.open_questions(panel_study) == 1
    later = clock.now() + timedelta(days=2)
    if when == "after":
        with pytest.raises(StudyRefused, match="lists"):
            bonuses.decide_unclear(
                batch=batch, was_paid=False, there=panel, operator="root", at=later
            )
    bonuses.decide_unclear(
        batch=batch, was_paid=when == "after", there=panel, operator="root", at=later
    )
    for _ in range(3):
        run(panel_study, later=timedelta(days=3))

    assert submission.bonuses == [50]
    agree(world, panel_study)


def test_a_request_of_a_long_round_is_not_given_up_while_it_is_sent(world, there):
    """Another process reads the study while the request that pays is on its way."""
    panel_study = make_panel_study()
    publish(panel_study)
    submission = participate(world, panel_study, new_id())
    approve_all(panel_study)
    run(panel_study)

    def read_meanwhile(_method, path, when):
        if path.endswith("/pay/") and when == "before":
            run(panel_study)

    there.fault = read_meanwhile
    run(panel_study, later=-timedelta(minutes=10))

    assert submission.bonuses == [50]
    assert BonusBatch.objects.get().state == BatchState.PAID


def test_bonuses_that_the_panel_never_lists_are_left_to_a_person(
    world, there, settings, monkeypatch
):
    panel_study = make_panel_study()
    publish(panel_study)
    participate(world, panel_study, new_id())
    approve_all(panel_study)
    # The panel takes the request, and pays nothing.
    monkeypatch.setattr(world, "pay_bonuses", lambda _: None)
    for _ in range(3):
        run(panel_study)
    assert BonusBatch.objects.get().state == BatchState.SENT

    run(panel_study, later=settings.PROLIFIC_BONUS_SETTLES + timedelta(minutes=1))

    assert BonusBatch.objects.get().state == BatchState.UNCLEAR
    assert rounds.open_questions(panel_study) == 1


def test_a_batch_is_not_called_unpaid_while_the_panel_may_still_pay(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    participate(world, panel_study, new_id())
    approve_all(panel_study)
    there.fault = lambda _method, path, when: (
        500 if path.endswith("/pay/") and when == "before" else None
    )
    for _ in range(3):
        run(panel_study)

    with pytest.raises(StudyRefused, match="minutes"):
        bonuses.decide_unclear(
            batch=BonusBatch.objects.get(),
            was_paid=False,
            there=prolific(),
            operator="root",
            at=clock.now(),
        )


def test_the_panels_ids_of_participants_are_in_one_table_only(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    participant = new_id()
    participate(world, panel_study, participant)
    approve_all(panel_study)
    for _ in range(4):
        run(panel_study)

    for model in (PanelStudy, PanelSubmission, BonusBatch, Transfer):
        assert model.objects.exists()
        assert not any(participant in str(row) for row in model.objects.values())


def test_the_token_is_in_no_row_and_in_no_problem(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    there.fault = lambda *_: 500
    run(panel_study)

    assert "500" in panel_study.problem
    assert "a token of the test" not in str(PanelStudy.objects.values())
    assert "a token of the test" not in repr(prolific())


def test_a_round_takes_a_study_once_when_it_is_due(world, there, settings):
    settings.PROLIFIC_SECONDS = 60
    panel_study = make_panel_study()
    publish(panel_study)

    at = clock.now()
    assert rounds.follow(at=at) == 1
    assert rounds.follow(at=at) == 0
    rounds.read_soon(study_id=panel_study.external_id, at=at)
    assert rounds.follow(at=at) == 1


def test_a_study_that_slow_rounds_have_taken_is_taken_by_no_other_process(world, there, settings):
    settings.PROLIFIC_SECONDS = 60
    publish(make_panel_study())
    began = clock.now() - timedelta(minutes=2)
    PanelStudy.objects.update(read_next_at=began)

    assert rounds.follow(at=began) == 1
    assert rounds.follow(at=clock.now()) == 0


def test_the_rows_of_a_panel_go_to_its_account(world, there):
    panel_study = make_panel_study()
    publish(panel_study)
    participate(world, panel_study, new_id())
    approve_all(panel_study)
    for _ in range(4):
        run(panel_study)

    rows = Transfer.objects.filter(target=Account.PANEL).order_by("pk")
    assert {(row.kind, row.amount) for row in rows} == {
        ("panel reward", Decimal("1.50")),
        ("panel fee", Decimal("0.50")),
        ("panel tax", Decimal("0.10")),
        ("panel bonus", Decimal("0.50")),
        ("panel fee", Decimal("0.17")),
        ("panel tax", Decimal("0.03")),
    }
