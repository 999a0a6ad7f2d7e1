"""Workers' data on request, and accounts that are closed and emptied."""

import json
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from bs4 import BeautifulSoup
from django.core.management import CommandError, call_command

from marketplace.errors import AlreadyDone, DomainError
from marketplace.models import (
    Activity,
    ExternalIdentity,
    MailInvitation,
    Message,
    Participation,
    QualificationType,
    Worker,
)
from marketplace.services import (
    accounts,
    assignments,
    hits,
    mail_invitations,
    money,
    people_groups,
    qualification_types,
    qualifications,
    reviews,
    studies,
)
from marketplace.services.operators import noted
from marketplace.services.qualification_types import create_qualification_type
from marketplace.services.retention import CannotErase, data_of, erase_worker
from tests.marketplace.factories import (
    NOON,
    make_hit,
    make_hit_type,
    make_requester,
    make_study,
    make_worker,
)
from tests.marketplace.people import make_group

pytestmark = pytest.mark.django_db
YEAR = timedelta(days=365)


def paid(worker, reward="0.10"):
    """An assignment of the worker that was submitted, approved and paid out."""
    hit = make_hit(make_hit_type(reward=Decimal(reward)))
    accepted = assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=accepted, answer="<a/>", at=NOON)
    reviews.approve(assignment=accepted, at=NOON)
    money.pay_out(at=NOON)
    return accepted


def test_erasing_closes_the_account_and_keeps_work_and_money():
    worker = make_worker(country="US")
    name, done = worker.name, paid(worker)
    Worker.objects.filter(pk=worker.pk).update(password="hash")
    ExternalIdentity.objects.create(worker=worker, source="sso", identifier="ada@example.org")
    with noted(actor="operator root", action="created workers", about=name, at=NOON):
        pass

    erase_worker(worker=worker, at=NOON)

    worker.refresh_from_db()
    assert worker.name != name
    assert (worker.password, worker.place, worker.is_suspended) == ("", "", True)
    assert worker.sign_in_number == 1
    assert not worker.identities.exists()
    assert not Activity.objects.filter(about=name).exists()
    assert worker.assignments.get() == done
    assert [one["kind"] for one in data_of(worker)["money"]] == ["reward", "payout"]
    erase_worker(worker=worker, at=NOON + YEAR)
    worker.refresh_from_db()
    assert worker.erased_at == NOON


def test_a_worker_with_undecided_work_or_money_is_not_erased():
    worker, hit = make_worker(), make_hit()
    accepted = assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)
    with pytest.raises(CannotErase, match="not approved or rejected yet"):
        erase_worker(worker=worker, at=NOON)

    assignments.submit(assignment=accepted, answer="<a/>", at=NOON)
    reviews.approve(assignment=accepted, at=NOON)
    with pytest.raises(CannotErase, match=r"is owed \$0\.10"):
        erase_worker(worker=worker, at=NOON)

    worker.refresh_from_db()
    assert worker.erased_at is None


def test_nobody_is_paid_whose_account_is_closed():
    """A payout would name an account, and nobody would know whose it was."""
    worker, hit = make_worker(), make_hit()
    rejected = assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=rejected, answer="<a/>", at=NOON)
    reviews.reject(assignment=rejected, feedback="No.", at=NOON)
    erase_worker(worker=worker, at=NOON)

    with pytest.raises(DomainError, match="closed the account"):
        reviews.approve(assignment=rejected, override_rejection=True, at=NOON)
    with pytest.raises(DomainError, match="closed the account"):
        reviews.send_bonus(
            requester=hit.requester, worker=worker, assignment=rejected, amount=Decimal("0.20"),
            reason="Good.", at=NOON,
        )  # fmt: skip

    rejected.refresh_from_db()
    assert rejected.status == "Rejected"
    assert money.balances() == {}


def test_a_bonus_that_was_paid_before_the_account_was_closed_counts_as_paid():
    """Its answer was lost, and the program repeats the call."""
    worker = make_worker()
    done = paid(worker)
    bonus = {
        "requester": done.hit.requester, "worker": worker, "assignment": done,
        "amount": Decimal("0.20"), "reason": "Good.", "token": "bonus", "at": NOON,
    }  # fmt: skip
    reviews.send_bonus(**bonus)
    money.pay_out(at=NOON)
    erase_worker(worker=worker, at=NOON)

    with pytest.raises(AlreadyDone):
        reviews.send_bonus(**bonus)


