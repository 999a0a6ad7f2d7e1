"""Judgements that are taken back, verdicts that are changed, and responses that are restored."""

from datetime import timedelta

import pytest
from django.urls import reverse

from annotate.models import Response, ResponseStatus
from annotate.services.responses import discard
from hits.services.lifecycle import raise_review_share
from qualcontrol.models import (
    Act,
    Decision,
    HeldCause,
    HeldOutcome,
    HeldPayment,
    Judgement,
    SpotCheck,
    Verdict,
)
from qualcontrol.queries.quality_report import quality_report
from qualcontrol.review.gold import mark_gold
from qualcontrol.review.judging import judge, reject_response
from qualcontrol.review.undoing import (
    change_verdict,
    last_judged,
    restore_response,
    take_back,
    undo_preview,
)
from qualcontrol.services.errors import (
    AlreadyJudged,
    CannotRestore,
    NothingToTakeBack,
    ReasonMissing,
)
from qualcontrol.services.exclusions import exclude_worker, reinstate_worker
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.releasing import open_questions
from qualcontrol.services.withdrawals import withdraw_responses
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    ResponseFactory,
    UserFactory,
    WorkerFactory,
)
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return UserFactory(username="ada")


@pytest.fixture
def response(campaign):
    found = ResponseFactory(task__campaign=campaign, task__wanted=1)
    review_submitted(campaign=campaign, responses=[found], at=NOON)
    return found


def judged(response, verdict, reviewer):
    reason = "a list" if verdict == "BAD" else ""
    judge(response=response, verdict=verdict, reason=reason, reviewer=reviewer, at=NOON)
    return Response.objects.get(pk=response.pk)


def acts(response):
    return list(response.decisions.order_by("pk").values_list("act", flat=True))


def missing(response):
    response.task.refresh_from_db()
    return response.task.answers_missing


def test_a_bad_verdict_that_is_taken_back_restores_the_response(campaign, response, ada):
    judged(response, "BAD", ada)
    assert missing(response) == 1

    take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)

    response.refresh_from_db()
    assert response.status == ResponseStatus.SUBMITTED
    assert missing(response) == 0
    assert SpotCheck.objects.get().verdict == ""
    assert not Judgement.objects.exists()
    assert acts(response) == [Act.JUDGE_BAD, Act.DISCARD, Act.TAKE_BACK, Act.RESTORE]
    assert campaign.worker_risks.get().bad == 0


def test_a_response_whose_verdict_is_taken_back_stays_a_check_if_it_is_a_first_one_now(ada):
    campaign = CampaignFactory(config={"review": {"first": 1, "share": 0}})
    worker = WorkerFactory()
    first, other = write(campaign, worker, 2)
    judged(other, "BAD", ada)
    about = {"campaign": campaign, "worker": worker, "actor": ada, "at": NOON}
    exclude_worker(**about, reason="vague")
    withdraw_responses(worker=worker, responses=[first.pk], actor=None, at=NOON)
    reinstate_worker(**about, reason="a mistake")

    take_back(campaign=campaign, key=other.key, reviewer=ada, at=NOON)

    assert SpotCheck.objects.open().get().response == other


def test_a_verdict_is_taken_back_once_and_can_be_given_again(campaign, response, ada):
    judged(response, "GOOD", ada)
    take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)

    with pytest.raises(NothingToTakeBack):
        take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)
    judged(response, "BAD", ada)

    assert SpotCheck.objects.get().verdict == Verdict.BAD


def test_a_check_that_only_the_judgement_made_goes_with_it(ada):
    campaign = CampaignFactory(config={"review": {"first": 0, "share": 0.0}})
    response = ResponseFactory(task__campaign=campaign)
    judged(response, "GOOD", ada)

    take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)

    assert not SpotCheck.objects.exists()


def test_nobody_takes_back_what_another_judged(campaign, response, ada):
    judged(response, "BAD", ada)

    with pytest.raises(NothingToTakeBack):
        take_back(campaign=campaign, key=response.key, reviewer=UserFactory(), at=NOON)

    assert SpotCheck.objects.get().verdict == Verdict.BAD


def test_a_verdict_stays_if_another_response_has_taken_the_place(campaign, response, ada):
    judged(response, "BAD", ada)
    ResponseFactory(task=response.task)

    with pytest.raises(CannotRestore, match="taken its place"):
        take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)

    assert SpotCheck.objects.get(response=response).verdict == Verdict.BAD
    assert Judgement.objects.count() == 1


