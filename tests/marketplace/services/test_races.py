"""Two conflicting actions at once: one succeeds, and counts and ledger stay consistent."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import connection, transaction
from django.test import Client

from marketplace import clock
from marketplace.errors import (
    AccountRefused,
    DomainError,
    InvalidAssignmentState,
    LinkRefused,
    PasswordNeeded,
)
from marketplace.models import (
    Account,
    Assignment,
    ExternalIdentity,
    Hit,
    Membership,
    Message,
    Offer,
    Participation,
    QualificationRequest,
    QualificationType,
    Requester,
    Transfer,
    TransferKind,
    WithdrawnBy,
    Worker,
)
from marketplace.panels.models import BatchState, BonusBatch, PanelSubmission
from marketplace.panels.services.bonuses import _end_as_paid
from marketplace.policies import KNOWN_ANSWERS, find_plurality
from marketplace.questions.answers import build
from marketplace.services import (
    accounts,
    assignments,
    hits,
    money,
    operators,
    people_groups,
    qualification_types,
    qualifications,
    review_policies,
    reviews,
    studies,
)
from marketplace.services.links import sign_in_url
from marketplace.services.mail_invitations import add_addresses
from marketplace.services.retention import erase_worker, forget
from marketplace.services.sweep import sweep
from tests import threads
from tests.marketplace.factories import (
    NOON,
    make_hit,
    make_hit_type,
    make_requester,
    make_study,
    make_worker,
)
from tests.marketplace.ledger import ledger_balance
from tests.marketplace.panels.people import make_panel_study
from tests.marketplace.people import make_group
from tests.races import in_own_connection, just_before, until_it_waits, while_open
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)
SOON = NOON + timedelta(minutes=1)
needs_row_locks = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="transactions run one by one"
)


def outcomes(*actions) -> Counter[str]:
    """The outcome of each concurrent action: "done", or the name of the error."""

    def run(action) -> str:
        try:
            action()
        except DomainError as error:
            return type(error).__name__
        return "done"

    return Counter(threads.at_once(run, actions))


def accepted(hit: Hit, offer: Offer | None = None) -> Assignment:
    given = {"hit_type": hit.hit_type, "offer": offer, "at": NOON}
    made = assignments.accept(worker=make_worker(), **given)
    return Assignment.objects.select_related("hit__hit_type", "hit__requester").get(pk=made.pk)


def check_books(hit: Hit) -> None:
    """Check that the HIT's counts match its rows, and the held money their remaining cost."""
    hit.refresh_from_db()
    statuses = Counter(hit.assignments.values_list("status", flat=True))
    assert hit.pending == statuses["Accepted"]
    assert hit.unreviewed == statuses["Submitted"]
    assert hit.completed == statuses["Approved"] + statuses["Rejected"]
    requester = hit.requester
    requester.refresh_from_db()
    assert requester.available_balance == ledger_balance(requester, Account.AVAILABLE)
    assert requester.held_balance == ledger_balance(requester, Account.HELD)
    unpaid = 0 if hit.status == "Disposed" else hit.available + hit.pending + hit.unreviewed
    assert requester.held_balance == hit.cost * unpaid


@needs_row_locks
def test_of_two_requesters_with_one_name_at_once_one_is_made():
    def make(balance):
        return operators.make_requester(name="lab", balance=Decimal(balance), at=NOON)

    with pytest.raises(DomainError, match="lab already"):
        while_open(lambda: make(10), lambda: make(500))

    assert Requester.objects.get().available_balance == 10


@needs_row_locks
def test_two_operators_who_make_the_same_workers_do_not_deadlock():
    def make(*names):
        operators.make_workers(names=names, columns={}, at=NOON)

    with pytest.raises(DomainError, match="at the same moment"):
        while_open(lambda: make("ada"), lambda: make("mia", "ada"), meanwhile=lambda: make("mia"))

    assert Worker.objects.count() == 2


@needs_row_locks
def test_two_operators_who_invite_the_same_people_do_not_deadlock():
    group = make_group()

    def invite(*addresses):
        return add_addresses(group=group, addresses=addresses, at=NOON)

    new = while_open(
        lambda: invite("ada@example.org"),
        lambda: invite("mia@example.org", "ada@example.org", "ben@example.org"),
        meanwhile=lambda: invite("mia@example.org"),
    )

    assert (new, group.mail_invitations.count()) == (1, 3)


