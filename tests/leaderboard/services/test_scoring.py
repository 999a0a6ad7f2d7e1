"""Which submission is scored next, and what becomes of runs that end badly."""

import sys
import time
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from leaderboard.models import Challenge, Submission, SubmissionStatus
from leaderboard.queries import allowance_of
from leaderboard.services import scoring
from leaderboard.services.scoring import (
    GRACE,
    SubmissionRefused,
    score,
    score_again,
    score_waiting,
    store_failure,
    store_scores,
    take,
)
from leaderboard.services.submissions import withdraw
from leaderboard.tasks import score_next
from tests.factories import UserFactory
from tests.leaderboard.making import NOON, make_challenge, make_submission, make_submitter

pytestmark = pytest.mark.django_db

SCORES = {"images": 12, "overall": {"CIDEr": 0.5}, "subsets": {}, "subset_images": {}, "failed": {}}


@pytest.fixture
def grace():
    return make_submitter()


@pytest.fixture
def submission(challenge, grace, results):
    return make_submission(challenge, grace, results())


def test_submissions_are_taken_in_the_order_of_their_arrival(challenge, grace, results, settings):
    settings.SCORES_AT_ONCE = 3
    second = make_submission(challenge, grace, results(), at=NOON + timedelta(minutes=2))
    first = make_submission(challenge, grace, results(word="cat"), at=NOON + timedelta(minutes=1))

    taken = [take(at=NOON + timedelta(minutes=3)) for _ in range(3)]

    assert taken == [first, second, None]


def test_no_more_than_the_set_number_run_at_the_same_time(challenge, grace, results):
    for word in ("dog", "cat"):
        make_submission(challenge, grace, results(word=word))
    running = take(at=NOON)

    assert take(at=NOON) is None
    store_scores(submission=running, scores=SCORES, at=NOON)

    assert take(at=NOON) is not None


def test_scores_are_stored_and_the_run_ends(submission):
    taken = take(at=NOON)

    assert store_scores(submission=taken, scores=SCORES, at=NOON)

    submission.refresh_from_db()
    assert submission.status == SubmissionStatus.SCORED
    assert submission.scores == SCORES
    assert submission.log == "2026-11-02 12:00:00 Run 1 started.\n2026-11-02 12:00:00 Scored.\n"


def test_a_killed_run_is_repeated_once_then_fails_and_costs_no_try(submission, challenge, grace):
    assert store_failure(submission=take(at=NOON), reason="Killed.", at=NOON)
    submission.refresh_from_db()
    assert submission.status == SubmissionStatus.WAITING
    assert allowance_of(challenge, grace, at=NOON).used == 1

    assert store_failure(submission=take(at=NOON), reason="Killed.", at=NOON)

    submission.refresh_from_db()
    assert submission.status == SubmissionStatus.FAILED
    assert submission.log.splitlines()[-1] == (
        "2026-11-02 12:00:00 Killed. This submission does not count towards the limits."
    )
    assert allowance_of(challenge, grace, at=NOON).used == 0
    assert take(at=NOON + timedelta(days=1)) is None


def test_a_repeated_run_waits_behind_the_others(submission, challenge, grace, results):
    other = make_submission(challenge, grace, results(word="cat"), at=NOON + timedelta(minutes=1))
    store_failure(submission=take(at=NOON), reason="Killed.", at=NOON + timedelta(minutes=2))

    assert take(at=NOON + timedelta(minutes=3)) == other


def test_a_run_whose_process_died_is_taken_up_after_its_time(submission, challenge):
    dead = take(at=NOON)
    end = NOON + timedelta(seconds=challenge.seconds) + GRACE

    assert take(at=end - timedelta(seconds=1)) is None
    again = take(at=end)

    assert again == submission
    assert (again.attempts, again.run != dead.run) == (2, True)
    assert "its process died" in again.log
    assert not store_scores(submission=dead, scores=SCORES, at=end)
    assert not store_failure(submission=dead, reason="Too late.", at=end)
    assert store_scores(submission=again, scores=SCORES, at=end)


