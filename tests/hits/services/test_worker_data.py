"""Workers' personal data: deleted after a release, and exported or erased on request."""

import json
from contextlib import nullcontext, suppress
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from accounts.models import IdempotencyKey
from accounts.services.idempotency import keep_answer, take_key
from annotate.models import Behaviour, Campaign, CampaignStatus, Caption
from background.models import Failure, Job, JobLine, Notice
from config.environment import Environment
from hits.models import (
    Assignment,
    AssignmentStatus,
    Bonus,
    MessageStatus,
    ProcessedMessage,
    Sync,
    SyncProblem,
    TaskPage,
    WorkerAccount,
    WorkerBarring,
)
from hits.mturk.client import Marketplace
from hits.mturk.connection import MarketplaceError
from hits.queries.settled import settled_since_release
from hits.queries.worker_data import data_of
from hits.reconcile.bar import bar
from hits.reconcile.reconciler import reconcile
from hits.services import hit_pages
from hits.services.accounts import (
    NoSuchWorker,
    digest_of,
    locked_accounts,
    worker_named,
    workers_for,
)
from hits.services.bonuses import BonusNotPossible, Wish, plan_bonuses
from hits.services.hit_pages import FrameParameters
from hits.services.messages import plan_message, put_back, take_recipients
from hits.services.retention import tidy
from hits.services.task_pages import AlreadySubmitted, open_page, store_answers
from hits.services.worker_data import (
    CannotErase,
    delete_old_behaviour,
    delete_old_worker_ids,
    erase_worker,
)
from qualcontrol.models import Appeal
from shared.environment import read
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    ExclusionFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    TaskPageFactory,
    UserFactory,
    WorkerAccountFactory,
    make_campaign,
)
from tests.hits.opened_pages import SENTENCE, listed
from tests.hits.released_work import released
from tests.submitted import take_submission

pytestmark = pytest.mark.django_db
YEAR = timedelta(days=365)
LATER = NOON + YEAR + timedelta(seconds=1)


@pytest.fixture(autouse=True)
def a_year(settings):
    settings.WORKER_DATA_DAYS = 365


def test_ids_and_behaviour_are_deleted_when_the_period_after_the_release_is_over():
    account = WorkerAccountFactory(marketplace_id="AONE")
    released(account, name="pilot")

    assert delete_old_worker_ids(at=NOON + YEAR) == 0
    assert delete_old_behaviour(at=NOON + YEAR) == 0
    assert delete_old_behaviour(at=LATER) == 2
    assert delete_old_worker_ids(at=LATER) == 1
    assert delete_old_worker_ids(at=LATER) == 0

    account.refresh_from_db()
    assert "AONE" not in account.marketplace_id
    assert account.id_deleted_at == LATER
    assert not Behaviour.objects.exists()
    assert Assignment.objects.get().unplaced_answer == ""
    assert account.worker.responses.count() == 1


def test_the_schedule_has_both_rules():
    released(WorkerAccountFactory(), name="pilot")

    deleted = {one.what: one.deleted for one in tidy(at=LATER)}

    assert deleted["worker ids of released campaigns"] == 1
    assert deleted["behaviour counts and unplaced answers of released campaigns"] == 2


def test_an_id_is_kept_as_long_as_one_campaign_needs_it():
    account = WorkerAccountFactory()
    released(account, name="old")
    late = released(account, name="late", at=NOON + timedelta(days=1))

    assert delete_old_worker_ids(at=LATER) == 0
    late.releases.update(created_at=NOON)
    assert delete_old_worker_ids(at=LATER) == 1


@pytest.mark.parametrize("need", ["running", "unreleased", "undecided", "bonus", "page"])
def test_an_id_that_is_needed_to_pay_or_answer_a_worker_is_kept(need):
    account = WorkerAccountFactory()
    campaign = released(account, name="pilot")
    assignment = Assignment.objects.get()
    if need == "running":
        campaign.status = CampaignStatus.RUNNING
        campaign.save()
    elif need == "unreleased":
        campaign.releases.all().delete()
    elif need == "undecided":
        AssignmentFactory(hit=assignment.hit, account=account)
    elif need == "bonus":
        Bonus.objects.create(
            assignment=assignment, token="t", amount=1, fee=0, reason="Thanks", planned_at=NOON
        )
    elif need == "page":
        TaskPageFactory(marketplace_id=account.marketplace_id)

    assert delete_old_worker_ids(at=LATER) == 0