@pytest.mark.parametrize("_run", range(3))
def test_a_hit_is_submitted_or_returned_or_abandoned_once(_run):
    hit = make_hit(max_assignments=3)
    found = accepted(hit)

    def submit(answer: str) -> Callable[[], object]:
        return lambda: assignments.submit(assignment=found, answer=answer, at=SOON)

    ended = outcomes(
        *[submit(f"<a>{number}</a>") for number in range(3)],
        *[lambda: assignments.give_back(assignment=found, at=SOON)] * 3,
        *[lambda: sweep(at=found.deadline)] * 2,
    )

    # Sweeping tells nobody whether it was the one that ended the assignment.
    assert ended["done"] in (2, 3)
    assert Assignment.objects.get().status in ("Submitted", "Returned", "Abandoned")
    check_books(hit)


@pytest.mark.parametrize("_run", range(3))
def test_an_answer_that_is_submitted_again_counts_once(_run):
    hit = make_hit(make_hit_type(auto_approval_delay=timedelta()), max_assignments=3)
    found = accepted(hit)

    ended = outcomes(*[lambda: assignments.submit(assignment=found, answer="<a/>", at=SOON)] * 4)

    assert ended == {"done": 4}
    assert Transfer.objects.filter(kind=TransferKind.REWARD).count() == 1
    check_books(hit)


@needs_row_locks
def test_an_answer_that_a_sweep_approves_first_is_taken():
    hit = make_hit(make_hit_type(auto_approval_delay=timedelta()))
    found = accepted(hit)

    with just_before('UPDATE "marketplace_worker"', lambda: sweep(at=SOON)):
        assignments.submit(assignment=found, answer="<a/>", at=SOON)

    assert Assignment.objects.get().status == "Approved"
    check_books(hit)


@needs_row_locks
def test_a_rejection_is_not_overridden_while_the_hit_is_deleted():
    hit = make_hit()
    found = accepted(hit)
    assignments.submit(assignment=found, answer="<a/>", at=NOON)
    reviews.reject(assignment=found, feedback="No.", at=NOON)

    with (
        pytest.raises(InvalidAssignmentState, match="just been deleted"),
        just_before('UPDATE "marketplace_worker"', lambda: hits.delete(hit=hit, at=SOON), nth=2),
    ):
        reviews.approve(assignment=found, override_rejection=True, at=SOON)

    assert Assignment.objects.get().status == "Rejected"


@pytest.mark.parametrize("_run", range(3))
def test_a_hit_is_extended_or_deleted_but_not_both(_run):
    hit = make_hit(make_hit_type(make_requester("10.00")), max_assignments=2)
    hits.expire(hit=hit, at=NOON)

    outcomes(
        lambda: hits.delete(hit=hit, at=SOON),
        lambda: hits.add_assignments(hit=hit, count=3, at=SOON),
        lambda: hits.update_expiration(hit=hit, expires_at=SOON + timedelta(hours=1), at=SOON),
        lambda: hits.expire(hit=hit, at=SOON),
        lambda: hits.delete(hit=hit, at=SOON),
    )

    check_books(hit)


@pytest.mark.parametrize("_run", range(3))
def test_a_hit_that_is_deleted_pays_nobody_afterwards(_run):
    hit = make_hit(max_assignments=1)
    found = accepted(hit)
    assignments.submit(assignment=found, answer="<a/>", at=NOON)

    outcomes(
        lambda: reviews.approve(assignment=found, at=SOON),
        lambda: reviews.reject(assignment=found, feedback="No.", at=SOON),
        lambda: hits.delete(hit=hit, at=SOON),
        lambda: reviews.approve(assignment=found, override_rejection=True, at=SOON),
    )

    check_books(hit)
    rewards = Transfer.objects.filter(kind=TransferKind.REWARD).count()
    assert rewards == Assignment.objects.filter(status="Approved").count() <= 1


