"""Answers submitted without the task page: which are held, and what a person can decide."""

import pytest
from django.db.models import F

from annotate.models import Response
from hits.models import Assignment, Claim
from hits.services.payments import (
    ask_for_rejection,
    find,
    lapse_held,
    lose,
    put_back,
    reject_held,
    take_up,
)
from hits.services.submissions import MOST_KEPT, MOST_NAMED, Reported, take_submissions
from qualcontrol.models import (
    HeldCause,
    HeldOutcome,
    HeldPayment,
    SpotCheck,
    waiting_for_verdicts,
)
from qualcontrol.review.judging import judge
from qualcontrol.review.review_queue import next_checks
from qualcontrol.review.undoing import take_back
from qualcontrol.services.errors import AlreadyDecided, CannotReject
from qualcontrol.services.exclusions import exclude_worker, reinstate_worker
from qualcontrol.services.held_payments import accept_payment
from qualcontrol.services.policies import decide
from qualcontrol.services.releasing import open_questions
from qualcontrol.services.withdrawals import withdraw_responses
from qualcontrol.services.worker_risks import refresh_worker_risks
from tests.factories import (
    NOON,
    HitFactory,
    HitTypeFactory,
    UserFactory,
    WorkerAccountFactory,
    make_campaign,
)
from tests.hits.opened_pages import SENTENCE, listed, open_page, send
from tests.submitted import take_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def images():
    return 1


@pytest.fixture
def campaign(images):
    return make_campaign(tasks=3, hit={"images": images})


@pytest.fixture
def hit(campaign):
    return HitFactory(hit_type=HitTypeFactory(campaign=campaign))


@pytest.fixture
def account():
    return WorkerAccountFactory()


@pytest.fixture
def submit(campaign, hit, account):
    """Ingest an assignment of the worker with these fields or this answer document."""
    numbers = iter(range(100))

    def take(*, answer=None, assignment=None, **fields):
        name = assignment or f"A{next(numbers)}"
        report = listed(name, account.marketplace_id, **fields)
        if answer is not None:
            report = report.model_copy(update={"answer": answer})
        return take_submission(campaign=campaign, hit=hit, listed=report, at=NOON)[0]

    return take


def fields_for(campaign, *texts):
    tasks = campaign.tasks.order_by("number")
    return {f"caption-{task.number}": text for task, text in zip(tasks, texts, strict=False)}


def payable():
    return list(Assignment.objects.payable())


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "no XML",
        "<QuestionFormAnswers/>",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>",
        "x" * 50_000,
    ],
)
def test_an_answer_that_cannot_be_read_is_held_and_kept_as_far_as_it_fits(submit, answer):
    assignment = submit(answer=answer)

    held = HeldPayment.objects.get(submission=assignment.submission)
    assert (held.cause, held.why) == (HeldCause.NO_TASK, "The answer is empty or cannot be read.")
    assignment.refresh_from_db()
    assert assignment.unplaced_answer == answer[:MOST_KEPT]
    assert payable() == []


def test_the_same_task_again_without_its_page_is_held(submit, campaign):
    fields = fields_for(campaign, SENTENCE)
    first = submit(**fields)

    second = submit(**fields)

    assert payable() == [first]
    assert "before" in HeldPayment.objects.get(submission=second.submission).why


def test_the_same_task_on_two_pages_that_showed_it_is_paid_twice(
    client, submit, campaign, hit, account
):
    """Near the end of a campaign, two pages of one worker may show the same last task."""
    campaign.tasks.exclude(pk=campaign.tasks.first().pk).delete()
    for name in ("REAL1", "REAL2"):
        send(client, hit, open_page(client, hit, name, account.marketplace_id))
    fields = fields_for(campaign, SENTENCE)

    both = [submit(assignment=name, **fields) for name in ("REAL1", "REAL2")]

    assert Response.objects.count() == 1
    assert sorted(row.pk for row in payable()) == sorted(row.pk for row in both)


@pytest.mark.parametrize("images", [2])
@pytest.mark.parametrize("is_opened", [True, False])
def test_one_answer_of_a_page_that_showed_two_images_is_held(
    client, submit, campaign, hit, account, is_opened
):
    fields = fields_for(campaign, SENTENCE)
    if is_opened:
        open_page(client, hit, "REAL", account.marketplace_id)
        fields = {f"caption-{Claim.objects.first().task.number}": SENTENCE}

    submit(assignment="REAL", **fields)

    assert payable() == []
    assert "other images" in HeldPayment.objects.get().why


