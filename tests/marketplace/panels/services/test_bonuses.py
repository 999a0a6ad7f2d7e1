"""Batches of bonuses: planned, sent, refused, unclear."""

from datetime import timedelta
from decimal import Decimal

import pytest
import requests
from django.db.models import Q

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import ExternalIdentity, Transfer, TransferKind
from marketplace.panels.client import prolific
from marketplace.panels.models import BatchState, BonusBatch, PanelPayment, PanelTransfer
from marketplace.panels.services import bonuses, rounds
from marketplace.services import money
from simulation.prolific.state import Refused, new_id
from tests.marketplace.panels.people import (
    agree,
    approve_all,
    approved_work,
    arrive,
    give_bonus,
    participate,
    published_study,
    run,
    work,
)

pytestmark = pytest.mark.django_db


def test_a_participant_is_approved_and_gets_what_was_earned_above_the_reward(world, panel_api):
    panel_study = published_study(hits=2, per_hit="1.00", reward="1.50")
    submission = participate(world, panel_study, new_id())
    run(panel_study)
    assert submission.status == "AWAITING REVIEW"

    approve_all(panel_study)
    run(panel_study, times=4)

    assert (submission.status, submission.bonuses) == ("APPROVED", [50])
    assert BonusBatch.objects.get().state == BatchState.PAID
    agree(world, panel_study)
    assert money.balances() == {}


def test_a_participant_who_earned_less_than_the_reward_gets_no_bonus(world, panel_api):
    panel_study = published_study(hits=1, per_hit="0.00", reward="1.50")
    submission = participate(world, panel_study, new_id(), hits=1)
    approve_all(panel_study)
    run(panel_study, times=3)

    assert (submission.status, submission.bonuses) == ("APPROVED", [])
    agree(world, panel_study)


def test_bonuses_of_the_requesters_after_the_payment_follow(world, panel_api):
    panel_study, submission = approved_work(world)
    run(panel_study, times=4)

    for amount in ("0.25", "0.15"):
        give_bonus(panel_study, amount)
        run(panel_study, times=3)

    assert submission.bonuses == [50, 25, 15]
    agree(world, panel_study)


@pytest.mark.parametrize("state", ["before the batch", "before it was sent"])
def test_a_bonus_is_not_paid_again_after_an_older_backup_was_restored(world, panel_api, state):
    panel_study, submission = approved_work(world)
    run(panel_study, times=4)
    PanelTransfer.objects.filter(kind="panel bonus").delete()
    Transfer.objects.filter(kind="panel bonus").delete()
    if state == "before the batch":
        PanelTransfer.objects.filter(batch__isnull=False).delete()
        PanelPayment.objects.filter(kind="bonus").delete()
        BonusBatch.objects.all().delete()
    else:
        BonusBatch.objects.update(state=BatchState.SET_UP, sending_at=None, ended_at=None)

    run(panel_study, times=4)

    assert submission.bonuses == [50]
    batch = BonusBatch.objects.get()
    assert batch.state == BatchState.UNCLEAR
    assert "restored backup" in batch.problem


def test_of_a_batch_after_a_restored_backup_each_bonus_is_settled_as_the_panel_lists_it(
    world, panel_api, settings
):
    panel_study, first = approved_work(world)
    run(panel_study, times=4)
    settings.PROLIFIC_BONUS_EVERY = timedelta(days=1)
    second = participate(world, panel_study, new_id())
    approve_all(panel_study)
    give_bonus(panel_study, "0.25")
    run(panel_study, times=3)
    forget_bonuses()
    run(panel_study, times=2)
    batch = BonusBatch.objects.get(state=BatchState.UNCLEAR)
    assert [payment.amount for payment in batch.payments.order_by("pk")] == [
        Decimal("0.75"), Decimal("0.50"),
    ]  # fmt: skip

    settings.PROLIFIC_BONUS_EVERY = timedelta(0)
    with pytest.raises(StudyRefused, match="may still be paying"):
        settle(batch)
    settle(batch, later=settings.PROLIFIC_BONUS_SETTLES)
    run(panel_study, times=4)

    assert (first.bonuses, second.bonuses) == ([50, 25], [50])
    assert not BonusBatch.objects.filter(state=BatchState.UNCLEAR).exists()
    agree(world, panel_study)


def test_a_batch_of_which_the_panel_lists_nothing_is_settled_as_unpaid(
    world, panel_api, settings, monkeypatch
):
    panel_study, submission = approved_work(world)
    with monkeypatch.context() as patched:
        # The panel takes the request, and pays nothing.
        patched.setattr(world, "pay_bonuses", lambda _: None)
        run(panel_study, times=3)
        run(panel_study, later=settings.PROLIFIC_BONUS_SETTLES + timedelta(minutes=1))

    settle(BonusBatch.objects.get(), later=settings.PROLIFIC_BONUS_SETTLES)
    run(panel_study, times=4)

    assert submission.bonuses == [50]
    agree(world, panel_study)