def test_the_refusal_of_a_bonus_keeps_no_deleted_id():
    account = WorkerAccountFactory(marketplace_id="AONE1234567890")
    released(account, name="pilot")
    bonus = {"amount": 1, "fee": 0, "reason": "Thanks", "planned_at": NOON}
    refusal = "Worker AONE1234567890 is blocked."
    Bonus.objects.create(assignment=Assignment.objects.get(), token="t", refusal=refusal, **bonus)

    assert delete_old_worker_ids(at=LATER) == 1

    assert Bonus.objects.get().refusal == "Worker [id] is blocked."


def test_never_keeps_everything(settings):
    settings.WORKER_DATA_DAYS = None
    released(WorkerAccountFactory(), name="pilot")

    assert delete_old_worker_ids(at=LATER) == delete_old_behaviour(at=LATER) == 0


@pytest.mark.parametrize(("value", "days"), [("", 365), ("30", 30), (" Never ", None)])
def test_the_setting_is_a_number_of_days_or_never(monkeypatch, value, days):
    monkeypatch.setenv("WORKER_DATA_DAYS", value)

    assert read(Environment).worker_data_days == days


@pytest.mark.parametrize("value", ["0", "-1", "a year", "36501"])
def test_another_value_of_the_setting_is_refused(monkeypatch, value):
    monkeypatch.setenv("WORKER_DATA_DAYS", value)

    with pytest.raises(ImproperlyConfigured, match="^WORKER_DATA_DAYS: "):
        read(Environment)


def test_a_worker_who_comes_back_is_the_same_worker_and_has_an_id_again():
    account = WorkerAccountFactory(marketplace_id="AONE")
    released(account, name="pilot")
    delete_old_worker_ids(at=LATER)

    found = locked_accounts(endpoint="local", marketplace_ids=["AONE", "ANEW"])

    assert found["AONE"].pk == account.pk
    assert found["ANEW"].pk != account.pk
    account.refresh_from_db()
    assert (account.marketplace_id, account.id_deleted_at) == ("AONE", None)


def test_a_worker_is_recognised_after_the_signing_key_was_replaced(settings):
    account = WorkerAccountFactory(marketplace_id="AONE")
    released(account, name="pilot")
    delete_old_worker_ids(at=LATER)

    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key"

    assert worker_named("AONE") == account.worker


def test_the_same_id_at_another_marketplace_is_another_worker():
    account = WorkerAccountFactory(marketplace_id="AONE")
    released(account, name="pilot")
    delete_old_worker_ids(at=LATER)

    workers = workers_for(endpoint="sandbox", marketplace_ids=["AONE"])

    assert workers["AONE"] != account.worker_id


@pytest.mark.parametrize("is_deleted", [False, True])
def test_an_id_at_several_marketplaces_names_each_worker(is_deleted):
    """Otherwise a person who asks would get, or have erased, only a part of their data."""
    here, there = (
        WorkerAccountFactory(endpoint=endpoint, marketplace_id="AONE")
        for endpoint in ("sandbox", "production")
    )
    if is_deleted:
        assert delete_old_worker_ids(at=LATER) == 2

    with pytest.raises(NoSuchWorker, match=f"{here.worker}, {there.worker}"):
        worker_named("AONE")
    erase_worker(worker=here.worker, by=None, at=LATER)

    assert worker_named("AONE") == there.worker


def test_the_text_that_replaces_an_id_finds_nobody():
    account = WorkerAccountFactory(marketplace_id="AONE")
    released(account, name="pilot")
    delete_old_worker_ids(at=LATER)
    digest = digest_of("local", "AONE")

    workers = workers_for(endpoint="local", marketplace_ids=["AONE"])

    assert workers == {"AONE": account.worker_id}
    with pytest.raises(Exception, match="No worker"):
        worker_named(digest)


def test_a_bonus_for_a_deleted_id_is_refused_in_words():
    account = WorkerAccountFactory()
    released(account, name="pilot")
    delete_old_worker_ids(at=LATER)
    wishes = [Wish(account.worker.pseudonym, Decimal(1), "Thanks")]

    with pytest.raises(BonusNotPossible, match="id was deleted"):
        plan_bonuses(
            campaign=Assignment.objects.get().hit.campaign, wishes=wishes, key="a", at=LATER
        )


