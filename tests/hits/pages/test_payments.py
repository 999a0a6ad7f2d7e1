"""Bonuses, messages to workers, statements, and acts on several workers at once."""

import csv
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.models import ResponseStatus
from corpora.reading.files import MalformedFile
from hits.models import AssignmentStatus, Bonus, MessageRecipient, WorkerMessage
from hits.pages.payments import read_bonuses, written
from hits.queries.settled import campaigns_to_sync
from hits.services.bonuses import BonusNotPossible, Wish, key_of_wishes, plan_bonuses
from hits.services.messages import MessageNotPossible, plan_message
from qualcontrol.models import HeldCause, HeldOutcome, HeldPayment
from qualcontrol.review.judging import judge
from qualcontrol.services.held_payments import hold_payment
from qualcontrol.services.intake import review_submitted
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    HitTypeFactory,
    ResponseFactory,
    UserFactory,
)

HEAD = "worker,amount,reason\n"


@pytest.fixture
def user(client):
    found = UserFactory(username="ada")
    client.force_login(found)
    return found


def worker_of(campaign, **assignment):
    """A worker with a submitted assignment and its response."""
    hit_type = campaign.hit_types.first() or HitTypeFactory(campaign=campaign)
    found = AssignmentFactory(
        hit__hit_type=hit_type, hit__available=0, hit__campaign=campaign, **assignment
    )
    ResponseFactory(task__campaign=campaign, worker=found.account.worker, assignment=found)
    return found.account.worker