def test_a_closed_account_gets_no_messages():
    worker = make_worker()
    hit = paid(worker).hit
    erase_worker(worker=worker, at=NOON)

    failures = reviews.notify_workers(
        requester=hit.requester, subject="Hello", text="Dear Ada", worker_ids=[worker.public_id],
        at=NOON,
    )  # fmt: skip

    assert failures == {worker.public_id: "The worker does not exist."}
    assert not Message.objects.exists()


def sets_a_password(worker: Worker) -> None:
    accounts.set_password(worker=worker, current="", password="a long password", at=NOON)


def says_a_country(worker: Worker) -> None:
    accounts.state_country(worker=worker, country="US")


def reader() -> QualificationType:
    return create_qualification_type(
        requester=make_requester(), name="Reader", description="Reads", at=NOON
    )


def asks_for_a_qualification(worker: Worker) -> None:
    qualification_types.request_qualification(qualification_type=reader(), worker=worker, at=NOON)


def is_granted_a_qualification(worker: Worker) -> None:
    qualifications.grant(qualification_type=reader(), worker=worker, value=1, at=NOON, notify=True)


def joins_a_group(worker: Worker) -> None:
    group = make_group()
    text = people_groups.latest_text(group)
    people_groups.join(group=group, text=text, worker=worker, at=NOON)


@pytest.mark.parametrize(
    "act",
    [
        sets_a_password,
        says_a_country,
        asks_for_a_qualification,
        is_granted_a_qualification,
        joins_a_group,
    ],
)
def test_a_request_that_read_the_account_before_its_erasure_stores_nothing(act):
    worker = make_worker()
    stale = Worker.objects.get(pk=worker.pk)
    erase_worker(worker=worker, at=NOON)
    worker.refresh_from_db()
    closed = data_of(worker)

    with pytest.raises(DomainError):
        act(stale)

    found = Worker.objects.get(pk=worker.pk)
    assert (found.password, found.place) == ("", "")
    assert data_of(found) == closed
    assert not Message.objects.exists()


def test_a_visit_to_a_study_that_read_the_account_before_its_erasure_stores_nothing(monkeypatch):
    study = make_study()
    read = studies.worker_of_identity

    def read_then_erase(**arguments):
        found = read(**arguments)
        erase_worker(worker=Worker.objects.get(pk=found.pk), at=NOON)
        return found

    monkeypatch.setattr(studies, "worker_of_identity", read_then_erase)

    with pytest.raises(studies.StudyRefused, match="just been deleted"):
        studies.join(study=study, identifier="a", address="192.0.2.1", at=NOON)

    assert not Participation.objects.exists()


def test_the_data_has_the_workers_rows_and_no_password():
    worker = make_worker(country="US")
    paid(worker)
    paid(make_worker())
    Worker.objects.filter(pk=worker.pk).update(password="the hash")

    data = data_of(worker)

    assert (data["name"], data["place"]) == (worker.name, "US")
    assert [one["status"] for one in data["assignments"]] == ["Approved"]
    assert [one["kind"] for one in data["money"]] == ["reward", "payout"]
    assert "the hash" not in str(data)


def test_the_data_says_that_a_qualification_was_revoked_and_who_changed_the_account():
    worker, kind = make_worker(), reader()
    given = {"qualification_type": kind, "worker": worker, "at": NOON}
    qualifications.grant(value=3, **given)
    qualifications.revoke(**given)
    with noted(actor="operator root", action="changed a worker", about=worker.public_id, at=NOON):
        pass

    data = data_of(worker)

    assert [one["status"] for one in data["qualifications"]] == ["Revoked"]
    [entry] = data["activity"]
    assert entry["action"] == "changed a worker"
    assert "actor" not in entry