def test_a_participant_who_arrives_in_many_tabs_is_one_and_has_one_hit():
    hit_type = make_hit_type()
    for _ in range(3):
        make_hit(hit_type, max_assignments=5)
    study = make_study(hit_type, assignments=3)

    def arrive() -> None:
        part = studies.join(study=study, identifier="p1", address="192.0.2.1", at=NOON)
        assert studies.next_assignment(participation=part, at=NOON) is not None

    assert outcomes(*[arrive] * 8) == {"done": 8}

    for model in (Worker, ExternalIdentity, Participation, Assignment):
        assert model.objects.count() == 1


def test_an_arrival_and_a_first_password_leave_no_open_door():
    """In either order, the panel id no longer opens the account afterwards."""
    hit_type = make_hit_type()
    study = make_study(hit_type, assignments=3)
    arrival = {"study": study, "identifier": "p1", "address": "192.0.2.1", "at": NOON}
    worker = studies.join(**arrival).worker

    outcomes(
        lambda: accounts.set_password(
            worker=worker, current="", password="a long password", at=NOON
        ),
        *[lambda: studies.join(**arrival)] * 3,
    )

    with pytest.raises(PasswordNeeded):
        studies.join(**arrival)


def test_of_two_first_passwords_the_second_needs_the_first():
    """Both sessions read the account when it had no password."""
    worker = make_worker()
    accounts.set_password(
        worker=Worker.objects.get(), current="", password="the first password", at=NOON
    )

    with pytest.raises(AccountRefused, match="current password"):
        accounts.set_password(worker=worker, current="", password="the second password", at=NOON)


@pytest.mark.parametrize("_run", range(3))
def test_a_participant_who_comes_back_while_being_deleted_can_continue(_run):
    hit_type = make_hit_type()
    make_hit(hit_type, max_assignments=5, lifetime=timedelta(days=100))
    study = make_study(hit_type, assignments=3)
    studies.join(study=study, identifier="p1", address="192.0.2.1", at=NOON)
    later = NOON + timedelta(days=40)

    def arrive() -> None:
        studies.join(study=study, identifier="p1", address="192.0.2.1", at=later)

    outcomes(arrive, lambda: forget(at=later), arrive)

    part = studies.join(study=study, identifier="p1", address="192.0.2.1", at=later)
    assert studies.next_assignment(participation=part, at=later) is not None
    assert Worker.objects.count() == 1


def gets_a_password(worker: Worker) -> None:
    accounts.set_password(worker=worker, current="", password="a long password", at=NOON)


def has_a_submission_at_a_panel(worker: Worker) -> None:
    panel_study = make_panel_study()
    participation = Participation.objects.create(
        study=panel_study.study, worker=worker, started_at=NOON
    )
    panel_study.submissions.create(
        external_id="s", participation=participation, status="AWAITING REVIEW", started_at=NOON,
        known_since=NOON,
    )  # fmt: skip


@needs_row_locks
@pytest.mark.parametrize("act", [gets_a_password, has_a_submission_at_a_panel])
def test_a_participant_who_is_no_longer_idle_is_not_deleted(act):
    worker = make_worker()
    Worker.objects.update(created_at=NOON)
    ExternalIdentity.objects.create(worker=worker, source="PROLIFIC_PID", identifier="p1")

    with just_before("FOR UPDATE", lambda: act(worker)):
        forget(at=NOON + timedelta(days=40))

    assert Worker.objects.filter(pk=worker.pk, identities__identifier="p1").exists()
    assert not PanelSubmission.objects.filter(participation=None).exists()


def test_the_last_use_of_an_invitation_makes_one_account():
    invitation = accounts.invite(uses=1, expires_at=SOON, at=NOON)

    ended = outcomes(
        *[
            lambda n=n: accounts.sign_up(
                invitation_id=invitation.pk, name=f"ada {n}", password="a long password",
                country="", address="192.0.2.1", at=NOON,
            )
            for n in range(4)
        ]
    )  # fmt: skip

    assert ended == {"done": 1, LinkRefused.__name__: 3}
    assert Worker.objects.count() == 1


def test_two_payouts_at_once_pay_nobody_twice():
    hit = make_hit(max_assignments=2)
    for _ in range(2):
        found = accepted(hit)
        assignments.submit(assignment=found, answer="<a/>", at=NOON)
        reviews.approve(assignment=found, at=NOON)

    outcomes(*[lambda: money.pay_out(at=SOON)] * 3)

    paid = Transfer.objects.filter(kind=TransferKind.PAYOUT)
    assert [each.amount for each in paid] == [Decimal("0.10")] * 2