def test_erasing_deletes_what_leads_to_the_person_and_keeps_answers():
    account = WorkerAccountFactory(marketplace_id="AONE")
    campaign = released(account, name="pilot", status=CampaignStatus.RUNNING)
    TaskPageFactory(hit__campaign=campaign, marketplace_id="AONE")
    other = TaskPageFactory(hit__campaign=campaign, marketplace_id="ATWO")
    Appeal.objects.create(
        exclusion=ExclusionFactory(campaign=campaign, worker=account.worker),
        text="I am Ada",
        received_at=NOON,
        answer="No",
        answered_at=NOON,
    )
    ada = UserFactory(username="ada")
    Caption.objects.update(remark="Ada, from Paris")
    assert data_of(account.worker)["answers"][0]["remark"] == "Ada, from Paris"

    done = erase_worker(worker=account.worker, by=ada, at=LATER)

    assert done == (1, 1, 2, 1, 1)
    account.refresh_from_db()
    assert (account.id_deleted_at, account.erased_by) == (LATER, ada)
    assert TaskPage.objects.get() == other
    assert "AONE" not in json.dumps(data_of(account.worker))
    assert "Ada" not in json.dumps(data_of(account.worker))
    assert account.worker.responses.get().seconds is None
    assert workers_for(endpoint="local", marketplace_ids=["AONE"])["AONE"] != account.worker_id


@pytest.mark.django_db(transaction=True)
def test_an_erasure_closes_many_pages_in_several_transactions(monkeypatch):
    """One transaction would lock the tasks of the second lot after those of the first."""
    campaign, account = CampaignFactory(), WorkerAccountFactory()
    for _ in range(3):
        TaskPageFactory(hit__campaign=campaign, marketplace_id=account.marketplace_id)
    monkeypatch.setattr(hit_pages, "CLOSED_AT_ONCE", 1)
    lots, committed = [], []

    def release(*, pages):
        lots.append(len(committed))
        transaction.on_commit(lambda: committed.append(pages))

    monkeypatch.setattr(hit_pages, "release_claims", release)

    done = erase_worker(worker=account.worker, by=None, at=LATER)

    assert (done.pages, lots) == (3, [0, 1, 2])


def test_errors_that_quote_the_marketplace_keep_no_erased_id():
    account = WorkerAccountFactory(marketplace_id="AONE1234567890")
    campaign = CampaignFactory()
    error = "assignment 3: Worker AONE1234567890 is blocked."
    at = {"first_at": NOON, "last_at": NOON}
    Sync.objects.create(campaign=campaign, started_at=NOON, error=error)
    SyncProblem.objects.create(campaign=campaign, subject="assignment 3", message=error, **at)
    ProcessedMessage.objects.create(
        document_id="1", received_at=NOON, problem="no event", body=f"{{{error}}}"
    )
    job = Job.objects.create(
        kind="sync",
        title="Sync",
        status="FAILED",
        asked_at=NOON,
        due_at=NOON,
        ended_at=NOON,
        error=error,
    )
    JobLine.objects.create(job=job, at=NOON, text=error)
    Failure.objects.create(source="job", subject="1", title="Sync", error=error, **at)
    Notice.objects.create(kind="job-failed", subject="1", title="Sync", text=error, noticed_at=NOON)
    paid = AssignmentFactory(account=account, status=AssignmentStatus.APPROVED, decided_at=NOON)
    bonus = {"amount": 1, "fee": 0, "reason": "Thanks", "planned_at": NOON}
    Bonus.objects.create(assignment=paid, token="t", refusal=error, **bonus)
    key, _ = take_key(user=UserFactory(), key="k", digest="", at=NOON)
    keep_answer(taken=key, status=409, body=f'{{"detail": "{error}"}}')

    erase_worker(worker=account.worker, by=None, at=NOON)

    rows = [Sync, SyncProblem, ProcessedMessage, Job, JobLine, Failure, Notice, Bonus]
    rows.append(IdempotencyKey)
    stored = [row for model in rows for row in model.objects.values()]
    assert len(stored) == len(rows)
    assert "AONE" not in str(stored)
    assert str(stored).count("Worker [id] is blocked.") == len(rows)