@pytest.mark.parametrize("images", [2])
def test_the_rest_of_the_tasks_is_no_part_of_a_page(submit, campaign):
    first, second, third = fields_for(campaign, *[SENTENCE] * 3).items()

    pages = [submit(**dict([first, second])), submit(**dict([third]))]

    assert sorted(row.pk for row in payable()) == [row.pk for row in pages]


@pytest.mark.parametrize("images", [2])
def test_the_last_task_that_others_have_left_is_no_part_of_a_page(submit, campaign):
    others = campaign.tasks.exclude(pk=campaign.tasks.first().pk)
    others.update(answers_missing=0, places_left=0)

    page = submit(**fields_for(campaign, SENTENCE))

    assert payable() == [page]


@pytest.mark.parametrize("images", [2])
def test_of_single_answers_read_together_only_the_last_can_be_a_page(campaign, hit, account):
    reports = [
        Reported(hit, listed(f"A{number}", account.marketplace_id, **{name: text}))
        for number, (name, text) in enumerate(fields_for(campaign, *[SENTENCE] * 3).items())
    ]

    rows = take_submissions(campaign=campaign, reported=reports, at=NOON)

    assert payable() == [rows[-1][0]]


@pytest.mark.parametrize("images", [2])
def test_a_task_that_the_worker_has_submitted_elsewhere_is_not_missing(
    client, submit, hit, account
):
    open_page(client, hit, "REAL", account.marketplace_id)
    first, second = Claim.objects.values_list("task__number", flat=True)
    elsewhere = submit(**{f"caption-{first}": SENTENCE})

    assignment = submit(assignment="REAL", **{f"caption-{second}": SENTENCE})

    assert Response.objects.count() == 2
    assert elsewhere not in payable()
    assert assignment in payable()


@pytest.mark.parametrize("images", [2])
def test_a_field_that_the_marketplaces_copy_lacks_comes_from_the_page_and_is_paid(
    client, submit, hit, account
):
    send(client, hit, open_page(client, hit, "REAL", account.marketplace_id))
    first, second = Claim.objects.order_by("pk").values_list("task__number", flat=True)
    other = "Two white horses stand behind the old bridge near a river."

    assignment = submit(assignment="REAL", **{f"caption-{first}": other})

    texts = {response.task.number: response.caption.text for response in Response.objects.all()}
    assert texts == {first: other, second: SENTENCE}
    assert payable() == [assignment]


def test_no_number_of_other_fields_hides_the_answer_to_the_task_of_the_page(
    client, submit, campaign, hit, account
):
    campaign.tasks.update(number=F("number") + 100)
    open_page(client, hit, "REAL", account.marketplace_id)
    task = Claim.objects.get().task
    others = {f"note-{number}": "" for number in range(MOST_NAMED)}

    submit(assignment="REAL", **others, **{f"caption-{task.number}": SENTENCE})

    assert Response.objects.get().task == task


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Too short.", "at least 8 words"),
        (f"There is a dog. {SENTENCE}", "There is"),
        (f"{SENTENCE} See www.example.com now", "web address"),
        (" ".join(["dog"] * 61), "at most 60 words"),
    ],
)
def test_every_rule_of_the_task_page_applies(submit, campaign, text, rule):
    submit(**fields_for(campaign, text))

    response = Response.objects.get()
    [flag] = [one for one in response.assessment.flags if one["code"] == "breaks_rules"]
    assert rule in flag["why"]
    assert payable() == []
    assert next_checks(campaign=campaign, reviewer=None, count=1, at=NOON)[0].cause == (
        "held payment"
    )
    assert open_questions(campaign) == ["1 required check is not done"]


@pytest.mark.parametrize("verdict", ["GOOD", "BAD"])
def test_a_verdict_ends_the_wait(submit, campaign, verdict):
    assignment = submit(**fields_for(campaign, "Too short."))

    judge(
        response=Response.objects.get(),
        verdict=verdict,
        reason="vague",
        reviewer=UserFactory(),
        at=NOON,
    )

    assert HeldPayment.objects.get().outcome == HeldOutcome.JUDGED
    assert payable() == [assignment]


@pytest.mark.parametrize("images", [2])
@pytest.mark.parametrize("is_withdrawn_first", [True, False])
def test_a_withdrawn_response_needs_no_verdict_for_the_payment(
    submit, campaign, account, is_withdrawn_first
):
    submit(**fields_for(campaign, "Too short.", "Too short."))
    first, second = Response.objects.order_by("pk")
    acts = [
        lambda: withdraw_responses(
            worker=account.worker, responses=[second.pk], actor=None, at=NOON
        ),
        lambda: judge(response=first, verdict="GOOD", reason="", reviewer=UserFactory(), at=NOON),
    ]

    for act in acts if is_withdrawn_first else reversed(acts):
        assert payable() == []
        act()

    assert HeldPayment.objects.get().outcome == HeldOutcome.JUDGED