def test_the_data_says_which_addresses_refuse_mail():
    group = make_group()
    mail_invitations.add_addresses(
        group=group, addresses=["mia@example.org", "other@example.org"], at=NOON
    )
    worker = make_worker()
    MailInvitation.objects.filter(address="mia@example.org").update(worker=worker)
    for address in ("mia@example.org", "other@example.org"):
        mail_invitations.stop(address=address, at=NOON)

    assert [one["address"] for one in data_of(worker)["refuse_mail"]] == ["mia@example.org"]


@pytest.mark.parametrize("reward", ["0.10", "0.00"])
def test_the_data_has_the_reward_that_was_paid(reward):
    worker = make_worker()
    done = paid(worker, reward)
    dearer = make_hit_type(done.hit.requester, reward=Decimal("0.50"))
    hits.change_type(hit=done.hit, hit_type=dearer, at=NOON)

    assert [one["reward"] for one in data_of(worker)["assignments"]] == [Decimal(reward)]


def test_the_data_has_the_reward_that_rejected_work_had():
    worker = make_worker()
    hit = make_hit()
    assignment = assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=assignment, answer="<a/>", at=NOON)
    reviews.reject(assignment=assignment, feedback="Empty.", at=NOON)
    dearer = make_hit_type(hit.requester, reward=Decimal("0.50"))
    hits.change_type(hit=hit, hit_type=dearer, at=NOON)

    assert [one["reward"] for one in data_of(worker)["assignments"]] == [Decimal("0.10")]


def test_the_data_has_requests_for_qualifications_and_the_words_of_bonuses():
    worker = make_worker()
    done = paid(worker)
    kind = reader()
    asked = qualification_types.request_qualification(
        qualification_type=kind, worker=worker, at=NOON
    )
    type(asked).objects.update(answer="<a>My eyes are weak.</a>")
    reviews.send_bonus(
        requester=done.hit.requester, worker=worker, assignment=done, amount=Decimal("0.20"),
        reason="You wrote so well.", at=NOON,
    )  # fmt: skip

    data = data_of(worker)

    assert data["qualification_requests"][0]["answer"] == "<a>My eyes are weak.</a>"
    assert data["bonuses"][0]["reason"] == "You wrote so well."


def test_an_operator_downloads_and_erases_on_the_workers_page(operator):
    worker = make_worker()
    page = f"/operator/workers/{worker.public_id}"

    assert operator.get(f"{page}/data.json").json()["name"] == worker.name
    operator.post(f"{page}/erasure", {"typed": "no"})
    worker.refresh_from_db()
    assert worker.erased_at is None
    operator.post(f"{page}/erasure", {"typed": worker.public_id})

    worker.refresh_from_db()
    assert worker.erased_at is not None
    assert "was erased at the worker" in operator.get(page).content.decode()


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("suspension", {"suspended": "no"}),
        ("link", {}),
        ("", {"country": "US", "approved": "1", "rejected": "0"}),
    ],
)
def test_an_erased_account_stays_closed_and_empty(operator, path, fields):
    """Another operator still has its page open."""
    worker = make_worker()
    erase_worker(worker=worker, at=NOON)
    page = f"/operator/workers/{worker.public_id}"

    answer = operator.post(f"{page}/{path}".rstrip("/"), fields, follow=True)

    worker.refresh_from_db()
    assert (worker.is_suspended, worker.country) == (True, "")
    assert "This account is closed" in answer.content.decode()
    page = BeautifulSoup(answer.content, "html.parser").find("main")
    assert not page.find("form")


def test_strangers_cannot_see_a_workers_data(client):
    page = f"/operator/workers/{make_worker().public_id}"

    assert client.get(f"{page}/data.json").status_code == 302
    assert client.post(f"{page}/erasure").status_code == 302


def test_the_command_prints_and_erases():
    worker, out = make_worker(), StringIO()

    call_command("marketplace_erase_worker", worker.public_id, stdout=out)
    assert json.loads(out.getvalue())["name"] == worker.name
    call_command("marketplace_erase_worker", worker.public_id, "--confirm", stdout=StringIO())

    worker.refresh_from_db()
    assert worker.erased_at is not None
    with pytest.raises(CommandError, match="No worker has the id A0"):
        call_command("marketplace_erase_worker", "A0")
