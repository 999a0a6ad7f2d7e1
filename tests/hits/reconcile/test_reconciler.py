"""The reconciler with a real marketplace over HTTP, and the task page with Django's client."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotate.models import Behaviour, CampaignStatus, Response, ResponseStatus
from annotate.queries.progress import progress
from annotate.services.responses import discard
from hits.models import (
    Assignment,
    AssignmentStatus,
    Claim,
    Hit,
    HitStatus,
    TaskPage,
)
from hits.mturk.client import marketplace_of
from hits.mturk.endpoints import WrongEndpoint
from hits.queries.costs import spend
from hits.reconcile.ingest import ingest
from hits.reconcile.reconciler import reconcile
from hits.services.claims import recount_places
from hits.services.hit_pages import close_pages
from hits.services.lifecycle import NotConfirmed, finish, pause, publish
from qualcontrol.models import HeldPayment
from qualcontrol.review.judging import keep_judgement, reject_response
from qualcontrol.services.exclusions import exclude_worker, pause_worker, resume_worker
from tests.factories import NOON, UserFactory, make_campaign
from tests.hits.framed_work import SENTENCE, fields_of, open_page, published, work, write
from tests.hits.marketplace_process import NotOffered

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_campaign_goes_from_slots_to_approved_captions(client, marketplace, requester):
    campaign = make_campaign(tasks=2)
    workers = marketplace.fresh_workers(3)

    created = reconcile(campaign)
    for worker in workers:
        for number in range(2):
            work(client, worker, campaign, number)
    ingested = reconcile(campaign)

    assert created.hits_created == 2  # of three slots each: a worker may take one of each
    assert (ingested.ingested, ingested.approved) == (6, 6)
    assert progress(campaign).complete == 2
    assert set(Assignment.objects.values_list("status", flat=True)) == {AssignmentStatus.APPROVED}
    assert recount_places(campaign) == 0


def test_a_second_run_finds_nothing_to_do(marketplace, requester):
    campaign = published(tasks=2)

    again = reconcile(campaign)

    assert again.hits_created == 0
    assert again.api_calls == 1  # the page that has all the campaign's HITs


def test_only_hits_whose_counts_changed_are_listed(client, marketplace, requester):
    campaign = published(tasks=6)
    work(client, marketplace.fresh_workers(1)[0], campaign)

    calls = reconcile(campaign).api_calls

    assert Hit.objects.count() == 6
    assert calls == 1 + 1 + 1  # the HITs, the one HIT's assignments, its approval


def test_an_answer_that_only_the_marketplace_has_comes_home(client, marketplace, requester):
    campaign = published(tasks=1)
    worker = marketplace.fresh_workers(1)[0]
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    fields = fields_of(open_page(client, frame), "data-task")
    name = next(field for field in fields if field.startswith("caption-"))

    answer = worker.submit(frame.assignment_id, **{name: "  Too   short & <odd> \u200b🐕"})
    assert answer.ok, answer.text
    reconcile(campaign)

    assert Response.objects.get().caption.text == "Too short & <odd> 🐕"
    assert Response.objects.get().status == ResponseStatus.SUBMITTED


def test_an_answer_nobody_can_place_is_kept_and_waits_for_a_person(client, marketplace, requester):
    campaign = published(tasks=1)
    worker = marketplace.fresh_workers(1)[0]
    frame = worker.accept(campaign.hit_types.get().hit_type_id)

    worker.submit(frame.assignment_id, remark="The page showed nothing.")
    done = reconcile(campaign)

    assert not Response.objects.exists()
    assert "The page showed nothing." in Assignment.objects.get().unplaced_answer
    assert done.approved == 0
    assert HeldPayment.objects.open().count() == 1
    assert done.hits_created == 1  # the slot that it took is opened anew


def test_an_answer_that_was_sent_but_never_submitted_does_not_count(client, marketplace, requester):
    campaign = published(tasks=1)
    worker = marketplace.fresh_workers(1)[0]
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    write(client, frame, SENTENCE.format(1))

    worker.give_back(frame)
    reconcile(campaign)

    assert not Response.objects.exists()
    assert not TaskPage.objects.exists()
    assert recount_places(campaign) == 0
    assert campaign.tasks.get().places_left == 3


def test_of_a_hits_pages_as_many_stay_as_workers_are_at_work(client, marketplace, requester):
    campaign = published(tasks=1)
    first, second, third = marketplace.fresh_workers(3)
    hit_type_id = campaign.hit_types.get().hit_type_id
    returned = first.accept(hit_type_id)
    open_page(client, returned)
    first.give_back(returned)
    for worker in (second, third):
        open_page(client, worker.accept(hit_type_id))

    reconcile(campaign)

    stay = set(TaskPage.objects.values_list("marketplace_id", flat=True))
    assert stay == {second.worker_id, third.worker_id}
    assert campaign.tasks.get().places_left == 1


def test_a_page_shows_nobody_what_was_sent_before(client, marketplace, requester):
    campaign = published(tasks=1)
    worker = marketplace.fresh_workers(1)[0]
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    write(client, frame, SENTENCE.format(1))

    assert SENTENCE.format(1) not in open_page(client, frame).content.decode()


def test_an_answer_the_marketplace_lost_is_taken_from_the_page(client, marketplace, requester):
    campaign = published(tasks=1)
    worker = marketplace.fresh_workers(1)[0]
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    write(client, frame, SENTENCE.format(1))

    worker.submit(frame.assignment_id, remark="no caption").raise_for_status()
    reconcile(campaign)

    assert Response.objects.get().caption.text == SENTENCE.format(1)


def test_the_marketplaces_answer_stands_where_the_page_has_another(client, marketplace, requester):
    campaign = published(tasks=1)
    worker = marketplace.fresh_workers(1)[0]
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    write(client, frame, "Somebody else wrote this about a grey cat on a roof.")

    name = f"caption-{campaign.tasks.get().number}"
    worker.submit(frame.assignment_id, **{name: SENTENCE.format(1)}).raise_for_status()
    reconcile(campaign)

    assert Response.objects.get().caption.text == SENTENCE.format(1)
    assert not Behaviour.objects.exists()


def test_an_answer_for_a_page_that_ended_is_placed_by_its_fields(client, marketplace, requester):
    campaign = published(tasks=2)
    worker = marketplace.fresh_workers(1)[0]
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    fields = fields_of(open_page(client, frame), "data-task")
    name = next(field for field in fields if field.startswith("caption-"))
    close_pages(TaskPage.objects.values_list("pk", flat=True))

    worker.submit(frame.assignment_id, **{name: SENTENCE.format(1)}).raise_for_status()
    reconcile(campaign)

    assert Response.objects.get().task.number == int(name.removeprefix("caption-"))
    assert Response.objects.get().submission.assignment == Assignment.objects.get()


def test_a_place_that_was_given_back_goes_to_the_next_worker_at_once(
    client, marketplace, requester
):
    campaign = published(tasks=1, references=1, baselines=0)
    first, second = marketplace.fresh_workers(2)
    hit_type_id = campaign.hit_types.get().hit_type_id
    given_back = first.accept(hit_type_id)
    open_page(client, given_back)
    first.give_back(given_back)

    page = open_page(client, second.accept(hit_type_id))

    assert b"data-nothing-left" not in page.content
    assert b"<textarea" in page.content


def test_slots_that_nobody_can_reach_are_opened_anew(client, marketplace, requester):
    campaign = published(tasks=2, hit={"minutes": 1})
    for worker in marketplace.fresh_workers(2):
        work(client, worker, campaign)
        work(client, worker, campaign)
    reconcile(campaign)
    assert Hit.objects.filter(available=1).count() == 2

    later = timezone.now() + timedelta(minutes=2)
    for _ in range(3):
        reconcile(campaign, at=later)

    assert Hit.objects.filter(status=HitStatus.OPEN, available__gt=0, ingested=0).count() == 2
    assert Hit.objects.filter(status=HitStatus.EXPIRED, available=0).count() == 2


def test_discarded_captions_are_replaced_by_other_workers(client, marketplace, requester):
    campaign = published(tasks=2)
    *first, careless, second = marketplace.fresh_workers(4)
    for worker in [*first, careless]:
        for number in range(2):
            work(client, worker, campaign, number)
    reconcile(campaign)
    reviewed = Response.objects.filter(worker__account__marketplace_id=careless.worker_id).latest(
        "pk"
    )

    exclude_worker(
        campaign=campaign,
        worker=reviewed.worker,
        reason="keyword lists",
        actor=UserFactory(),
        at=reviewed.submitted_at,
    )
    replaced = reconcile(campaign)

    assert replaced.hits_created == 2
    with pytest.raises(NotOffered):
        careless.accept(campaign.hit_types.get().hit_type_id)
    for number in range(2):
        work(client, second, campaign, number)
    reconcile(campaign)
    assert progress(campaign).complete == 2
    assert not Response.objects.counting().filter(worker=reviewed.worker).exists()


def test_a_worker_for_whom_nothing_is_left_is_offered_no_more_until_there_is(
    client, marketplace, requester
):
    campaign = published(tasks=1)
    worker, other = marketplace.fresh_workers(2)
    work(client, worker, campaign)
    hit_type_id = campaign.hit_types.get().hit_type_id

    reconcile(campaign)
    Hit.objects.update(available=0)
    reconcile(campaign)  # the marketplace still has two slots; nothing changes for the worker

    with pytest.raises(NotOffered):
        worker.accept(hit_type_id)
    other.accept(hit_type_id)


def test_a_paused_worker_is_offered_nothing_until_they_may_continue(client, marketplace, requester):
    campaign = published(tasks=3)
    [worker] = marketplace.fresh_workers(1)
    work(client, worker, campaign)
    reconcile(campaign)
    about = {
        "campaign": campaign,
        "worker": Response.objects.get().worker,
        "reason": "asks",
        "actor": UserFactory(),
        "at": timezone.now(),
    }
    hit_type_id = campaign.hit_types.get().hit_type_id

    pause_worker(**about)
    reconcile(campaign)
    with pytest.raises(NotOffered):
        worker.accept(hit_type_id)
    assert Response.objects.counting().exists()

    resume_worker(**about)
    reconcile(campaign)
    worker.accept(hit_type_id)


def test_the_reconciler_excludes_whom_the_verdicts_say_to(client, marketplace, requester):
    campaign = published(tasks=4)
    [worker] = marketplace.fresh_workers(1)
    for number in range(4):
        work(client, worker, campaign, number)
    reconcile(campaign)
    for response in Response.objects.all():
        keep_judgement(
            response=response, verdict="BAD", reason="vague", reviewer=None, at=timezone.now()
        )
    assert not campaign.exclusions.exists()

    reconcile(campaign)

    assert campaign.exclusions.in_force().exists()
    with pytest.raises(NotOffered):
        worker.accept(campaign.hit_types.get().hit_type_id)


def test_a_sync_says_how_much_the_budget_lacks(marketplace, requester, capsys):
    campaign = make_campaign(tasks=4)
    type(campaign).objects.filter(pk=campaign.pk).update(budget="0.70")

    call_command("sync", campaign.slug)
    assert (
        f"{campaign}: The budget does not cover the rest of the campaign. Captions missing: 12. "
        "Left: $0.10. Add at least $0.74, including fees.\n"
    ) in capsys.readouterr().out

    call_command("add_to_budget", campaign.slug, "0.74")
    call_command("sync", campaign.slug)
    assert "budget" not in capsys.readouterr().out.split("is $1.44.\n")[1]
    assert sum(Hit.objects.values_list("slots", flat=True)) == 12


def test_slots_stop_where_the_budget_stops(marketplace, requester):
    campaign = make_campaign(tasks=4)
    type(campaign).objects.filter(pk=campaign.pk).update(budget="0.60")
    campaign.refresh_from_db()

    reconcile(campaign)

    money = spend(campaign)
    assert sum(Hit.objects.values_list("slots", flat=True)) == 5
    assert (money.committed, money.left) == (Decimal("0.60"), Decimal("0.00"))


def test_free_slots_that_the_budget_does_not_cover_are_closed(marketplace, requester):
    """A restored backup may know of slots that its budget does not cover."""
    campaign = published(tasks=4)
    assert spend(campaign).committed > Decimal("0.60")

    type(campaign).objects.filter(pk=campaign.pk).update(budget="0.60")
    campaign.refresh_from_db()
    # Expired slots stay promised until a listing says that nobody took them.
    for _ in range(2):
        reconcile(campaign)

    assert spend(campaign).committed <= Decimal("0.60")


def test_a_paused_campaign_takes_no_new_workers_and_pays_those_at_work(
    client, marketplace, requester
):
    campaign = published(tasks=1)
    at_work, late = marketplace.fresh_workers(2)
    hit_type_id = campaign.hit_types.get().hit_type_id
    frame = at_work.accept(hit_type_id)

    pause(campaign=campaign, actor=None, at=NOON)
    reconcile(campaign)

    with pytest.raises(NotOffered):
        late.accept(hit_type_id)
    fields = fields_of(write(client, frame, SENTENCE.format(1)), "data-forward")
    assert at_work.submit(fields.pop("assignmentId"), **fields).ok
    done = reconcile(campaign)
    assert (done.ingested, done.approved, done.hits_created) == (1, 1, 0)
    assert spend(campaign).open == 0

    publish(campaign=campaign, actor=None, at=NOON)
    assert reconcile(campaign).hits_created == 1


def test_a_finished_campaign_leaves_nothing_at_the_marketplace(client, marketplace, requester):
    campaign = published(tasks=1)
    work(client, marketplace.fresh_workers(1)[0], campaign)
    reconcile(campaign)

    finish(campaign=campaign, actor=None, at=NOON)
    reconcile(campaign)
    reconcile(campaign)

    assert set(Hit.objects.values_list("status", flat=True)) == {HitStatus.RETIRED}
    assert list(marketplace_of(campaign).hits()) == []
    assert spend(campaign).committed == Decimal("0.12")


def test_a_rejection_carries_its_reason_and_opens_another_slot(client, marketplace, requester):
    campaign = published(tasks=1, review={"share": 0, "approve_after_hours": 24})
    work(client, marketplace.fresh_workers(1)[0], campaign)
    reconcile(campaign)
    response = Response.objects.get()
    discard(responses=[response])
    reject_response(
        response=response, reason="This is a list.", actor=UserFactory(), at=response.submitted_at
    )

    done = reconcile(campaign)

    assert done.rejected == 1
    assignment = Assignment.objects.get()
    assert (assignment.status, assignment.feedback) == (
        AssignmentStatus.REJECTED,
        "This is a list.",
    )
    listed = marketplace_of(campaign).assignment(assignment.assignment_id)
    assert listed.feedback == "This is a list."


def test_a_rejection_that_somebody_overrides_there_is_counted_as_paid_in_the_end(
    client, marketplace, requester
):
    campaign = published(tasks=1, review={"share": 0, "approve_after_hours": 24})
    work(client, marketplace.fresh_workers(1)[0], campaign)
    reconcile(campaign)
    response = Response.objects.get()
    discard(responses=[response])
    reject_response(
        response=response, reason="This is a list.", actor=UserFactory(), at=response.submitted_at
    )
    reconcile(campaign)
    name = Assignment.objects.get().assignment_id
    there = marketplace_of(campaign)
    there._call("approve_assignment", AssignmentId=name, OverrideRejection=True)
    finish(campaign=campaign, actor=None, at=NOON)
    Assignment.objects.update(decided_at=timezone.now() - timedelta(days=31))

    reconcile(campaign)
    reconcile(campaign)

    assert set(Hit.objects.values_list("status", flat=True)) == {HitStatus.RETIRED}
    assert spend(campaign).paid == Decimal("0.12")


def test_another_installations_marketplace_is_not_talked_to(settings):
    campaign = make_campaign(tasks=1)
    settings.MTURK_ENDPOINT = "production"

    with pytest.raises(WrongEndpoint, match="Nothing was sent"):
        reconcile(campaign)


def test_production_asks_for_a_confirmation_with_the_cost(settings):
    settings.MTURK_ENDPOINT = "production"
    campaign = make_campaign(tasks=2, status="DRAFT")
    type(campaign).objects.update(endpoint="production")
    campaign.refresh_from_db()

    with pytest.raises(NotConfirmed, match=r"costs about \$0\.72"):
        publish(campaign=campaign, actor=None, at=NOON)

    campaign.refresh_from_db()
    assert campaign.status == CampaignStatus.DRAFT


def test_a_hit_that_is_not_full_may_wait_to_be_read(client, marketplace, requester, settings):
    settings.MTURK_READ_WAIT_SECONDS = 600
    campaign = published(tasks=1, references=1, baselines=1)
    first, second = marketplace.fresh_workers(2)
    work(client, first, campaign)
    committed = spend(campaign).committed

    waiting = reconcile(campaign)
    money, later = spend(campaign), timezone.now() + timedelta(hours=2)
    kept = reconcile(campaign, at=waiting.started_at + timedelta(seconds=599))
    work(client, second, campaign)
    full = reconcile(campaign)

    assert (waiting.ingested, kept.ingested, full.ingested) == (0, 0, 2)
    assert money.committed == committed  # what is unread may have to be paid
    assert not Claim.objects.exists()
    assert Hit.objects.get().unread_since is None
    assert reconcile(campaign, at=later).hits_created == 0


@pytest.mark.parametrize("queue_url", ["", "https://queue.example/1"])
def test_a_hit_that_waits_since_a_future_time_is_read(
    client, marketplace, requester, settings, queue_url
):
    """A clock was ahead."""
    settings.MTURK_READ_WAIT_SECONDS = 600
    campaign = published(tasks=1)
    work(client, marketplace.fresh_workers(1)[0], campaign)
    reconcile(campaign)
    Hit.objects.update(unread_since=timezone.now() + timedelta(days=1))
    settings.MTURK_NOTIFICATION_QUEUE_URL = queue_url

    assert reconcile(campaign, is_whole=not queue_url, steps=(ingest,)).ingested == 1


def test_a_hit_that_waits_to_be_read_is_read_when_its_time_is_over(
    client, marketplace, requester, settings
):
    settings.MTURK_READ_WAIT_SECONDS = 600
    campaign = published(tasks=1)
    work(client, marketplace.fresh_workers(1)[0], campaign)
    waiting = reconcile(campaign)

    due = reconcile(campaign, at=waiting.started_at + timedelta(seconds=601))

    assert (waiting.ingested, due.ingested) == (0, 1)