def test_one_of_two_judgements_is_taken_back(ada):
    campaign = CampaignFactory(config={"review": {"reviewers": 2}})
    response = ResponseFactory(task__campaign=campaign)
    judged(response, "BAD", ada)
    judged(response, "BAD", UserFactory())

    take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)

    response.refresh_from_db()
    assert response.status == ResponseStatus.SUBMITTED
    assert SpotCheck.objects.half_judged().get().response == response


@pytest.mark.parametrize("last", ["BAD", "GOOD"])
def test_nobody_takes_back_a_verdict_that_somebody_has_changed(campaign, response, ada, last):
    judged(response, "GOOD", ada)
    for verdict in ("BAD", "GOOD") if last == "GOOD" else ("BAD",):
        change_verdict(
            response=response, verdict=verdict, reason="vague", actor=UserFactory(), at=NOON
        )

    with pytest.raises(NothingToTakeBack, match="later decision"):
        take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)

    assert SpotCheck.objects.get().verdict == last
    assert last_judged(campaign, ada) is None


def test_an_outvoted_reviewer_cannot_take_the_verdict_back(ada):
    campaign = CampaignFactory(config={"review": {"reviewers": 2}})
    response = ResponseFactory(task__campaign=campaign)
    judged(response, "GOOD", ada)
    for _ in range(2):
        judged(response, "BAD", UserFactory())

    with pytest.raises(NothingToTakeBack):
        take_back(campaign=campaign, key=response.key, reviewer=ada, at=NOON)

    assert SpotCheck.objects.get().verdict == Verdict.BAD
    assert last_judged(campaign, ada) is None


def test_a_response_that_has_become_gold_is_passed_over(campaign, response, ada):
    judged(response, "GOOD", ada)
    gold = ResponseFactory(task__campaign=campaign)
    mark_gold(response=gold, verdict="GOOD", reason="", actor=ada, at=NOON + timedelta(minutes=1))

    assert last_judged(campaign, ada) == response.key


def test_a_gold_item_takes_on_a_changed_verdict(campaign, response, ada):
    mark_gold(response=response, verdict="GOOD", reason="", actor=ada, at=NOON)

    change_verdict(response=response, verdict="BAD", reason="odd", actor=ada, at=NOON)

    gold = campaign.gold.get()
    assert (gold.verdict, gold.reason) == (Verdict.BAD, "odd")


def test_the_hold_of_an_assignment_ends_for_good_with_the_verdicts_that_it_waited_for(
    campaign, response, ada
):
    assignment = AssignmentFactory(hit__campaign=campaign)
    other = ResponseFactory(task__campaign=campaign, worker=response.worker, assignment=assignment)
    HeldPayment.objects.create(
        campaign=campaign,
        worker=response.worker,
        submission=assignment.submission,
        cause=HeldCause.RULES,
        why="Too short.",
        held_at=NOON,
        outcome=HeldOutcome.JUDGED,
        ended_at=NOON,
    )
    judged(other, "GOOD", ada)

    take_back(campaign=campaign, key=other.key, reviewer=ada, at=NOON)

    assert not HeldPayment.objects.open().exists()


def test_a_change_is_no_judgement_of_its_own(campaign, response, ada):
    judged(response, "GOOD", ada)

    change_verdict(response=response, verdict="BAD", reason="odd", actor=UserFactory(), at=NOON)

    assert [(one.reviewer, one.verdict) for one in Judgement.objects.all()] == [(ada, "GOOD")]
    assert quality_report(campaign).agreement.pairs == 0


def test_the_last_judged_item_is_the_next_to_take_back(campaign, ada):
    first, second = (ResponseFactory(task__campaign=campaign) for _ in range(2))
    for each in (first, second):
        judged(each, "GOOD", ada)

    keys = []
    while key := last_judged(campaign, ada):
        keys.append(key)
        take_back(campaign=campaign, key=key, reviewer=ada, at=NOON)

    assert keys == [second.key, first.key]


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [("BAD", "GOOD", ResponseStatus.SUBMITTED), ("GOOD", "BAD", ResponseStatus.DISCARDED)],
)
def test_a_verdict_is_changed_by_anybody_who_says_why(response, ada, before, after, status):
    judged(response, before, UserFactory())
    other = {"response": response, "verdict": after, "actor": ada, "at": NOON}

    with pytest.raises(ReasonMissing):
        change_verdict(**other, reason=" ")
    change_verdict(**other, reason="looked again")
    with pytest.raises(AlreadyJudged):
        change_verdict(**other, reason="looked again")

    response.refresh_from_db()
    assert response.status == status
    assert response.spot_check.verdict == after
    assert Decision.objects.filter(actor=ada, reason="looked again").exists()


