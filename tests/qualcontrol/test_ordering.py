"""The order of checks: what a check is worth."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from qualcontrol.risk.model import Crowd, Group, fit
from qualcontrol.risk.ranking import Pick, Queue, divergence

CLEAN = [Group(worker, 0, (), unjudged=25) for worker in range(10, 50)]
SUSPICIOUS = [Group(1, 0, (), unjudged=15), Group(1, 0, ("unlike",), unjudged=10)]


def picks_of(crowd: Crowd, count: int, **options) -> list[Pick]:
    """The queue's first picks, at most `count`."""
    return list(islice(iter(Queue(crowd, **options).take, None), count))


def test_the_suspicious_response_comes_first():
    first = picks_of(fit([*CLEAN, *SUSPICIOUS]), 1)[0]

    assert (first.worker, first.codes) == (1, ("unlike",))
    assert first.chance_bad > 0.5


def test_a_rare_flag_is_not_asked_about_where_a_plain_response_tells_more():
    rarely_flagged = [Group(1, 0, ("odd_order",), unjudged=1), Group(1, 0, (), unjudged=24)]
    crowd = fit([*CLEAN, *rarely_flagged])

    first = next(pick for pick in picks_of(crowd, 100) if pick.worker == 1)

    assert crowd.chance_bad(1, 0, ("odd_order",)) > crowd.chance_bad(1, 0, ())
    assert first.codes == ()


def test_of_who_is_over_the_limit_on_too_few_bad_verdicts_the_most_likely_bad_comes_first():
    plain = Group(1, 0, (), unjudged=13, bad=2)
    crowd = fit([*CLEAN, plain, Group(1, 0, ("odd_order",), unjudged=1)])

    first = picks_of(crowd, 1)[0]

    assert crowd.risk[crowd.row[1]] >= crowd.certainty
    assert not crowd.should_exclude(1)
    assert (first.worker, first.codes) == (1, ("odd_order",))


def test_who_can_no_longer_be_over_the_limit_is_still_in_the_queue():
    judged = Group(1, 3, (), unjudged=1, good=99)

    picks = picks_of(fit([*CLEAN, judged]), 2000)

    assert [pick.worker for pick in picks].count(1) == 1


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


chance = st.floats(0, 1)


@given(chance, chance)
def test_a_verdict_tells_something_unless_it_is_as_likely_either_way(one, other):
    assert divergence(one, one) == 0
    assert divergence(one, other) >= -1e-12
    assert divergence(0.5, 0.01) > divergence(0.5, 0.3) > 0
