"""The order of checks: what a check is worth."""

from itertools import islice

from qualcontrol.ordering import Pick, Queue
from qualcontrol.risk import Crowd, Group, fit

CLEAN = [Group(worker, 0, (), unjudged=25) for worker in range(10, 50)]
SUSPICIOUS = [Group(1, 0, (), unjudged=15), Group(1, 0, ("unlike",), unjudged=10)]


def picks_of(crowd: Crowd, count: int, **options) -> list[Pick]:
    """The queue's first picks, at most `count`."""
    return list(islice(iter(Queue(crowd, **options).take, None), count))


def test_the_suspicious_response_comes_first():
    first = picks_of(fit([*CLEAN, *SUSPICIOUS]), 1)[0]

    assert (first.worker, first.codes) == (1, ("unlike",))
    assert first.chance_bad > 0.5


def test_of_two_workers_equally_suspicious_the_one_who_wrote_more_comes_first():
    crowd = fit([*CLEAN, *SUSPICIOUS, Group(2, 0, (), 15), Group(2, 0, ("unlike",), 10)])
    more = fit([*CLEAN, *SUSPICIOUS, Group(2, 1, (), 15), *crowd.groups[2:4]])

    assert picks_of(more, 1)[0].worker == 2


def test_checks_that_are_out_count_as_judged_so_that_others_get_their_turn():
    picks = picks_of(fit([*CLEAN, *SUSPICIOUS]), 12)

    assert len({pick.worker for pick in picks}) > 2


def test_good_verdicts_send_the_queue_elsewhere():
    cleared = [Group(1, 0, (), unjudged=15), Group(1, 0, ("unlike",), unjudged=5, good=5)]

    picks = picks_of(fit([*CLEAN, *cleared]), 5)

    assert 1 not in {pick.worker for pick in picks}


def test_workers_without_any_flag_are_looked_at_too():
    picks = picks_of(fit(CLEAN), 40)

    assert {pick.worker for pick in picks} == {group.worker for group in CLEAN}


def test_who_is_to_be_excluded_already_comes_last():
    over = Group(1, 0, (), unjudged=15, bad=8)
    crowd = fit([*CLEAN, over])

    assert crowd.should_exclude(1)
    assert Queue(crowd).worth(1) == 0


def test_barred_workers_are_not_in_the_queue():
    crowd = fit([*CLEAN, *SUSPICIOUS])

    picks = picks_of(crowd, 2000, barred=[1])

    assert 1 not in {pick.worker for pick in picks}
    assert len(picks) == sum(group.unjudged for group in CLEAN)


def test_every_response_is_given_out_once_at_most():
    groups = [Group(1, 0, (), unjudged=3, good=1), Group(1, 0, ("unlike",), unjudged=2)]

    picks = picks_of(fit(groups), 10)

    assert sorted(pick.codes for pick in picks) == [(), (), (), ("unlike",), ("unlike",)]


def test_an_empty_campaign_has_nothing_to_check():
    assert picks_of(fit([]), 3) == []