def test_many_clicks_over_http_are_one_acceptance_and_one_submission():
    hit_type = make_hit_type()
    hit = make_hit(hit_type, max_assignments=9)
    Hit.objects.update(expires_at=clock.now() + timedelta(hours=1))
    path = "/" + sign_in_url(make_worker()).split("/", 3)[3]
    client = Client()
    client.get(path)
    cookie = client.cookies["marketplace_session"].value

    def click(address: str, fields: dict[str, str]) -> int:
        tab = Client()
        tab.cookies["marketplace_session"] = cookie
        return tab.post(address, fields).status_code

    accept = f"/groups/{hit_type.public_id}/accept"
    clicks = Counter(threads.at_once(lambda _: click(accept, {}), range(6)))
    assert clicks == {303: 1, 409: 5}
    found = Assignment.objects.get()
    fields = {"assignmentId": found.public_id, "caption": "A dog."}
    ended = Counter(
        threads.at_once(
            lambda number: (
                click("/mturk/externalSubmit", fields)
                if number % 2
                else click(f"/assignments/{found.public_id}/return", {})
            ),
            range(6),
        )
    )

    # A return that comes too late leads back to the list with a word, and changes nothing.
    assert ended[303] == 3
    # The same answer again is no error.
    assert ended[200] == (3 if Assignment.objects.get().status == "Submitted" else 0)
    check_books(hit)


