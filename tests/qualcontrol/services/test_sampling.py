"""Drawing and judging spot checks."""

import pytest

from annotate.models import Response, ResponseStatus
from qualcontrol.models import Act, Decision, SpotCheck, Verdict
from qualcontrol.review.judging import judge, reject_response
from qualcontrol.services.errors import AlreadyJudged, CannotReject, ReasonMissing
from qualcontrol.services.sampling import draw_spot_checks
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db


def answers_of(worker, campaign, count):
    return [
        ResponseFactory(worker=worker, task=TaskFactory(campaign=campaign)) for _ in range(count)
    ]


def checked_responses():
    return list(SpotCheck.objects.order_by("response_id").values_list("response_id", flat=True))


def test_draw_spot_checks_takes_the_first_responses_of_each_worker():
    campaign = CampaignFactory(config={"review": {"first": 2, "share": 0}})
    one = answers_of(WorkerFactory(), campaign, 4)
    other = answers_of(WorkerFactory(), campaign, 1)

    draw_spot_checks(campaign=campaign, responses=[*one, *other], at=NOON)

    assert checked_responses() == [one[0].pk, one[1].pk, other[0].pk]


def test_draw_spot_checks_counts_a_workers_first_responses_over_several_calls():
    campaign = CampaignFactory(config={"review": {"first": 2, "share": 0}})
    answers = answers_of(WorkerFactory(), campaign, 4)

    for answer in answers:
        draw_spot_checks(campaign=campaign, responses=[answer], at=NOON)

    assert checked_responses() == [answers[0].pk, answers[1].pk]


def test_draw_spot_checks_counts_each_campaign_by_itself():
    worker = WorkerFactory()
    earlier = CampaignFactory(config={"review": {"first": 1, "share": 0}})
    later = CampaignFactory(config={"review": {"first": 1, "share": 0}})
    draw_spot_checks(campaign=earlier, responses=answers_of(worker, earlier, 1), at=NOON)

    draw_spot_checks(campaign=later, responses=answers_of(worker, later, 1), at=NOON)

    assert SpotCheck.objects.of(later).count() == 1


def test_draw_spot_checks_again_draws_nothing():
    campaign = CampaignFactory(config={"review": {"first": 2, "share": 0.5}})
    answers = answers_of(WorkerFactory(), campaign, 20)
    draw_spot_checks(campaign=campaign, responses=answers, at=NOON)
    before = checked_responses()

    draw_spot_checks(campaign=campaign, responses=answers, at=NOON)

    assert checked_responses() == before


def test_draw_spot_checks_draws_about_the_share_and_the_same_in_any_order():
    campaign = CampaignFactory(config={"seed": 7, "review": {"first": 0, "share": 0.3}})
    answers = answers_of(WorkerFactory(), campaign, 100)
    draw_spot_checks(campaign=campaign, responses=answers, at=NOON)
    first_draw = checked_responses()
    SpotCheck.objects.all().delete()

    for answer in reversed(answers):
        draw_spot_checks(campaign=campaign, responses=[answer], at=NOON)

    assert checked_responses() == first_draw
    assert 15 <= len(first_draw) <= 45


@pytest.mark.parametrize(("share", "drawn"), [(0, 0), (1, 5)])
def test_draw_spot_checks_with_the_bounds_of_the_share(share, drawn):
    campaign = CampaignFactory(config={"review": {"first": 0, "share": share}})
    answers = answers_of(WorkerFactory(), campaign, 5)

    draw_spot_checks(campaign=campaign, responses=answers, at=NOON)

    assert len(checked_responses()) == drawn


def test_judge_good_closes_the_check_and_keeps_the_response():
    check, reviewer = SpotCheckFactory(), UserFactory()

    judge(response=check.response, verdict="GOOD", reason="", reviewer=reviewer, at=NOON)

    check.refresh_from_db()
    assert (check.verdict, check.judged_at) == (Verdict.GOOD, NOON)
    assert check.judgements.get().reviewer == reviewer
    assert check.response.status == ResponseStatus.SUBMITTED
    assert [decision.act for decision in Decision.objects.all()] == [Act.JUDGE_GOOD]


