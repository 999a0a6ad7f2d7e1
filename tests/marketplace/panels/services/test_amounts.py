"""Payments of a panel and of a payout, and when a worker can be erased."""

from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.urls import reverse

from marketplace import clock
from marketplace.models import Account, Participation, Transfer, TransferKind, Worker
from marketplace.panels.client import prolific
from marketplace.panels.models import PanelStudy, PanelSubmission
from marketplace.panels.panel import PanelRefused
from marketplace.panels.services import amounts, submissions
from marketplace.panels.services import studies as panel_studies
from marketplace.services import assignments, money, reviews, studies
from marketplace.services.links import sign_in_url
from marketplace.services.retention import CannotErase, erase_worker
from simulation.prolific.state import new_id
from tests.marketplace.factories import make_worker
from tests.marketplace.panels.people import (
    agree,
    approve_all,
    approved_work,
    arrive,
    assignments_of,
    go_back,
    make_panel_study,
    paid_by_hand,
    participate,
    publish,
    published_study,
    run,
    work,
)
from tests.races import while_open

pytestmark = pytest.mark.django_db


def come_by_a_link_of_ours(panel_study, participant) -> None:
    """Somebody without a place at the panel does the first HIT, which is approved."""
    client = Client()
    client.post(reverse("join", args=[panel_study.study.slug]), {"PROLIFIC_PID": participant})
    work(client, panel_study.study, hits=1)
    approve_all(panel_study)


def test_a_study_at_a_panel_hides_nothing_that_is_owed_for_other_work(world, panel_api):
    panel_study, _ = approved_work(world)
    worker = Worker.objects.get()
    paid_by_hand(worker)
    assert money.balances() == {worker.pk: Decimal("5.00")}

    run(panel_study, times=4)

    assert money.balances() == {worker.pk: Decimal("5.00")}
    with pytest.raises(CannotErase, match=r"\$5\.00"):
        erase_worker(worker=worker, at=clock.now())
    money.pay_out(at=clock.now())
    assert money.balances() == {}
    erase_worker(worker=worker, at=clock.now())


def test_a_worker_reads_what_a_payout_will_pay_without_what_the_panel_pays(world, panel_api):
    panel_study, _ = approved_work(world)
    worker = Worker.objects.get()
    paid_by_hand(worker)
    client = Client()
    client.get(urlsplit(sign_in_url(worker)).path)

    page = BeautifulSoup(client.get("/earnings").content, "lxml").get_text(" ", strip=True)

    assert "Total earned $7.00" in page
    assert "Not yet paid out $5.00" in page


def test_a_participant_who_worked_before_the_study_was_at_a_panel_is_paid_by_hand(world, panel_api):
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


def test_a_participant_who_works_before_there_is_a_draft_at_the_panel_is_paid_by_hand(
    world, panel_api
):
    """The panel refuses the draft, and people come by a link of ours meanwhile."""
    panel_api.fault = lambda method, path, when: 400 if path.endswith("/studies/") else None
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
    panel_api.fault = lambda *_: None
    publish(panel_study)
    run(panel_study)
    assert money.balances() == {worker.pk: Decimal("1.00")}


def check_only_the_reward_is_paid(world, panel_study, participant) -> None:
    """Take a place, do the rest, and be approved by a person, who reads of the payout."""
    client, submission = arrive(world, panel_study, participant)
    work(client, panel_study.study, hits=1)
    go_back(world, client, panel_study.study, submission)
    approve_all(panel_study)
    run(panel_study, times=4)
    assert submission.status == "AWAITING REVIEW"
    assert "A payout has paid the participant $1.00" in PanelSubmission.objects.get().question
    submissions.approve_by_hand(
        submission=PanelSubmission.objects.get(), panel=prolific(), at=clock.now()
    )
    run(panel_study, times=4)
    assert (submission.status, submission.bonuses) == ("APPROVED", [])


def test_a_participant_who_was_paid_by_a_payout_is_not_paid_again_through_the_panel(
    world, panel_api
):
    """Somebody who came by a link of ours, and later takes a place in the same study."""
    panel_study = make_panel_study(hits=2)
    participant = new_id()
    come_by_a_link_of_ours(panel_study, participant)
    worker = Worker.objects.get()
    PanelStudy.objects.update(created_at=clock.now())
    assert money.balances() == {worker.pk: Decimal("1.00")}
    money.pay_out(at=clock.now())

    publish(panel_study)
    check_only_the_reward_is_paid(world, panel_study, participant)
    # What they do elsewhere is paid whole.
    paid_by_hand(worker)
    assert money.balances() == {worker.pk: Decimal("5.00")}
    agree(world, panel_study)
    money.pay_out(at=clock.now())
    erase_worker(worker=worker, at=clock.now())