def forget_bonuses() -> None:
    """As if a backup from before the first batch was restored."""
    of_bonuses = PanelTransfer.objects.filter(
        Q(batch__isnull=False) | Q(kind=TransferKind.PANEL_BONUS)
    )
    transfers = list(of_bonuses.values_list("transfer", flat=True))
    of_bonuses.delete()
    Transfer.objects.filter(pk__in=transfers).delete()
    PanelPayment.objects.filter(kind="bonus").delete()
    BonusBatch.objects.all().delete()


def settle(batch, *, later: timedelta = timedelta()) -> None:
    at = clock.now() + later
    bonuses.settle_as_listed(batch=batch, panel=prolific(), operator="root", at=at)


def test_a_submission_stays_known_when_the_panels_id_is_deleted(world, panel_api):
    panel_study, submission = approved_work(world)
    run(panel_study, times=4)
    ExternalIdentity.objects.all().delete()
    give_bonus(panel_study, "0.25")

    run(panel_study, times=3)

    assert submission.bonuses == [50, 25]
    agree(world, panel_study)


def test_work_without_a_reward_is_paid_once_after_two_refused_batches(world, panel_api, settings):
    panel_study = published_study()
    client, submission = arrive(world, panel_study, new_id())
    work(client, panel_study.study, hits=1)
    world.give_back(submission)
    approve_all(panel_study)
    later = settings.PROLIFIC_UNREWARDED_AFTER + timedelta(hours=1)
    panel_api.fault = lambda _method, path, when: (
        400 if path.endswith("/bonus-payments/") and when == "before" else None
    )
    for day in range(2):
        for hour in range(3):
            run(panel_study, later=later + timedelta(days=day, hours=hour))
    assert BonusBatch.objects.filter(state=BatchState.REFUSED).count() == 2
    panel_api.fault = lambda *_: None

    run(panel_study, later=later + timedelta(days=3), times=3)

    assert submission.bonuses == [100]
    agree(world, panel_study)


def test_a_participant_whom_the_panel_refuses_keeps_nobody_else_from_being_paid(
    world, panel_api, monkeypatch
):
    panel_study = published_study(places=5)
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


@pytest.mark.parametrize("status", [429, 500, "lost"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_bonuses_whose_answer_is_lost_are_left_to_a_person(
    world, panel_api, settings, status, when
):
    panel_study, submission = approved_work(world)

    def fault(_method, path, moment):
        if not path.endswith("/pay/") or moment != when:
            return None
        if status == "lost":
            raise requests.ConnectionError("cut")
        return status

    panel_api.fault = fault
    run(panel_study, times=4)
    panel_api.fault = lambda *_: None
    run(panel_study, later=timedelta(days=2), times=3)

    assert sum(call.endswith("/pay/") for call in panel_api.calls) == 1
    batch, panel = BonusBatch.objects.get(), prolific()
    assert batch.state == BatchState.UNCLEAR
    assert rounds.open_questions(panel_study) == 1
    later = clock.now() + timedelta(days=2)
    if when == "after":
        with pytest.raises(StudyRefused, match="lists"):
            bonuses.decide_unclear(
                batch=batch, was_paid=False, panel=panel, operator="root", at=later
            )
    bonuses.decide_unclear(
        batch=batch, was_paid=when == "after", panel=panel, operator="root", at=later
    )
    run(panel_study, later=timedelta(days=3), times=3)

    assert submission.bonuses == [50]
    agree(world, panel_study)


def test_a_request_of_a_long_round_is_not_given_up_while_it_is_sent(world, panel_api):
    """Another process reads the study while the request that pays is on its way."""
    panel_study, submission = approved_work(world)
    run(panel_study)

    def read_meanwhile(_method, path, when):
        if path.endswith("/pay/") and when == "before":
            run(panel_study)

    panel_api.fault = read_meanwhile
    run(panel_study, later=-timedelta(minutes=10))

    assert submission.bonuses == [50]
    assert BonusBatch.objects.get().state == BatchState.PAID


def test_bonuses_that_the_panel_never_lists_are_left_to_a_person(
    world, panel_api, settings, monkeypatch
):
    panel_study, _ = approved_work(world)
    # The panel takes the request, and pays nothing.
    monkeypatch.setattr(world, "pay_bonuses", lambda _: None)
    run(panel_study, times=3)
    assert BonusBatch.objects.get().state == BatchState.SENT

    run(panel_study, later=settings.PROLIFIC_BONUS_SETTLES + timedelta(minutes=1))

    assert BonusBatch.objects.get().state == BatchState.UNCLEAR
    assert rounds.open_questions(panel_study) == 1


def test_a_batch_is_not_called_unpaid_while_the_panel_may_still_pay(world, panel_api):
    panel_study, _ = approved_work(world)
    panel_api.fault = lambda _method, path, when: (
        500 if path.endswith("/pay/") and when == "before" else None
    )
    run(panel_study, times=3)

    with pytest.raises(StudyRefused, match="minutes"):
        bonuses.decide_unclear(
            batch=BonusBatch.objects.get(),
            was_paid=False,
            panel=prolific(),
            operator="root",
            at=clock.now(),
        )