def test_a_payment_is_held_again_if_the_only_verdict_was_on_what_is_withdrawn(
    submit, campaign, account
):
    submit(**fields_for(campaign, "Too short."))
    response, reviewer = Response.objects.get(), UserFactory()
    judge(response=response, verdict="GOOD", reason="", reviewer=reviewer, at=NOON)
    withdraw_responses(worker=account.worker, responses=[response.pk], actor=None, at=NOON)

    take_back(campaign=campaign, key=response.key, reviewer=reviewer, at=NOON)

    assert HeldPayment.objects.open().exists()


def keep(assignment):
    """Leave the payment as it is."""


def pay(assignment):
    return take_up(keys=[assignment.pk], submitted_until=NOON).assignments[assignment.pk]


def be_refused(assignment):
    put_back(assignment=pay(assignment))


def lapse(assignment):
    lapse_held(assignment=assignment.pk, at=NOON)


def judge_bad(_assignment):
    response = Response.objects.get()
    judge(response=response, verdict="BAD", reason="vague", reviewer=UserFactory(), at=NOON)


def be_lost_and_found(assignment):
    lose(assignment=assignment, at=NOON)
    find(assignment=assignment.pk, at=NOON)


@pytest.mark.parametrize(
    ("happen", "is_held"),
    [
        (keep, True),
        (pay, False),
        (be_refused, True),
        (lapse, False),
        (be_lost_and_found, True),
    ],
)
def test_taking_back_the_verdict_holds_the_payment_again_unless_it_is_decided(
    submit, campaign, happen, is_held
):
    assignment, reviewer = submit(**fields_for(campaign, "Too short.")), UserFactory()
    response = Response.objects.get()
    judge(response=response, verdict="GOOD", reason="", reviewer=reviewer, at=NOON)
    happen(assignment)

    take_back(campaign=campaign, key=response.key, reviewer=reviewer, at=NOON)

    assert HeldPayment.objects.open().exists() == is_held


def be_rejected(assignment):
    held = HeldPayment.objects.get(submission=assignment.pk)
    reject_held(held=held, reason="junk", actor=UserFactory(), at=NOON)


def be_lost(assignment):
    lose(assignment=assignment, at=NOON)


@pytest.mark.parametrize("happen", [be_lost, be_rejected])
def test_another_response_is_checked_in_place_of_a_discarded_first_one(account, happen):
    campaign = make_campaign(tasks=3, review={"share": 0, "first": 1, "trial": 2})
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    numbers = campaign.tasks.order_by("number").values_list("number", flat=True)
    texts = {"A1": "Too short.", "A2": SENTENCE}
    first, _ = (
        take_submission(
            campaign=campaign,
            hit=hit,
            listed=listed(name, account.marketplace_id, **{f"caption-{number}": text}),
            at=NOON,
        )[0]
        for number, (name, text) in zip(numbers, texts.items(), strict=False)
    )

    happen(first)

    checks = SpotCheck.objects.filter(is_first=True).order_by("response")
    assert [check.response.status for check in checks] == ["DISCARDED", "SUBMITTED"]
    assert list(waiting_for_verdicts(campaign)) == [account.worker]


def test_a_held_payment_that_was_lost_is_held_again_when_it_is_found(submit, campaign):
    assignment = submit(**fields_for(campaign, "Too short."))
    lose(assignment=assignment, at=NOON)

    find(assignment=assignment.pk, at=NOON)

    assert HeldPayment.objects.get().outcome == ""


def test_a_judged_answer_that_was_lost_stays_judged_when_it_is_found(submit, campaign):
    assignment = submit(**fields_for(campaign, "Too short."))
    judge_bad(assignment)

    be_lost_and_found(assignment)

    assert HeldPayment.objects.get().outcome == "JUDGED"
    assert Response.objects.get().status == "DISCARDED"


def test_a_payment_is_held_again_if_its_verdict_is_taken_back_before_the_marketplace_refuses_it(
    submit, campaign
):
    assignment, reviewer = submit(**fields_for(campaign, "Too short.")), UserFactory()
    response = Response.objects.get()
    judge(response=response, verdict="GOOD", reason="", reviewer=reviewer, at=NOON)
    sent = pay(assignment)
    take_back(campaign=campaign, key=response.key, reviewer=reviewer, at=NOON)

    put_back(assignment=sent)

    assert HeldPayment.objects.open().exists()
    assert payable() == []