def test_a_sync_does_not_tell_the_marketplace_of_an_erased_worker():
    """A changed reward makes a new type of HITs, from which excluded workers are barred anew."""
    account = WorkerAccountFactory()
    campaign = ExclusionFactory(worker=account.worker).campaign
    erase_worker(worker=account.worker, by=None, at=NOON)
    HitTypeFactory(campaign=campaign)

    nobody = SimpleNamespace(calls=0, after_call=None)
    done = reconcile(campaign, marketplace=nobody, steps=(bar,))

    assert done.problems == 0, done.error


@pytest.mark.parametrize("is_in_force", [True, False])
def test_a_campaign_is_settled_although_the_marketplace_cannot_be_told_of_an_erased_worker(
    is_in_force,
):
    """Whether the worker is let back or barred: there is no id to say it with."""
    account = WorkerAccountFactory()
    campaign = released(account, name="pilot")
    barring = WorkerBarring.objects.create(
        hit_type=HitTypeFactory(campaign=campaign),
        account=account,
        is_wanted=is_in_force,
        is_in_force=is_in_force,
    )
    erase_worker(worker=account.worker, by=None, at=NOON)
    WorkerBarring.objects.filter(pk=barring.pk).update(is_wanted=not is_in_force)

    assert settled_since_release(LATER).get() == campaign


def test_erasing_twice_changes_nothing_more():
    account = WorkerAccountFactory()
    erase_worker(worker=account.worker, by=None, at=NOON)
    account.refresh_from_db()

    erase_worker(worker=account.worker, by=UserFactory(), at=LATER)

    again = WorkerAccount.objects.get()
    assert (again.marketplace_id, again.id_deleted_at) == (account.marketplace_id, NOON)


def test_an_id_deleted_by_the_schedule_can_be_erased_too():
    account = WorkerAccountFactory(marketplace_id="AONE")
    released(account, name="pilot")
    delete_old_worker_ids(at=LATER)

    erase_worker(worker=worker_named("AONE"), by=None, at=LATER)

    with pytest.raises(Exception, match="No worker"):
        worker_named("AONE")


def test_an_erased_worker_gets_no_place_for_an_assignment_that_they_submitted():
    hit = HitFactory(hit_type__campaign=make_campaign(tasks=1), hit_id="HIT1")
    frame = FrameParameters("A1", "HIT1", "AONE", "http://127.0.0.1:8001")
    form = open_page(campaign=hit.campaign, frame=frame, at=NOON).form
    fields = {f"caption-{form.numbers[0]}": SENTENCE}
    take_submission(campaign=hit.campaign, hit=hit, listed=listed("A1", "AONE", **fields), at=NOON)
    Assignment.objects.update(status="APPROVED", decided_at=NOON)
    erase_worker(worker=worker_named("AONE"), by=None, at=NOON)

    with pytest.raises(AlreadySubmitted):
        open_page(campaign=hit.campaign, frame=frame, at=NOON)
    with pytest.raises(AlreadySubmitted):
        store_answers(
            campaign=hit.campaign, form=form, fields=fields, counts={}, device="", at=NOON
        )

    assert not TaskPage.objects.exists()


@pytest.mark.parametrize(("hours", "is_erased"), [(25, True), (23, False)])
def test_a_barring_that_the_marketplace_refuses_does_not_keep_the_id_for_ever(
    monkeypatch, hours, is_erased
):
    def refuse(*_, **__):
        raise MarketplaceError("The account is closed.", "RequestError", is_refusal=True)

    account = WorkerAccountFactory(marketplace_id="AONE")
    campaign = released(account, name="pilot")
    Campaign.objects.update(status=CampaignStatus.PAUSED)
    hit_type = HitTypeFactory(campaign=campaign)
    WorkerBarring.objects.create(hit_type=hit_type, account=account, is_wanted=True)
    ExclusionFactory(campaign=campaign, worker=account.worker)
    monkeypatch.setattr(Marketplace, "grant", refuse)
    reconcile(campaign, at=timezone.now(), steps=(bar,))
    at = timezone.now() + timedelta(hours=hours)

    with nullcontext() if is_erased else pytest.raises(CannotErase, match="1 exclusion"):
        erase_worker(worker=account.worker, by=None, at=at)