@pytest.fixture
def paid_beside():
    """A function that pays a bonus for an assignment by another connection, which waits for no lock
    longer than a moment."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no locks of rows.")

    def pay(found: Assignment) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '2s'")
        try:
            reviews.send_bonus(
                requester=found.hit.requester, worker=found.worker, assignment=found,
                amount=Decimal("0.20"), reason="Good.", at=SOON,
            )  # fmt: skip
        finally:
            connection.close()

    def pay_beside(found: Assignment) -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(pay, found).result(PATIENCE)

    return pay_beside


def test_a_bonus_does_not_wait_for_who_holds_its_hit(paid_beside):
    """It has locked the balance, for which a rejection, say, waits with its HIT locked."""
    found = accepted(make_hit())
    assignments.submit(assignment=found, answer="<a/>", at=NOON)

    with transaction.atomic():
        hits.lock(found.hit)
        paid_beside(found)

    assert money.balances() == {found.worker_id: Decimal("0.20")}


@needs_row_locks
@pytest.mark.parametrize(
    ("act", "found"),
    [
        (lambda hit: hits.add_assignments(hit=hit, count=1, at=NOON), (None, 2, False)),
        (lambda hit: sweep(at=hit.expires_at), (1, 1, True)),
    ],
    ids=["is extended", "expires"],
)
def test_a_hit_whose_type_changes_meanwhile(act, found):
    requester = make_requester()
    hit = make_hit(make_hit_type(requester))
    dearer = make_hit_type(requester, reward=Decimal("0.50"))

    done = while_open(lambda: hits.change_type(hit=hit, hit_type=dearer, at=NOON), lambda: act(hit))

    check_books(hit)
    assert hit.hit_type == dearer
    assert (done, hit.max_assignments, hit.is_expired) == found


@needs_row_locks
def test_a_policy_waits_for_a_bonus_of_its_worker():
    """Both lock the worker first."""
    policy = {
        "PolicyName": KNOWN_ANSWERS,
        "Parameters": [
            {"Key": "AnswerKey", "MapEntries": [{"Key": "colour", "Values": ["red"]}]},
            {"Key": "RejectIfKnownAnswerScoreIsLessThan", "Values": ["50"]},
        ],
    }
    hit = make_hit(assignment_review_policy=policy)
    found = accepted(hit)
    assignments.submit(assignment=found, answer=build([("colour", ["blue"])]), at=NOON)
    hit.refresh_from_db()

    while_open(
        lambda: reviews.send_bonus(
            requester=hit.requester, worker=found.worker, assignment=found,
            amount=Decimal("0.20"), reason="Good.", at=SOON,
        ),
        lambda: review_policies.apply_policy(hit, NOON),
    )  # fmt: skip

    found.refresh_from_db()
    assert found.status == "Rejected"
    assert money.balances() == {found.worker_id: Decimal("0.20")}


@needs_row_locks
def test_two_processes_that_score_a_hit_store_its_results_once():
    hit = make_hit()
    found = find_plurality(["colour"], {"A1": {"colour": ["red"]}}, threshold=50)
    store = partial(review_policies._store_plurality, hit, found)

    while_open(store, store)

    assert hit.review_results.filter(key="HITAgreementScore").count() == 1


@pytest.fixture
def kind() -> QualificationType:
    return qualification_types.create_qualification_type(
        requester=make_requester(), name="Reader", description="Reads", at=NOON,
        retry_delay=timedelta(0),
    )  # fmt: skip


@needs_row_locks
def test_a_message_that_waits_for_an_erasure_is_not_sent(settings):
    settings.MTURK_NEEDS_HISTORY_FOR_MESSAGES = False
    worker, requester = make_worker(), make_requester()

    failures = while_open(
        lambda: erase_worker(worker=worker, at=NOON),
        lambda: reviews.notify_workers(
            requester=requester, subject="Hello", text="Dear Ada", at=NOON,
            worker_ids=[worker.public_id],
        ),
    )  # fmt: skip

    assert failures == {worker.public_id: "The worker does not exist."}
    assert not Message.objects.exists()


def revokes(kind: QualificationType, worker: Worker) -> None:
    qualifications.revoke(qualification_type=kind, worker=worker, at=NOON)


def declines(kind: QualificationType, worker: Worker) -> None:
    request = kind.requests.get()
    qualification_types.reject_request(request=request, reason="", at=NOON)


@needs_row_locks
@pytest.mark.parametrize("act", [revokes, declines])
def test_an_erasure_waits_for_the_requesters_decision_and_deletes_its_message(kind, act):
    worker = make_worker()
    qualifications.grant(qualification_type=kind, worker=worker, value=1, at=NOON)
    QualificationRequest.objects.create(
        qualification_type=kind, worker=worker, status="Pending", started_at=NOON,
        submitted_at=NOON,
    )  # fmt: skip

    while_open(
        lambda: act(kind, worker),
        lambda: erase_worker(worker=worker, at=NOON),
        meanwhile=lambda: qualifications.tell(worker, "No", kind, text="A reason.", at=NOON),
    )

    assert not Message.objects.exists()


@needs_row_locks
def test_a_test_that_is_submitted_in_time_is_not_ended_by_the_next_request(kind):
    worker = make_worker()
    QualificationType.objects.update(test="<test/>", test_duration=timedelta(minutes=1))
    kind.refresh_from_db()
    request = qualification_types.request_qualification(
        qualification_type=kind, worker=worker, at=NOON
    )

    with pytest.raises(DomainError, match="not decided yet"):
        while_open(
            lambda: qualification_types.submit_test(request=request, answer="<a/>", at=NOON),
            lambda: qualification_types.request_qualification(
                qualification_type=kind, worker=worker, at=SOON
            ),
        )

    assert [each.status for each in QualificationRequest.objects.all()] == ["Pending"]


@needs_row_locks
def test_a_request_that_waits_for_the_deletion_of_its_type_is_refused(kind):
    worker = make_worker()

    with pytest.raises(DomainError, match="cannot be requested"):
        while_open(
            lambda: qualification_types.delete_qualification_type(qualification_type=kind, at=NOON),
            lambda: qualification_types.request_qualification(
                qualification_type=kind, worker=worker, at=NOON
            ),
        )

    assert not QualificationRequest.objects.exists()


@needs_row_locks
def test_two_people_who_withdraw_the_same_tasks_wait_for_each_other():
    group, (first, second) = make_group(), [make_hit(max_assignments=9) for _ in range(2)]
    offers = [
        people_groups.offer(group=group, hit_type=hit.hit_type, share=None)
        for hit in (first, second)
    ]
    mine = [accepted(hit) for hit in (first, second)]
    worker = make_worker()
    for offer in reversed(offers):
        assignments.accept(worker=worker, hit_type=offer.hit_type, offer=offer, at=NOON)
    membership = Membership.objects.create(group=group, worker=worker, joined_at=NOON)
    ended = {"status": "Returned", "accepted_at": NOON, "ended_at": NOON, "deadline": SOON}
    others = Worker.objects.bulk_create(Worker(name=f"w{n}", created_at=NOON) for n in range(300))
    Assignment.objects.bulk_create(Assignment(hit=first, worker=one, **ended) for one in others)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # so that the database reads the person's tasks by an index

    is_done = while_open(
        lambda: assignments.give_back(assignment=mine[0], at=SOON),
        lambda: people_groups.withdraw(membership=membership, by=WithdrawnBy.PERSON, at=SOON),
        meanwhile=lambda: assignments.give_back(assignment=mine[1], at=SOON),
    )

    assert is_done
    assert not Assignment.objects.accepted().exists()


@pytest.fixture
def slow_update():
    """A function by which a connection's updates of assignments wait, between the look at the row
    and its lock, for a transaction with the advisory lock 1."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no locks of rows.")
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION wait_if_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "IF current_setting('races.slow', true) = 'yes' THEN "
            "PERFORM pg_advisory_xact_lock(1); END IF; RETURN NULL; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER slow_update BEFORE UPDATE ON marketplace_assignment "
            "FOR EACH STATEMENT EXECUTE FUNCTION wait_if_slow()"
        )

    def be_slow() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET races.slow = 'yes'")

    yield be_slow
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION wait_if_slow CASCADE")


