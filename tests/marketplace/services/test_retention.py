"""Which data of workers and programs is kept, and for how long."""

from datetime import timedelta
from decimal import Decimal
from importlib import import_module
from uuid import uuid4

import pytest
from django.conf import settings as project
from django.contrib.sessions.models import Session
from django.utils import timezone

from marketplace.models import (
    Account,
    Activity,
    Assignment,
    Event,
    ExternalIdentity,
    Message,
    Participation,
    RequestToken,
    SentForm,
    Transfer,
    TransferKind,
    Worker,
)
from marketplace.services import assignments, money, qualifications, retention, reviews, studies
from marketplace.services.hits import claim_token
from marketplace.services.operators import noted
from marketplace.services.qualification_types import create_qualification_type
from marketplace.services.retention import delete_old_panel_ids, forget
from tests.marketplace.factories import (
    NOON,
    make_hit,
    make_hit_type,
    make_requester,
    make_study,
    make_worker,
)

pytestmark = pytest.mark.django_db
MONTH = timedelta(days=31)


def test_the_activity_log_goes_back_for_the_days_that_the_operator_wants(settings):
    settings.ACTIVITY_KEPT = timedelta(days=30)
    for days in (31, 29):
        with noted(actor="lab", action="CreateHIT", about="", at=NOON - timedelta(days=days)):
            pass

    assert forget(at=NOON) == 1
    assert Activity.objects.get().happened_at == NOON - timedelta(days=29)


def test_sessions_that_have_expired_are_deleted_by_real_time():
    store = import_module(project.SESSION_ENGINE).SessionStore
    old, new = store(), store()
    for session in (old, new):
        session["worker_id"] = 1
        session.save()
    Session.objects.filter(session_key=old.session_key).update(
        expire_date=timezone.now() - timedelta(seconds=1)
    )

    # A marketplace whose clock was moved on, for a test, signs nobody out.
    assert forget(at=timezone.now() + timedelta(days=365)) == 1
    assert Session.objects.get().session_key == new.session_key


def test_notifications_are_forgotten_a_month_after_the_event():
    requester = make_requester()
    waits, sent, recent = (
        Event.objects.create(
            requester=requester, destination="q", transport="SQS", version="2014-08-15", body={},
            happened_at=NOON - timedelta(days=days), due_at=due_at,
        )
        for days, due_at in ((31, NOON - timedelta(days=31)), (31, None), (29, None))
    )  # fmt: skip

    assert forget(at=NOON) == 1
    assert set(Event.objects.all()) == {waits, recent}


def test_messages_are_kept_for_a_year(settings):
    settings.MTURK_NEEDS_HISTORY_FOR_MESSAGES = False
    requester, worker = make_requester(), make_worker()
    for days in (366, 364):
        reviews.notify_workers(
            requester=requester, subject="Hello", text="There are new HITs.",
            worker_ids=[worker.public_id], at=NOON - timedelta(days=days),
        )  # fmt: skip

    assert forget(at=NOON) == 1
    assert Message.objects.get().sent_at == NOON - timedelta(days=364)


def test_tokens_of_hits_are_forgotten_after_their_life_and_those_of_bonuses_never():
    requester = make_requester()
    for operation in ("CreateHIT", "SendBonus"):
        claim_token(requester=requester, operation=operation, token="t", at=NOON)

    assert forget(at=NOON + timedelta(hours=23)) == 0
    assert forget(at=NOON + timedelta(days=1)) == 1
    assert RequestToken.objects.get().operation == "SendBonus"


def test_keys_of_forms_are_forgotten_after_a_day():
    for hours in (24, 23):
        SentForm.objects.create(key=uuid4(), sent_at=NOON - timedelta(hours=hours))

    assert forget(at=NOON) == 1
    assert SentForm.objects.get().sent_at == NOON - timedelta(hours=23)


@pytest.fixture
def arrive():
    """Let a participant with this panel id join a study and accept a HIT."""
    hit_type = make_hit_type()
    make_hit(hit_type, max_assignments=9)
    study = make_study(hit_type)

    def arrive(identifier: str) -> Assignment:
        part = studies.join(study=study, identifier=identifier, address="192.0.2.1", at=NOON)
        accepted = studies.next_assignment(participation=part, at=NOON)
        assert accepted is not None
        return accepted

    return arrive


def test_participants_who_never_submitted_anything_are_deleted_after_a_month(arrive):
    """Anybody can join with invented panel ids, any number of times."""
    for number in range(3):
        assignments.give_back(assignment=arrive(f"invented {number}"), at=NOON)

    forget(at=NOON + timedelta(days=29))
    assert Worker.objects.count() == 3
    forget(at=NOON + MONTH)

    for model in (Worker, ExternalIdentity, Participation, Assignment):
        assert not model.objects.exists()