def test_an_exclusion_that_no_sync_has_seen_keeps_the_id_until_the_marketplace_knows_of_it():
    account = WorkerAccountFactory(marketplace_id="AONE")
    campaign = HitTypeFactory(campaign__status=CampaignStatus.RUNNING).campaign
    exclusion = ExclusionFactory(campaign=campaign, worker=account.worker)
    finished = HitTypeFactory(campaign__status=CampaignStatus.FINISHED).campaign
    ExclusionFactory(campaign=finished, worker=account.worker)

    with pytest.raises(CannotErase, match="1 exclusion that the marketplace was not told of"):
        erase_worker(worker=account.worker, by=None, at=NOON)

    granted = []
    told = SimpleNamespace(
        calls=0, after_call=None, grant=lambda **values: granted.append(values["worker_id"])
    )
    reconcile(campaign, marketplace=told, steps=(bar,))
    assert granted == ["AONE"]
    erase_worker(worker=exclusion.worker, by=None, at=NOON)


def test_a_worker_who_is_owed_something_is_not_erased():
    assignment = AssignmentFactory()

    with pytest.raises(CannotErase, match="1 assignment not approved or rejected yet"):
        erase_worker(worker=assignment.account.worker, by=None, at=NOON)

    assignment.account.refresh_from_db()
    assert assignment.account.id_deleted_at is None


def test_the_commands_export_and_erase(tmp_path):
    account = WorkerAccountFactory(marketplace_id="AONE")
    out, file = StringIO(), tmp_path / "data.json"

    call_command("worker_data", "AONE", out=file, stdout=out)
    with pytest.raises(CommandError, match="Repeat with --confirm"):
        call_command("erase_worker", account.worker.pseudonym, stdout=out)
    account.refresh_from_db()
    assert account.marketplace_id == "AONE"
    call_command("erase_worker", "AONE", "--confirm", stdout=out)

    assert json.loads(file.read_text())["account"]["worker_id"] == "AONE"
    assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(CommandError, match="File exists"):
        call_command("worker_data", account.worker.pseudonym, out=file, stdout=out)
    with pytest.raises(CommandError, match="No worker has this pseudonym or id"):
        call_command("worker_data", "AONE", stdout=out)


@pytest.mark.parametrize("name", ["worker_data", "erase_worker"])
def test_a_worker_is_named_on_standard_input_and_nobody_by_an_empty_one(name, monkeypatch):
    pseudonym, out = WorkerAccountFactory().worker.pseudonym, StringIO()
    monkeypatch.setattr("sys.stdin", StringIO(f"{pseudonym}\n"))
    with suppress(CommandError):  # which says that nothing was erased
        call_command(name, "-", stdout=out)
    assert pseudonym in out.getvalue()

    with pytest.raises(CommandError, match="No worker has this pseudonym"):
        call_command(name, "-")


def test_a_message_that_is_refused_is_not_planned_again_for_an_erased_worker():
    """The erasure comes between the marking of the recipients and the marketplace's refusal."""
    hit = HitFactory()
    erased, other = (
        AssignmentFactory(status=AssignmentStatus.APPROVED, decided_at=NOON, hit=hit).account
        for _ in range(2)
    )
    message = plan_message(
        campaign=hit.campaign,
        pseudonyms=[erased.worker.pseudonym, other.worker.pseudonym],
        subject="Thanks",
        text="Your captions are good.",
        key="one",
        sender=UserFactory(),
        at=NOON,
    )
    recipients = take_recipients(message=message)
    erase_worker(worker=erased.worker, by=None, at=NOON)

    put_back(recipients=recipients)

    found = dict(message.recipients.values_list("account", "status"))
    assert found == {
        erased.pk: MessageStatus.NOT_REACHED,
        other.pk: MessageStatus.PLANNED,
    }


def test_an_exclusion_that_the_marketplace_cannot_be_told_of_keeps_nobody_from_erasure():
    campaign = CampaignFactory(status="FINISHED")
    account = WorkerAccountFactory(id_deleted_at=NOON, marketplace_id="digest:abc")
    ResponseFactory(task__campaign=campaign, worker=account.worker)
    ExclusionFactory(campaign=campaign, worker=account.worker)
    WorkerBarring.objects.create(
        account=account, hit_type=HitTypeFactory(campaign=campaign), is_wanted=True
    )

    done = erase_worker(worker=account.worker, by=None, at=NOON)

    assert done.kept_answers == 1
