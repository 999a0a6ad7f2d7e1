"""The order of checks: their expected values."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from qualcontrol.risk.model import Crowd, Group, fit
from qualcontrol.risk.ranking import CheckRanking, Pick, divergence

CLEAN = [Group(worker, 0, (), unjudged=25) for worker in range(10, 50)]
SUSPICIOUS = [Group(1, 0, (), unjudged=15), Group(1, 0, ("unlike",), unjudged=10)]


def picks_of(crowd: Crowd, count: int, **options) -> list[Pick]:
    """The first picks, at most `count`."""
    return list(islice(iter(CheckRanking(crowd, **options).take, None), count))


def test_the_suspicious_response_comes_first():
    first = picks_of(fit([*CLEAN, *SUSPICIOUS]), 1)[0]

    assert (first.worker, first.codes) == (1, ("unlike",))
    assert first.chance_bad > 0.5


def test_a_response_without_flags_comes_before_a_rare_flag_if_its_verdict_says_more():
    rarely_flagged = [Group(1, 0, ("odd_order",), unjudged=1), Group(1, 0, (), unjudged=24)]
    crowd = fit([*CLEAN, *rarely_flagged])

    first = next(pick for pick in picks_of(crowd, 100) if pick.worker == 1)

    assert crowd.chance_bad(1, 0, ("odd_order",)) > crowd.chance_bad(1, 0, ())
    assert first.codes == ()


def test_for_a_worker_with_high_risk_and_few_bad_verdicts_the_most_likely_bad_comes_first():
    plain = Group(1, 0, (), unjudged=13, bad=2)
    crowd = fit([*CLEAN, plain, Group(1, 0, ("odd_order",), unjudged=1)])

    first = picks_of(crowd, 1)[0]

    assert crowd.risk[crowd.row[1]] >= crowd.certainty
    assert not crowd.is_excludable(crowd.certainty, bad=2)
    assert (first.worker, first.codes) == (1, ("odd_order",))


def test_a_worker_who_can_no_longer_be_over_the_limit_is_still_ranked():
    judged = Group(1, 3, (), unjudged=1, good=99)

    picks = picks_of(fit([*CLEAN, judged]), 2000)

    assert [pick.worker for pick in picks].count(1) == 1


def test_of_two_equally_suspicious_workers_the_one_with_more_responses_comes_first():
    crowd = fit([*CLEAN, *SUSPICIOUS, Group(2, 0, (), 15), Group(2, 0, ("unlike",), 10)])
    more = fit([*CLEAN, *SUSPICIOUS, Group(2, 1, (), 15), *crowd.groups[2:4]])

    assert picks_of(more, 1)[0].worker == 2


def test_checks_given_out_count_as_judged_so_that_other_workers_follow():
    picks = picks_of(fit([*CLEAN, *SUSPICIOUS]), 12)

    assert len({pick.worker for pick in picks}) > 2


def test_good_verdicts_move_the_checks_to_other_workers():
    cleared = [Group(1, 0, (), unjudged=15), Group(1, 0, ("unlike",), unjudged=5, good=5)]

    picks = picks_of(fit([*CLEAN, *cleared]), 5)

    assert 1 not in {pick.worker for pick in picks}


def test_workers_without_flags_are_checked_too():
    picks = picks_of(fit(CLEAN), 40)

    assert {pick.worker for pick in picks} == {group.worker for group in CLEAN}


def test_a_worker_who_meets_the_exclusion_rule_comes_last():
    over = Group(1, 0, (), unjudged=15, bad=8)
    crowd = fit([*CLEAN, over])
    estimate = crowd.estimate(1)

    assert crowd.is_excludable(estimate.risk, estimate.bad)
    assert CheckRanking(crowd).expected_value(1) == 0


def test_excluded_workers_are_not_in_the_ranking():
    crowd = fit([*CLEAN, *SUSPICIOUS])

    picks = picks_of(crowd, 2000, excluded=[1])

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
def test_a_verdict_is_informative_unless_it_is_equally_likely_either_way(one, other):
    assert divergence(one, one) == 0
    assert divergence(one, other) >= -1e-12
    assert divergence(0.5, 0.01) > divergence(0.5, 0.3) > 0