def test_a_broken_rule_of_an_excluded_worker_is_held_although_nobody_is_to_judge_it(
    submit, campaign, account
):
    submit(**fields_for(campaign, SENTENCE))
    about = {"campaign": campaign, "worker": account.worker, "reason": "x", "at": NOON}
    exclude_worker(actor=None, **about)

    late = submit(**dict([list(fields_for(campaign, "", "Too short.").items())[1]]))

    assert HeldPayment.objects.get().submission == late.submission
    assert not SpotCheck.objects.of(campaign).open().exists()
    assert late not in payable()


def reject(held, reason="Not a sentence."):
    reject_held(held=held, reason=reason, actor=UserFactory(), at=NOON)


@pytest.mark.parametrize("images", [2])
def test_an_assignment_with_a_caption_in_use_is_not_rejected(submit, campaign):
    submit(**fields_for(campaign, SENTENCE, "Too short."))
    held = HeldPayment.objects.get()

    with pytest.raises(CannotReject, match="Work that is used is paid"):
        reject(held)

    assert HeldPayment.objects.open().exists()
    assert not campaign.decisions.exists()
    assert Response.objects.counting().count() == 2


@pytest.mark.parametrize("images", [2])
def test_an_assignment_with_a_caption_that_is_judged_good_is_not_rejected(submit, campaign):
    submit(**fields_for(campaign, "Too short.", "Short as well."))
    good = Response.objects.first()
    judge(response=good, verdict="GOOD", reason="", reviewer=UserFactory(), at=NOON)

    with pytest.raises(CannotReject, match="Work that is used is paid"):
        reject(HeldPayment.objects.get())

    assert Response.objects.counting().count() == 2


def test_a_rejection_discards_the_captions_for_good(submit, campaign, account):
    submit(**fields_for(campaign, "Too short."))
    reject(HeldPayment.objects.get())
    about = {"campaign": campaign, "worker": account.worker, "at": NOON}
    exclude_worker(reason="x", actor=None, **about)

    reinstate_worker(reason="", actor=UserFactory(), **about)

    assert not Response.objects.counting().exists()
    assert open_questions(campaign) == []


def test_a_rejection_on_the_workers_page_ends_the_wait(submit, campaign, account):
    submit(**fields_for(campaign, "Too short."))
    about = {"campaign": campaign, "worker": account.worker, "at": NOON}
    exclude_worker(reason="x", actor=None, **about)

    ask_for_rejection(
        response=Response.objects.get(), reason="A list.", actor=UserFactory(), at=NOON
    )

    assert HeldPayment.objects.get().outcome == HeldOutcome.REJECT
    with pytest.raises(AlreadyDecided):
        accept_payment(held=HeldPayment.objects.get(), reason="", actor=UserFactory(), at=NOON)


def test_a_verdict_that_is_taken_back_after_a_rejection_was_decided_holds_nothing(
    submit, campaign, account
):
    assignment, reviewer = submit(**fields_for(campaign, "Too short.")), UserFactory()
    response = Response.objects.get()
    judge(response=response, verdict="GOOD", reason="", reviewer=reviewer, at=NOON)
    about = {"campaign": campaign, "worker": account.worker, "at": NOON}
    exclude_worker(reason="x", actor=None, **about)
    ask_for_rejection(response=response, reason="A list.", actor=UserFactory(), at=NOON)

    take_back(campaign=campaign, key=response.key, reviewer=reviewer, at=NOON)

    assert pay(assignment).deciding == "REJECTED"
    assert not HeldPayment.objects.open().exists()


def test_the_policys_pause_ends_when_a_person_pays_for_the_answers(submit, campaign, account):
    submit(junk="1")
    submit(junk="2")
    decide(campaign=campaign, at=NOON)
    assert campaign.pauses.in_force().exists()

    accept_payment(held=HeldPayment.objects.first(), reason="", actor=UserFactory(), at=NOON)
    decide(campaign=campaign, at=NOON)

    assert not campaign.pauses.in_force().exists()


def test_an_answer_that_fits_no_task_is_no_question_for_a_release(submit, campaign):
    submit(junk="1")

    assert open_questions(campaign) == []


def test_an_answer_that_fits_no_task_is_not_held_against_the_worker_while_it_is_lost(
    submit, campaign
):
    first, _ = submit(junk="hello"), submit(junk="hello")
    decide(campaign=campaign, at=NOON)
    assert campaign.pauses.in_force().exists()

    lose(assignment=first, at=NOON)
    refresh_worker_risks(campaign=campaign)
    decide(campaign=campaign, at=NOON)

    assert not campaign.pauses.in_force().exists()

    find(assignment=first.pk, at=NOON)
    refresh_worker_risks(campaign=campaign)
    decide(campaign=campaign, at=NOON)

    assert campaign.pauses.in_force().exists()