def test_a_response_without_a_verdict_has_none_to_change(response, ada):
    with pytest.raises(NothingToTakeBack):
        change_verdict(response=response, verdict="BAD", reason="odd", actor=ada, at=NOON)


def test_a_good_verdict_does_not_overrule_an_exclusion(campaign, response, ada):
    judged(response, "BAD", ada)
    exclude_worker(campaign=campaign, worker=response.worker, reason="lists", actor=ada, at=NOON)

    counts = change_verdict(response=response, verdict="GOOD", reason="fine", actor=ada, at=NOON)

    response.refresh_from_db()
    assert not counts
    assert response.status == ResponseStatus.DISCARDED
    assert campaign.exclusions.in_force().exists()
    assert "Reinstate" in undo_preview(response).obstacle


def test_a_response_whose_rejection_was_decided_stays_discarded(campaign, ada):
    response = ResponseFactory(
        task__campaign=campaign, assignment=AssignmentFactory(hit__campaign=campaign)
    )
    judged(response, "BAD", ada)
    reject_response(response=response, reason="abuse", actor=ada, at=NOON)

    counts = change_verdict(response=response, verdict="GOOD", reason="fine", actor=ada, at=NOON)

    assert not counts


def test_a_response_without_its_own_verdict_is_restored(campaign, response, ada):
    Response.objects.filter(pk=response.pk).update(status=ResponseStatus.DISCARDED)
    type(response.task).objects.update(answers_missing=1, places_left=1)

    with pytest.raises(ReasonMissing):
        restore_response(response=response, reason="", actor=ada, at=NOON)
    restore_response(response=response, reason="by mistake", actor=ada, at=NOON)
    with pytest.raises(CannotRestore, match="counts already"):
        restore_response(response=response, reason="by mistake", actor=ada, at=NOON)

    assert missing(response) == 0
    assert acts(response) == [Act.RESTORE]


def test_the_page_takes_the_last_verdicts_back_one_by_one(client, reviewer, campaign):
    responses = [ResponseFactory(task__campaign=campaign) for _ in range(2)]
    for each in responses:
        judged(each, "GOOD", reviewer)
    address = reverse("qualcontrol:take_back_last", args=["pilot"])

    shown = [client.post(address, follow=True).context["shown"]["item"].key for _ in responses]
    nothing = client.post(address, follow=True).content.decode()

    assert shown == [each.key for each in reversed(responses)]
    assert "no verdict here" in nothing
    assert client.get(address).status_code == 405


def test_a_verdict_that_stays_is_not_offered_and_the_page_says_why(
    client, reviewer, campaign, response
):
    judged(response, "BAD", reviewer)
    ResponseFactory(task=response.task)
    queue = reverse("qualcontrol:queue", args=["pilot"])

    empty = client.get(f"{queue}?only=required").content.decode()
    refused = client.post(reverse("qualcontrol:take_back_last", args=["pilot"]), follow=True)

    assert last_judged(campaign, reviewer) is None
    assert "Judged bad." in empty
    assert "taken its place, so it stays discarded" in empty
    assert "Take back the last verdict" not in empty
    assert "taken its place" in refused.content.decode()


def test_the_script_is_told_why_a_verdict_stays(client, reviewer, campaign, response):
    judged(response, "BAD", reviewer)
    ResponseFactory(task=response.task)
    address = reverse("qualcontrol:take_back", args=["pilot", response.key])

    answer = client.post(address, {"ahead": ""}).content.decode()

    assert "data-review-answer" in answer
    assert "taken its place" in answer
    unknown = address.replace(str(response.key), "00000000-0000-4000-8000-000000000002")
    assert client.post(unknown).status_code == 404


def test_a_responses_page_says_what_moves_and_moves_it(client, reviewer, campaign, response):
    judged(response, "BAD", UserFactory())
    address = reverse("qualcontrol:response", args=["pilot", response.pk])

    before = client.get(address).content.decode()
    refused = client.post(address, {"change": "GOOD"})
    client.post(address, {"change": "GOOD", "reason": "a real sentence"})
    twice = client.post(address, {"change": "GOOD", "reason": "a real sentence"})

    assert "it counts again" in before
    assert refused.status_code == 422
    response.refresh_from_db()
    assert response.status == ResponseStatus.SUBMITTED
    assert twice.status_code == 422
    assert "already judged good" in twice.content.decode()