def test_participants_of_whom_anything_is_known_are_kept(arrive):
    arrive("is at work")
    submitted = arrive("submitted")
    assignments.submit(assignment=submitted, answer="<a/>", at=NOON)
    reviews.approve(assignment=submitted, at=NOON)
    qualified = arrive("qualified")
    assignments.give_back(assignment=qualified, at=NOON)
    qualifications.grant(
        qualification_type=create_qualification_type(
            requester=make_requester(), name="Reader", description="Reads", at=NOON
        ),
        worker=qualified.worker,
        value=1,
        at=NOON,
    )
    invited = make_worker()

    forget(at=NOON + MONTH)

    kept = {each.worker for each in Assignment.objects.all()} | {invited}
    assert kept == set(Worker.objects.all())


def test_a_participant_is_kept_for_a_month_after_the_latest_study(arrive):
    """Otherwise a participant could be deleted while reading, or try a failed question again."""
    first = arrive("came twice")
    assignments.give_back(assignment=first, at=NOON)
    other = make_study(first.hit.hit_type, name="Another", completion_code="OTHER")
    studies.join(
        study=other, identifier="came twice", address="192.0.2.1", at=NOON + timedelta(days=29)
    )

    forget(at=NOON + MONTH)
    assert Participation.objects.count() == 2
    forget(at=NOON + MONTH + timedelta(days=29))

    assert not Worker.objects.exists()


def test_participants_who_are_kept_do_not_hide_the_later_ones(arrive, monkeypatch):
    """The ledger names those whom a panel has paid for being screened out."""
    monkeypatch.setattr(retention, "BATCH", 1)
    paid_there, invented = arrive("screened out"), arrive("invented")
    for each in (paid_there, invented):
        assignments.give_back(assignment=each, at=NOON)
    Transfer.objects.create(
        kind=TransferKind.PANEL_SCREEN_OUT, source=Account.OUTSIDE, target=Account.PANEL,
        amount=Decimal("0.20"), worker=paid_there.worker, made_at=NOON,
    )  # fmt: skip
    Worker.objects.filter(pk=paid_there.worker.pk).update(created_at=NOON - MONTH)

    forget(at=NOON + MONTH)

    assert Worker.objects.get() == paid_there.worker


def test_an_account_that_was_deleted_meanwhile_accepts_nothing(arrive):
    worker = arrive("gone").worker
    hit_type = make_hit_type()
    Assignment.objects.all().delete()
    Participation.objects.all().delete()
    ExternalIdentity.objects.all().delete()
    Worker.objects.filter(pk=worker.pk).delete()

    with pytest.raises(assignments.NotQualified, match="deleted"):
        assignments.accept(worker=worker, hit_type=hit_type, at=NOON)


YEAR = timedelta(days=365)


@pytest.fixture
def study():
    hit_type = make_hit_type()
    make_hit(hit_type, max_assignments=9)
    return make_study(hit_type)


def submitted(study):
    part = studies.join(study=study, identifier="panel-7", address="192.0.2.1", at=NOON)
    accepted = studies.next_assignment(participation=part, at=NOON)
    assignments.submit(assignment=accepted, answer="<a/>", at=NOON)
    return accepted


def test_panel_ids_are_deleted_a_year_after_the_last_work_in_closed_studies(study):
    reviews.approve(assignment=submitted(study), at=NOON)
    money.pay_out(at=NOON)
    forget(at=NOON + YEAR)
    assert ExternalIdentity.objects.count() == 1, "the study is open"
    study.is_open = False
    study.save()

    forget(at=NOON + YEAR - timedelta(seconds=1))
    assert ExternalIdentity.objects.count() == 1
    forget(at=NOON + YEAR)

    assert not ExternalIdentity.objects.exists()
    assert Worker.objects.get().assignments.count() == 1


@pytest.mark.parametrize("is_approved", [False, True])
def test_panel_ids_are_kept_while_work_is_undecided_or_unpaid(study, is_approved):
    accepted = submitted(study)
    if is_approved:
        reviews.approve(assignment=accepted, at=NOON)
    study.is_open = False
    study.save()

    forget(at=NOON + YEAR)

    assert ExternalIdentity.objects.count() == 1


def test_panel_ids_that_are_kept_do_not_hide_the_later_ones(study):
    """Those of the first participant stay: the batch has place for one."""
    owed, done = (
        studies.join(study=study, identifier=name, address="192.0.2.1", at=NOON)
        for name in ("panel-1", "panel-2")
    )
    for participation in (done, owed):
        accepted = studies.next_assignment(participation=participation, at=NOON)
        assignments.submit(assignment=accepted, answer="<a/>", at=NOON)
        reviews.approve(assignment=accepted, at=NOON)
        if participation is done:
            money.pay_out(at=NOON)
    study.is_open = False
    study.save()

    delete_old_panel_ids(NOON + YEAR, most=1)

    assert ExternalIdentity.objects.get().worker == owed.worker


def test_never_keeps_panel_ids(study, settings):
    settings.PANEL_IDS_KEPT = None
    reviews.approve(assignment=submitted(study), at=NOON)
    money.pay_out(at=NOON)
    study.is_open = False
    study.save()

    forget(at=NOON + YEAR)

    assert ExternalIdentity.objects.count() == 1