def test_judge_bad_discards_the_response_and_its_task_wants_another():
    check, reviewer = SpotCheckFactory(), UserFactory()
    places = check.response.task.places_left

    judge(response=check.response, verdict="BAD", reason="wrong image", reviewer=reviewer, at=NOON)

    check.response.refresh_from_db()
    check.response.task.refresh_from_db()
    assert check.response.status == ResponseStatus.DISCARDED
    assert check.response.task.places_left == places + 1
    log = Decision.objects.order_by("pk").values_list("act", "reason", "actor")
    assert list(log) == [
        (Act.JUDGE_BAD, "wrong image", reviewer.pk),
        (Act.DISCARD, "wrong image", reviewer.pk),
    ]


def test_judge_bad_without_a_reason_changes_nothing():
    check = SpotCheckFactory()

    with pytest.raises(ReasonMissing):
        judge(response=check.response, verdict="BAD", reason="  ", reviewer=None, at=NOON)

    assert SpotCheck.objects.open().get() == check
    assert not Decision.objects.exists()


def test_judge_twice_keeps_the_first_verdict():
    check = SpotCheckFactory()
    judge(response=check.response, verdict="GOOD", reason="", reviewer=None, at=NOON)

    with pytest.raises(AlreadyJudged):
        judge(response=check.response, verdict="BAD", reason="vague", reviewer=None, at=NOON)

    check.refresh_from_db()
    assert check.verdict == Verdict.GOOD
    assert Decision.objects.count() == 1


def test_judge_a_response_that_was_discarded_meanwhile_is_refused():
    check = SpotCheckFactory(response__status=ResponseStatus.DISCARDED)

    with pytest.raises(AlreadyJudged):
        judge(response=check.response, verdict="GOOD", reason="", reviewer=None, at=NOON)

    assert not Decision.objects.exists()


def test_judge_a_response_that_was_deleted_meanwhile_is_refused():
    response = ResponseFactory()
    Response.objects.filter(pk=response.pk).delete()

    with pytest.raises(Response.DoesNotExist):
        judge(response=response, verdict="GOOD", reason="", reviewer=None, at=NOON)


def test_open_leaves_out_checks_of_discarded_responses():
    waiting = SpotCheckFactory()
    SpotCheckFactory(response__status=ResponseStatus.DISCARDED)
    SpotCheckFactory(verdict="GOOD", judged_at=NOON)

    assert list(SpotCheck.objects.open()) == [waiting]


def test_reject_response_writes_the_reason_for_the_reconciler():
    response = ResponseFactory(status=ResponseStatus.DISCARDED)

    reject_response(response=response, reason="Copied from another image.", actor=None, at=NOON)

    decision = Decision.objects.get()
    assert (decision.act, decision.response) == (Act.REJECT, response)
    assert decision.reason == "Copied from another image."


def test_reject_response_refuses_work_that_was_not_discarded():
    response = ResponseFactory(status=ResponseStatus.SUBMITTED)

    with pytest.raises(CannotReject):
        reject_response(response=response, reason="Copied.", actor=None, at=NOON)

    assert not Decision.objects.exists()


def test_reject_response_needs_a_reason():
    response = ResponseFactory(status=ResponseStatus.DISCARDED)

    with pytest.raises(ReasonMissing):
        reject_response(response=response, reason=" ", actor=None, at=NOON)


def test_reject_response_is_asked_for_once():
    response = ResponseFactory(status=ResponseStatus.DISCARDED)
    reject_response(response=response, reason="Copied.", actor=None, at=NOON)

    with pytest.raises(CannotReject):
        reject_response(response=response, reason="Copied.", actor=None, at=NOON)

    assert Decision.objects.count() == 1