@pytest.mark.usefixtures("reviewer")
def test_a_response_of_another_campaign_is_not_found(client, campaign):
    stranger = ResponseFactory()

    assert client.get(f"/review/pilot/responses/{stranger.pk}/").status_code == 404


def test_an_exclusion_from_the_first_bad_response_on_follows_the_verdicts(ada):
    review = {**NO_REQUIRED_CHECKS, "policy": "propose", "discard": "since_first_bad"}
    campaign = CampaignFactory(config={"review": review})
    worker = WorkerFactory()
    written = write(campaign, worker, 6)

    def counting():
        return [n for n, one in enumerate(written) if Response.objects.counting().filter(pk=one.pk)]

    def change(number, verdict):
        values = {"response": written[number], "reason": "looked again", "actor": ada, "at": NOON}
        return change_verdict(verdict=verdict, **values)

    for number in (3, 1):
        judge(response=written[number], verdict="BAD", reason="vague", reviewer=ada, at=NOON)
    exclude_worker(campaign=campaign, worker=worker, reason="careless", actor=ada, at=NOON)
    assert counting() == [0]

    assert undo_preview(written[1]).obstacle == ""
    assert change(1, "GOOD")
    assert counting() == [0, 1, 2]
    assert not change(3, "GOOD")
    assert counting() == []
    assert open_questions(campaign) == []


def test_a_verdict_of_an_excluded_worker_restores_nothing_that_the_exclusion_discards(ada):
    campaign = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "policy": "propose"}})
    worker = WorkerFactory()
    _, first, _, last = write(campaign, worker, 4)
    judged(first, "BAD", ada)
    judged(last, "BAD", ada)
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    change_verdict(response=first, verdict="GOOD", reason="see the image", actor=ada, at=NOON)

    assert not Response.objects.counting().exists()
    assert not Decision.objects.filter(act=Act.RESTORE).exists()


def test_a_verdict_moves_the_first_bad_response_also_if_its_place_is_taken(ada):
    """The response itself does not count again, but those between it and the next bad one do."""
    review = {**NO_REQUIRED_CHECKS, "policy": "propose", "discard": "since_first_bad"}
    campaign, worker = CampaignFactory(config={"review": review}), WorkerFactory()
    _, first, between, last = write(campaign, worker, 4)
    judged(first, "BAD", ada)
    ResponseFactory.create_batch(first.task.wanted, task=first.task)
    judged(last, "BAD", ada)
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    change = {"response": first, "reason": "see the image", "actor": ada, "at": NOON}
    assert not change_verdict(verdict="GOOD", **change)
    between.refresh_from_db()
    assert between.status == ResponseStatus.SUBMITTED
    change_verdict(verdict="BAD", **change)

    between.refresh_from_db()
    assert between.status == ResponseStatus.DISCARDED
    assert not open_questions(campaign)


@pytest.mark.parametrize("is_required", [True, False])
def test_a_response_that_counts_again_is_in_the_sample(ada, is_required):
    """The share is raised while it is discarded."""
    campaign = CampaignFactory(config={"review": NO_REQUIRED_CHECKS})
    [response] = write(campaign, WorkerFactory())
    discard(responses=[response])
    share = 1.0 if is_required else 1e-9
    change = {"seen": 0, "reason": "", "actor": ada, "at": NOON}
    campaign = raise_review_share(campaign=campaign, share=share, **change)

    restore_response(response=response, reason="a slip", actor=ada, at=NOON)

    assert SpotCheck.objects.filter(is_random=True).count() == is_required


@pytest.mark.parametrize("is_excluded_first", [True, False])
def test_an_exclusion_follows_a_verdict_that_is_changed_to_bad(ada, is_excluded_first):
    campaign = CampaignFactory(config={"review": {"discard": "since_first_bad"}})
    worker = WorkerFactory()
    responses = write(campaign, worker, 4)
    third = responses[2]
    judge(response=third, verdict=Verdict.GOOD, reason="", reviewer=ada, at=NOON)

    def exclude():
        exclude_worker(campaign=campaign, worker=worker, reason="copied", actor=ada, at=NOON)

    if is_excluded_first:
        exclude()
    change_verdict(response=third, verdict=Verdict.BAD, reason="vague", actor=ada, at=NOON)
    if not is_excluded_first:
        exclude()

    counting = set(Response.objects.counting())
    assert counting == set(responses[:2])
