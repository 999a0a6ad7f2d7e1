"""The benchmark of the trial of new workers."""

from benchmarks.crowds import Crowd, Written
from benchmarks.review_strategies import SimulatedReview
from benchmarks.trial import VISITS, hold_trial, waiting

GOOD, BAD = False, True
CARELESS = "keyword lists"


def crowd_of(*work: list[bool]) -> Crowd:
    """A crowd whose workers wrote these captions in turn; all except the first are careless."""
    captions = [
        Written(worker, image, "A dog.", is_bad)
        for worker, verdicts in enumerate(work)
        for image, is_bad in enumerate(verdicts)
    ]
    return Crowd(captions, {worker: CARELESS for worker in range(1, len(work))})


def test_only_the_first_captions_are_judged_where_they_are_good():
    crowd = crowd_of([GOOD, GOOD, BAD, BAD])

    trial = hold_trial(crowd, first=2, trial=3)

    assert (trial.judged, trial.stopped, trial.crowd) == ([0, 1], set(), crowd)


def test_after_a_bad_one_the_whole_trial_is_judged_and_one_slip_is_forgiven():
    crowd = crowd_of([BAD, GOOD, GOOD, BAD, BAD])

    trial = hold_trial(crowd, first=1, trial=3)

    assert (trial.judged, trial.stopped, trial.crowd) == ([0, 1, 2], set(), crowd)


def test_what_the_stopped_would_have_written_is_not_in_the_crowd():
    crowd = crowd_of([GOOD] * 4, [BAD, GOOD, BAD, BAD, GOOD, BAD])

    trial = hold_trial(crowd, first=1, trial=3)

    assert (trial.stopped, trial.good_stopped, trial.bad_kept_out) == ({1}, set(), 2)
    assert trial.crowd.captions == crowd.captions[:7]
    assert trial.judged == [0, 4, 5, 6]
    assert SimulatedReview(trial.crowd, 0).share_left(0) == 2 / 7


def test_a_good_worker_may_be_stopped_too():
    assert hold_trial(crowd_of([BAD, BAD]), first=1, trial=3).good_stopped == {0}


def test_workers_wait_longer_for_a_reviewer_who_comes_less_often():
    _, figures = waiting()

    medians = [figures[f"1,5,{minutes}"]["median_minutes"] for minutes in VISITS.values()]
    assert medians == sorted(medians)
    assert medians[0] < 5
    assert medians[-1] > 600
