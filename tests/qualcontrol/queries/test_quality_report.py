"""The quality report's estimate and workers."""

import pytest

from annotate.models import Response, Submission
from qualcontrol.models import Assessment, SpotCheck
from qualcontrol.queries.quality_report import estimate_of, reviewers
from qualcontrol.queries.workers import (
    known_workers,
    latest_workers,
    worker_summaries,
)
from qualcontrol.services import sampling
from qualcontrol.services.discards import discard_lost
from qualcontrol.services.withdrawals import withdraw_responses
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)
from tests.qualcontrol.work import judge, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return CampaignFactory()


def answer(campaign, worker, count=1, **values):
    for _ in range(count):
        ResponseFactory(task=TaskFactory(campaign=campaign), worker=worker, **values)


def test_a_random_check_counts_by_what_others_have_not_seen_of_its_worker(monkeypatch):
    # Evenly spread over any numbers of the responses.
    monkeypatch.setattr(sampling, "random_order", lambda seed, response: response * 0.618 % 1)
    campaign = CampaignFactory(config={"review": {"first": 0, "share": 0.3, "policy": "propose"}})
    careless, careful = WorkerFactory.create_batch(2)
    write(campaign, careful, 30)
    theirs = write(campaign, careless, 20)
    Assessment.objects.update(codes="")
    drawn = [check.response for check in SpotCheck.objects.of(campaign)]
    of_careless = [response for response in drawn if response.worker == careless]
    others = [response for response in theirs if response not in of_careless]
    for response in drawn:
        judge(response, "BAD" if response in of_careless else "GOOD")
    for response in others[:6]:
        judge(response, "BAD")

    bad, good = len(of_careless), len(drawn) - len(of_careless)
    found = estimate_of(campaign, kept=50 - bad - 6)

    unseen = 1 - 6 / (20 - bad)
    share = bad * unseen / (bad * unseen + good)
    assert min(bad, good) > 2
    expected = share * (50 - len(drawn) - 6) / (50 - bad - 6)
    assert found.share == pytest.approx(expected, rel=0.1)
    assert found.checks == len(drawn)


def test_a_withdrawn_response_hides_no_kept_one(monkeypatch):
    """Otherwise checks would seem to have seen all that is left, and none of it could be bad."""
    # The later ones are drawn later.
    monkeypatch.setattr(sampling, "random_order", lambda seed, response: response / 10**6)
    campaign = CampaignFactory(config={"review": {"first": 0, "share": 1, "policy": "propose"}})
    leaver, worker = WorkerFactory.create_batch(2)
    theirs, written = write(campaign, leaver, 4), write(campaign, worker, 8)
    Assessment.objects.update(codes="")
    for response in [*theirs, *written[:2]]:
        judge(response, "GOOD")
    for response in written[2:4]:
        judge(response, "BAD")

    keys = [response.pk for response in theirs]
    withdraw_responses(worker=leaver, responses=keys, actor=None, at=NOON)

    found = estimate_of(campaign, kept=6)
    assert (found.checks, found.share) == (4, pytest.approx(1 / 2 * 4 / 6))


def test_a_bad_response_of_a_lost_assignment_is_not_in_the_estimate():
    campaign = CampaignFactory(config={"review": {"first": 0, "share": 1, "policy": "propose"}})
    worker = WorkerFactory()
    lost, *others = write(campaign, worker, 4)
    Response.objects.filter(pk=lost.pk).update(submission=Submission.objects.create())
    for response, verdict in zip((lost, *others), ("BAD", "GOOD", "GOOD", "GOOD"), strict=True):
        judge(response, verdict)
    lost.refresh_from_db()

    about = {"campaign": campaign, "worker": worker, "submission": lost.submission_id}
    discard_lost(**about, at=NOON)

    assert estimate_of(campaign, kept=3).checks == 3


def test_a_reviewer_does_not_learn_from_the_report_how_another_judged_an_open_check():
    campaign = CampaignFactory(config={"review": {"reviewers": 2}})
    [response] = write(campaign, WorkerFactory(), 1)
    ada, bob = UserFactory(username="ada"), UserFactory(username="bob")

    judge(response, "BAD", reviewer=ada)
    before = reviewers(campaign)
    judge(response, "BAD", reviewer=bob)

    assert before == []
    assert [(one.name, one.judged, one.bad) for one in reviewers(campaign)] == [
        ("ada", 1, 1),
        ("bob", 1, 1),
    ]


def test_latest_workers_looks_at_the_latest_responses_alone(campaign):
    earlier, later = WorkerFactory.create_batch(2)
    answer(campaign, earlier, 3, submitted_at=NOON.replace(hour=8))
    answer(campaign, later, 2, submitted_at=NOON)

    assert latest_workers(campaign, most=5, among=2) == [later.pk]
    assert latest_workers(campaign, most=1, among=5) == [earlier.pk]


def test_known_workers_are_those_who_answered_in_the_campaign(campaign):
    known, stranger = WorkerFactory.create_batch(2)
    answer(campaign, known)
    answer(CampaignFactory(), stranger)

    assert list(known_workers(campaign)) == [known]


def test_summaries_have_the_order_of_the_given_workers(campaign):
    one, other = WorkerFactory.create_batch(2)
    answer(campaign, one)

    found = worker_summaries(campaign, [other.pk, one.pk])

    assert [(row.pseudonym, row.submitted) for row in found] == [
        (other.pseudonym, 0),
        (one.pseudonym, 1),
    ]