def test_a_withdrawal_that_meets_an_approval_waits_for_it_or_it_for_the_withdrawal(slow_update):
    """The withdrawal has seen the task open, and locks it when it is sent and being approved."""
    group, hit = make_group(), make_hit(make_hit_type(auto_approval_delay=timedelta()))
    offer = people_groups.offer(group=group, hit_type=hit.hit_type, share=None)
    found = accepted(hit, offer)
    membership = Membership.objects.create(group=group, worker=found.worker, joined_at=NOON)

    def withdraw() -> None:
        slow_update()
        people_groups.withdraw(membership=membership, by=WithdrawnBy.PERSON, at=SOON)

    def submit() -> None:
        assignments.submit(assignment=found, answer="<a/>", at=SOON)

    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(1)")
            withdrawn = pool.submit(in_own_connection, withdraw)
            until_it_waits(withdrawn)
            submitted = pool.submit(in_own_connection, submit)
            until_it_waits(submitted, number=2)
        submitted.result(PATIENCE)
        withdrawn.result(PATIENCE)

    check_books(hit)
    assert hit.completed == 1


@needs_row_locks
def test_a_payout_and_the_record_of_a_panels_bonuses_do_not_wait_for_each_other():
    """The payout locks workers in the order of their accounts, the bonuses name them in another."""
    panel_study, hit = make_panel_study(), make_hit(max_assignments=3)
    paid = [accepted(hit) for _ in range(3)]
    for found in paid:
        assignments.submit(assignment=found, answer="<a/>", at=NOON)
        reviews.approve(assignment=found, at=NOON)
    batch = BonusBatch.objects.create(
        panel_study=panel_study, created_at=NOON, sending_at=NOON, state=BatchState.SENT
    )
    for found in (paid[2], paid[0]):
        participation = Participation.objects.create(
            study=panel_study.study, worker=found.worker, started_at=NOON
        )
        submission = panel_study.submissions.create(
            external_id=f"s{found.pk}", participation=participation, status="APPROVED",
            started_at=NOON, known_since=NOON,
        )  # fmt: skip
        batch.payments.create(submission=submission, kind="bonus", amount="0.10", made_at=NOON)

    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            Worker.objects.select_for_update(no_key=True).get(pk=paid[1].worker_id)
            payout = pool.submit(in_own_connection, lambda: money.pay_out(at=SOON))
            until_it_waits(payout)
            record = partial(_end_as_paid, batch, from_state=BatchState.SENT, at=SOON)
            recorded = pool.submit(in_own_connection, record)
            until_it_waits(recorded, number=2)
        recorded.result(PATIENCE)
        assert payout.result(PATIENCE) == 3
    batch.refresh_from_db()
    assert batch.state == BatchState.PAID