def test_a_run_of_a_clock_that_was_ahead_does_not_keep_its_place_until_then(submission):
    take(at=NOON + timedelta(days=365))

    assert take(at=NOON) == submission


def test_a_process_that_dies_twice_ends_the_submission(submission, challenge, grace):
    end = timedelta(seconds=challenge.seconds) + GRACE
    take(at=NOON)
    take(at=NOON + end)

    assert take(at=NOON + 2 * end) is None

    submission.refresh_from_db()
    assert submission.status == SubmissionStatus.FAILED
    assert allowance_of(challenge, grace, at=NOON).used == 0


def test_a_submission_that_was_withdrawn_while_it_ran_gets_no_scores(submission):
    taken = take(at=NOON)
    withdraw(submission=submission, reason="Wrong data.", actor=UserFactory(), at=NOON)

    assert not store_scores(submission=taken, scores=SCORES, at=NOON)

    assert Submission.objects.get().status == SubmissionStatus.WITHDRAWN


@pytest.mark.slow
def test_the_process_of_a_submission_that_was_withdrawn_is_stopped(
    submission, challenge, monkeypatch, caplog
):
    monkeypatch.setattr(scoring, "COMMAND", (sys.executable, "-c", "import time; time.sleep(600)"))
    taken = take(at=NOON)
    withdraw(submission=submission, reason="Wrong data.", actor=UserFactory(), at=NOON)
    begin = time.monotonic()

    score(taken)

    assert time.monotonic() - begin < challenge.seconds / 2
    assert Submission.objects.get().status == SubmissionStatus.WITHDRAWN
    assert caplog.text == ""


@pytest.mark.slow
def test_the_command_scores_what_waits_and_the_baseline(release, grace, results):
    challenge = make_challenge(release)
    make_submission(challenge, grace, results())
    out = StringIO()

    call_command("score_submissions", stdout=out)

    assert out.getvalue().splitlines()[-1] == "2 runs ended."
    baseline = challenge.submissions.get(is_baseline=True)
    assert baseline.status == SubmissionStatus.SCORED
    # The baseline differs from its references by a number, the submission by all its words.
    human, model = (
        each.scores["overall"]["CIDEr"]
        for each in (baseline, challenge.submissions.get(is_baseline=False))
    )
    assert human > model


@pytest.mark.slow
def test_a_submission_that_needs_too_long_fails_and_the_next_is_scored(
    release, grace, results, challenge, slow_java
):
    Challenge.objects.filter(pk=challenge.pk).update(seconds=2, tokeniser="ptb")
    slow = make_submission(challenge, grace, results())
    other = make_challenge(release, name="other")
    other.submissions.all().delete()
    quick = make_submission(other, grace, results(), at=NOON + timedelta(minutes=1))

    runs = [each.pk for each in score_waiting()]

    assert runs == [slow.pk, quick.pk, slow.pk]
    slow.refresh_from_db()
    quick.refresh_from_db()
    assert (slow.status, quick.status) == (SubmissionStatus.FAILED, SubmissionStatus.SCORED)
    assert slow.log.count("Scoring did not end within 2 seconds.") == 2


@pytest.mark.slow
def test_the_task_scores_one_submission_after_the_other(challenge, grace, results):
    for word in ("dog", "cat"):
        make_submission(challenge, grace, results(word=word), at=timezone.now())

    score_next.delay()

    assert {each.status for each in Submission.objects.all()} == {SubmissionStatus.SCORED}


def test_a_failed_baseline_can_be_scored_again_and_nothing_else(release, submission):
    challenge = make_challenge(release, name="other")
    baseline = challenge.submissions.get()
    Submission.objects.filter(pk=baseline.pk).update(status=SubmissionStatus.FAILED, attempts=2)

    score_again(submission=baseline, at=NOON)

    baseline.refresh_from_db()
    assert (baseline.status, baseline.attempts) == (SubmissionStatus.WAITING, 0)
    for refused in (baseline, submission):
        with pytest.raises(SubmissionRefused):
            score_again(submission=refused, at=NOON)