def test_a_payout_before_the_panels_submission_is_known_is_not_paid_again(world, panel_api):
    """The panel does not answer for hours, or a payout comes just before the next round."""
    panel_study = make_panel_study(hits=1)
    participant = new_id()
    come_by_a_link_of_ours(panel_study, participant)
    publish(panel_study)
    client, submission = arrive(world, panel_study, participant)
    go_back(world, client, panel_study.study, submission)
    [paid] = money.balances().values()

    money.pay_out(at=clock.now())
    run(panel_study)

    assert (paid, submission.status) == (Decimal("1.00"), "AWAITING REVIEW")
    assert "A payout has paid the participant $1.00" in PanelSubmission.objects.get().question


def test_a_participant_without_a_place_at_the_panel_is_paid_by_hand(world, panel_api):
    panel_study = published_study(hits=1)
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


def test_a_participant_who_takes_a_place_after_a_payout_is_not_paid_again(world, panel_api):
    """They came by a link of ours while the study was at the panel."""
    panel_study = published_study(hits=2)
    participant = new_id()
    come_by_a_link_of_ours(panel_study, participant)
    run(panel_study)
    money.pay_out(at=clock.now())

    check_only_the_reward_is_paid(world, panel_study, participant)
    assert money.balances() == {}


def came_first(world, panel_api):
    """A study in which somebody came by a link of ours and has taken a place since."""
    panel_study, participant = make_panel_study(hits=1), new_id()
    publish(panel_study)
    come_by_a_link_of_ours(panel_study, participant)
    run(panel_study)
    client, submission = arrive(world, panel_study, participant)
    go_back(world, client, panel_study.study, submission)
    return panel_study


def test_a_payout_during_a_round_is_not_paid_again(world, panel_api):
    panel_study = came_first(world, panel_api)

    def pay_out(_method, path, when):
        if path.endswith("/submissions/") and when == "after":
            money.pay_out(at=clock.now())

    panel_api.fault = pay_out
    run(panel_study)

    assert "A payout has paid the participant $1.00" in PanelSubmission.objects.get().question


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_a_payout_that_waits_for_a_round_has_not_paid_what_the_panel_pays(world, panel_api):
    panel_study = came_first(world, panel_api)
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


def test_a_payout_has_not_paid_what_was_approved_later_for_an_earlier_time(world, panel_api):
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


def test_a_participant_is_erased_only_when_the_panel_has_decided_and_paid(world, panel_api):
    panel_study, submission = approved_work(world)
    worker = Worker.objects.get()

    for _ in ("not read yet", "approved, without its bonus"):
        with pytest.raises(CannotErase, match="panel"):
            erase_worker(worker=worker, at=clock.now())
        run(panel_study)
    erase_worker(worker=worker, at=clock.now())

    assert submission.bonuses == [50]


def test_a_participant_whose_work_was_rejected_is_not_erased_before_the_panel_is_read(
    world, panel_api
):
    """Otherwise the operator would read that nobody came."""
    panel_study = published_study()
    participate(world, panel_study, new_id())
    for assignment in assignments_of(panel_study):
        reviews.reject(assignment=assignment, feedback="Empty.", at=clock.now())

    for _ in ("not read yet", "awaiting review"):
        with pytest.raises(CannotErase, match="panel"):
            erase_worker(worker=Worker.objects.get(), at=clock.now())
        run(panel_study)

    assert "were rejected" in PanelSubmission.objects.get().question


def test_the_rows_of_a_panel_go_to_its_account(world, panel_api):
    panel_study, _ = approved_work(world)
    run(panel_study, times=4)

    rows = Transfer.objects.filter(target=Account.PANEL).order_by("pk")
    assert {(row.kind, row.amount) for row in rows} == {
        ("panel reward", Decimal("1.50")),
        ("panel fee", Decimal("0.50")),
        ("panel tax", Decimal("0.10")),
        ("panel bonus", Decimal("0.50")),
        ("panel fee", Decimal("0.17")),
        ("panel tax", Decimal("0.03")),
    }