def upload(text):
    return SimpleUploadedFile("bonuses.csv", text.encode(), "text/csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "first line"),
        ("W-1,2,thanks\n", "first line"),
        (HEAD, "no bonuses"),
        (HEAD + "W-1,2\n", ":2: 3 fields are expected"),
        (HEAD + "W-1,two,thanks\n", "not an amount"),
        (HEAD + "W-1,NaN,thanks\n", "not an amount"),
        (HEAD + "W-1,-1,thanks\n", "whole cents"),
        (HEAD + "W-1,1e2,thanks\n", "not an amount"),
        (HEAD + "W-1,1_0,thanks\n", "not an amount"),
        (HEAD + 'W-1,"1,50",thanks\n', "not an amount"),
        (HEAD + "W-1,1000000,thanks\n", "whole cents"),
        (HEAD + "W-1,0.005,thanks\n", "whole cents"),
        (HEAD + "W-1,1,\n", "is missing"),
        (HEAD + '"W-1,1,a\n', "never closed"),
        (HEAD + "W-1,1," + "a" * 1025, "1,024"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(text, message):
    with pytest.raises(MalformedFile, match=message):
        read_bonuses("bonuses.csv", text)


def test_a_file_that_is_written_as_it_was_read_is_equal():
    wishes = read_bonuses(
        "bonuses.csv", 'Worker,Amount,Reason\nW-1,$1.5,=thanks\nW-2,2,"a, b\r\nc"\n'
    )

    assert wishes == [Wish("W-1", Decimal("1.50"), "=thanks"), Wish("W-2", Decimal(2), "a, b\nc")]
    assert read_bonuses("bonuses.csv", written(wishes)) == wishes


@pytest.mark.django_db
def test_bonuses_of_a_file_are_shown_then_planned_once(client, user, campaign):
    one, two = worker_of(campaign), worker_of(campaign)
    text = f"\ufeff{HEAD}{one},1.00,Many good captions\n{two},0.50,Some good captions\n"

    shown = client.post("/campaigns/pilot/pay/bonuses/", {"file": upload(text)})
    assert not Bonus.objects.exists()
    confirmed = {"text": shown.context["text"], "confirmed": "on"}
    page = client.post("/campaigns/pilot/pay/bonuses/", confirmed, follow=True).content.decode()
    twice = client.post("/campaigns/pilot/pay/bonuses/", confirmed)
    again = client.post("/campaigns/pilot/pay/bonuses/", {"file": upload(text)})

    assert shown.context["preview"].total == Decimal("1.80")
    assert "2 bonuses planned: $1.80 with fees" in page
    assert (twice.status_code, again.status_code) == (409, 409)
    assert "Nothing is paid twice" in again.content.decode()
    assert sorted(Bonus.objects.values_list("amount", flat=True)) == [Decimal("0.5"), Decimal(1)]
    assert campaign in campaigns_to_sync()


@pytest.mark.django_db
def test_a_longer_file_does_not_pay_what_a_shorter_one_paid(campaign):
    one, two = worker_of(campaign), worker_of(campaign)
    wishes = [Wish(each.pseudonym, Decimal(1), "thanks") for each in (one, two)]
    plan_bonuses(campaign=campaign, wishes=wishes[:1], key="a", at=NOON)

    with pytest.raises(BonusNotPossible, match="planned before"):
        plan_bonuses(campaign=campaign, wishes=wishes, key="b", at=NOON)

    assert Bonus.objects.count() == 1


@pytest.mark.django_db
def test_bonuses_that_were_given_up_can_be_asked_for_again(client, user, campaign):
    one, two = worker_of(campaign), worker_of(campaign)
    text = f"{HEAD}{one},1.00,thanks\n{two},0.50,thanks\n"
    confirmed = {"text": text, "confirmed": "on"}

    client.post("/campaigns/pilot/pay/bonuses/", confirmed)
    Bonus.objects.filter(assignment__account__worker=one).update(refusal="Closed account.")
    partly = client.post("/campaigns/pilot/pay/bonuses/", confirmed)
    Bonus.objects.update(refusal="Closed account.")
    wholly = client.post("/campaigns/pilot/pay/bonuses/", confirmed)
    twice = client.post("/campaigns/pilot/pay/bonuses/", confirmed)

    assert (partly.status_code, wholly.status_code, twice.status_code) == (409, 302, 409)
    assert "leave out the others" in partly.content.decode()
    assert Bonus.objects.filter(refusal="").count() == 2


@pytest.mark.django_db
def test_a_list_with_the_same_bonus_twice_is_refused(client, user, campaign):
    worker = worker_of(campaign).pseudonym
    once = Wish(worker, Decimal(1), "thanks\nagain")
    wishes = [once, Wish(worker, Decimal("1.00"), "thanks\r\nagain ")]
    text = f"{HEAD}{worker},1,thanks\n\n{worker},1.00,thanks\n"

    with pytest.raises(BonusNotPossible, match=r"the same bonus of \$1\.00 2 times"):
        plan_bonuses(campaign=campaign, wishes=wishes, key="a", at=NOON)
    page = client.post("/campaigns/pilot/pay/bonuses/", {"text": text, "confirmed": "on"})

    assert page.status_code == 409
    assert "the same bonus of $1.00 2 times" in page.content.decode()
    assert not Bonus.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("pseudonym", "amount", "message"),
    [("W-NOBODY", "1", "no assignment"), ("", "99999", "whole cents"), ("", "900", "budget")],
)
def test_bonuses_are_planned_all_or_none(pseudonym, amount, message):
    campaign = CampaignFactory(budget=Decimal("500.00"))
    worker = worker_of(campaign)
    wishes = [
        Wish(worker.pseudonym, Decimal("0.10"), "thanks"),
        Wish(pseudonym or worker.pseudonym, Decimal(amount), "more thanks"),
    ]

    with pytest.raises(BonusNotPossible, match=message):
        plan_bonuses(campaign=campaign, wishes=wishes, key=key_of_wishes(campaign, wishes), at=NOON)

    assert not Bonus.objects.exists()


@pytest.mark.django_db
def test_a_file_that_is_none_is_refused(client, user, campaign):
    address = "/campaigns/pilot/pay/bonuses/"

    assert client.post(address).status_code == 422
    assert client.post(address, {"file": upload("a,b")}).status_code == 422
    binary = SimpleUploadedFile("b.csv", b"\xff\xfe\x00")
    assert client.post(address, {"file": binary}).status_code == 422
    assert client.get(address).status_code == 405


@pytest.mark.django_db
def test_a_bonus_of_a_worker_without_a_page_has_no_link(client, user, campaign):
    answered = worker_of(campaign)
    hit = answered.account.assignments.get().hit
    practised = AssignmentFactory(hit=hit, practice="11").account.worker
    wishes = [
        Wish(worker.pseudonym, Decimal("0.50"), "Thanks.") for worker in (answered, practised)
    ]
    plan_bonuses(campaign=campaign, wishes=wishes, key="both", at=NOON)

    page = client.get(f"/campaigns/{campaign.slug}/pay/").content.decode()

    assert f"/workers/{answered.pseudonym}/" in page
    assert practised.pseudonym in page
    assert f"/workers/{practised.pseudonym}/" not in page


@pytest.mark.django_db
def test_selected_workers_get_one_bonus_each_though_the_form_is_sent_twice(client, user, campaign):
    workers = [worker_of(campaign) for _ in range(3)]
    names = [worker.pseudonym for worker in workers[:2]]
    page = client.get(
        "/campaigns/pilot/workers/selected/", {"act": "bonus", "worker": names}
    ).context["form"]
    fields = {"act": "bonus", "worker": names, "amount": "0.25", "reason": "Thanks"}
    fields["key"] = page.initial["key"]

    first = client.post("/campaigns/pilot/workers/selected/", fields)
    second = client.post("/campaigns/pilot/workers/selected/", fields)
    wrong = client.post("/campaigns/pilot/workers/selected/", {**fields, "amount": "0.001"})

    assert (first.status_code, second.status_code, wrong.status_code) == (302, 200, 422)
    assert Bonus.objects.count() == 2


@pytest.mark.django_db
def test_a_bonus_is_not_paid_twice_because_a_browser_ends_lines_otherwise(client, user, campaign):
    worker = worker_of(campaign)
    fields = {
        "act": "bonus",
        "worker": worker,
        "amount": "1",
        "reason": "Thanks\r\nAda",
        "key": "a",
    }
    client.post("/campaigns/pilot/workers/selected/", fields)
    file = f'{HEAD}{worker},1.00,"Thanks\nAda"\n'

    again = client.post("/campaigns/pilot/pay/bonuses/", {"text": file, "confirmed": "on"})

    assert "Nothing is paid twice" in again.content.decode()
    assert Bonus.objects.get().reason == "Thanks\nAda"


@pytest.mark.django_db
def test_a_message_is_stored_once_for_each_worker(client, user, campaign):
    workers = [worker_of(campaign) for _ in range(2)]
    fields = {
        "act": "message",
        "worker": [worker.pseudonym for worker in workers],
        "subject": "Thanks",
        "text": "Your captions are good.",
        "key": "abc",
    }

    for _ in range(2):
        client.post("/campaigns/pilot/workers/selected/", fields)
    page = client.get("/campaigns/pilot/pay/").content.decode()

    assert WorkerMessage.objects.get().sender == user
    assert MessageRecipient.objects.count() == 2
    assert "2 waiting for the next sync" in page


@pytest.mark.django_db
def test_the_page_says_that_there_are_more_messages_than_it_shows(client, user, campaign):
    def store(*numbers):
        WorkerMessage.objects.bulk_create(
            WorkerMessage(
                campaign=campaign, key=f"k{n}", subject=f"Number {n}.", text="x", planned_at=NOON
            )
            for n in numbers
        )
        return client.get("/campaigns/pilot/pay/").content.decode()

    assert "There are more." not in store(*range(10))

    page = store(10)
    assert "Number 10." in page
    assert "Number 0." not in page
    assert "There are more." in page


@pytest.mark.django_db
def test_nobody_of_another_campaign_is_written_to(user, campaign):
    stranger = worker_of(CampaignFactory())

    with pytest.raises(MessageNotPossible):
        plan_message(
            campaign=campaign,
            pseudonyms=[stranger.pseudonym],
            subject="a",
            text="b",
            key="c",
            sender=user,
            at=NOON,
        )


@pytest.mark.django_db
def test_several_workers_are_excluded_and_reinstated(client, user, campaign):
    workers = [worker_of(campaign) for _ in range(2)]
    names = [worker.pseudonym for worker in workers]
    review_submitted(campaign=campaign, responses=workers[0].responses.all(), at=NOON)
    judge(response=workers[0].responses.get(), verdict="GOOD", reason="", reviewer=user, at=NOON)
    stranger = worker_of(CampaignFactory())
    address = "/campaigns/pilot/workers/selected/"

    shown = client.get(address, {"act": "exclude", "worker": [*names, stranger.pseudonym]})
    refused = client.post(address, {"act": "exclude", "worker": names})
    fields = {"worker": names, "reason": "lists"}
    client.post(address, {"act": "exclude", **fields})
    twice = client.post(address, {"act": "exclude", **fields}, follow=True).content.decode()
    excluded = campaign.exclusions.in_force().count()
    client.post(address, {"act": "reinstate", **fields})

    assert shown.context["preview"].responses == 2
    assert "The evidence favours" in shown.content.decode()
    assert refused.status_code == 422
    assert excluded == 2
    assert "already excluded" in twice
    assert not campaign.exclusions.in_force().exists()
    assert set(campaign.tasks.values_list("responses__status", flat=True)) == {
        ResponseStatus.SUBMITTED
    }
    assert not stranger.exclusions.exists()


@pytest.mark.django_db
def test_an_act_needs_workers_and_a_name(client, user, campaign):
    address = "/campaigns/pilot/workers/selected/"

    assert client.get(address, {"act": "praise"}).status_code == 404
    assert client.get(address, {"act": "exclude"}).status_code == 302


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("is_lost", "sums"), [(False, ("1.10", "0.22", "1.32")), (True, ("1.00", "0.20", "1.20"))]
)
def test_a_statement_has_what_each_worker_was_paid(client, user, campaign, is_lost, sums):
    approved = {"status": AssignmentStatus.APPROVED, "decided_at": NOON}
    worker = worker_of(campaign, **approved)
    Bonus.objects.create(
        assignment=worker.account.assignments.get(),
        token="t",
        amount=Decimal("1.00"),
        fee=Decimal("0.20"),
        reason="thanks",
        planned_at=NOON,
        sent_at=NOON + timedelta(hours=1),
    )
    worker_of(campaign)
    worker_of(CampaignFactory(), **approved)
    # The bonus stays paid.
    lost = {"status": AssignmentStatus.LOST, "decided_at": NOON}
    if is_lost:
        worker.account.assignments.update(**lost)

    answer = client.get("/campaigns/pilot/pay/statement.csv")

    rows = list(csv.DictReader(StringIO(b"".join(answer.streaming_content).decode())))
    paid = {row["worker"]: (row["paid"], row["fees"], row["cost"]) for row in rows}
    assert len(paid) == 2
    assert paid[worker.pseudonym] == sums


@pytest.mark.django_db
def test_the_page_of_held_payments_says_that_more_are_decided(client, user):
    campaign = CampaignFactory(slug="pilot")
    for _ in range(21):
        worker = worker_of(campaign)
        (submission,) = worker.responses.values_list("submission", flat=True)
        about = {"campaign": campaign, "worker": worker, "submission": submission}
        hold_payment(**about, cause=HeldCause.RULES, why="Too short.", at=NOON)
    ended = {"outcome": HeldOutcome.PAY, "ended_at": NOON}
    HeldPayment.objects.filter(pk__gt=HeldPayment.objects.earliest("pk").pk).update(**ended)

    twenty = client.get("/campaigns/pilot/held-payments/").content.decode()
    HeldPayment.objects.update(**ended)
    all_of_them = client.get("/campaigns/pilot/held-payments/").content.decode()

    assert "There are more." not in twenty
    assert "There are more." in all_of_them
