"""Aggregating several answers by majority and with Dawid and Skene's model."""

import random
import warnings
from importlib import import_module

import numpy as np
import pandas
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotate.kinds.correspondence.aggregation import (
    Answers,
    Votes,
    aggregate,
    dawid_skene,
    vote_shares,
)
from tests.annotate.kinds.correspondence.linked_words import WORDS

METHODS = ["majority", "dawid-skene"]


def boxes(words, number):
    return [link.box for link in words[number].links]


@pytest.mark.parametrize("method", METHODS)
def test_a_label_that_all_workers_give_is_the_result(method):
    said = {"1": [4], "3": [4, 5], "6": "scene"}

    (words,) = aggregate([Answers([1, 2, 3], [said] * 3)], method)

    assert (boxes(words, 1), boxes(words, 3), words[6].kind) == ([4], [4, 5], "scene")
    assert {link.support for word in words.values() for link in word.links} == {1.0}
    assert words[6].support == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_two_of_three_hold_and_the_third_does_not(method):
    (words,) = aggregate([Answers([1, 2, 3], [{"1": [4]}, {"1": [4]}, {"1": [5]}])], method)

    assert boxes(words, 1) == [4]
    assert words[1].links[0].support == pytest.approx(2 / 3)


def test_a_word_that_each_links_to_another_box_is_undecided():
    (words,) = aggregate([Answers([1, 2, 3], [{"1": [4]}, {"1": [5]}, {"1": [6]}])], "majority")

    assert (words[1].links, words[1].kind) == ((), None)


def test_of_two_kinds_with_as_many_votes_the_first_stands():
    (words,) = aggregate([Answers([1, 2], [{"1": "scene"}, {"1": "not-boxed"}])], "majority")

    assert (words[1].kind, words[1].support) == ("not-boxed", 0.5)


def test_nothing_comes_of_no_captions_and_of_captions_without_links():
    assert aggregate([], "dawid-skene") == []
    assert aggregate([Answers([1, 2], [{}, {}])], "majority") == [{}]


@settings(max_examples=5, deadline=None)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=3))
def test_only_words_that_somebody_answered_come_to_anything(captions):
    given_answers = [Answers(range(len(words)), words) for words in captions]

    for answers, words in zip(given_answers, aggregate(given_answers, "majority"), strict=True):
        assert set(words) == {int(number) for said in answers.words for number in said}


def crowd(rng, *, captions, workers, accuracy, words=4, choices=6):
    """Random true answers, and a crowd's answers to them; `accuracy` by worker."""
    truths, said = [], []
    for _ in range(captions):
        truth = {number: rng.randint(1, choices) for number in range(words)}
        chosen = rng.sample(range(len(accuracy)), workers)
        answers = [
            {
                str(number): [box if rng.random() < accuracy[worker] else rng.randint(1, choices)]
                for number, box in truth.items()
            }
            for worker in chosen
        ]
        truths.append(truth)
        said.append(Answers(chosen, answers))
    return truths, said


def right(truths, found):
    """The share of words whose only link is correct."""
    pairs = [
        (boxes(words, number), [box])
        for truth, words in zip(truths, found, strict=True)
        for number, box in truth.items()
    ]
    return sum(linked == true for linked, true in pairs) / len(pairs)


def test_dawid_and_skene_learn_whom_to_trust():
    rng = random.Random(5)
    truths, said = crowd(rng, captions=120, workers=5, accuracy=[0.95] * 6 + [0.3] * 9)

    counted, weighed = (right(truths, aggregate(said, method)) for method in METHODS)

    assert weighed > counted + 0.1


def test_a_fifth_of_errors_leaves_nearly_every_link_right():
    rng = random.Random(5)
    truths, said = crowd(rng, captions=200, workers=7, accuracy=[0.8] * 30)

    assert right(truths, aggregate(said, "dawid-skene")) >= 0.97


def votes(rows, label_count):
    """Votes from (question, worker, label) rows."""
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return Votes(*columns, label_count)


@st.composite
def sparse_votes(draw):
    """Each question answered by at least one of the workers, most not by all."""
    label_count = draw(st.integers(1, 4))
    label, worker = st.integers(0, label_count - 1), st.integers(0, 4)
    answered = draw(st.lists(st.dictionaries(worker, label, min_size=1), min_size=1, max_size=8))
    rows = [(n, w, label) for n, said in enumerate(answered) for w, label in said.items()]
    return votes(rows, label_count)


def fitted(given_votes, *, known=(), **options):
    """crowd-kit's model, and its probabilities of shape (Q, K)."""
    rows = list(zip(*given_votes[:3], strict=True))
    truths = {}
    for (true, said), times in np.ndenumerate(np.array(known)):
        for _ in range(times):
            question = -1 - len(truths)
            truths[question] = true
            rows += [(question, worker, said) for worker in set(given_votes.workers.tolist())]
    table = pandas.DataFrame(rows, columns=["task", "worker", "label"])
    # It takes four seconds to load, also in runs that leave these tests out.
    model = import_module("crowdkit.aggregation").DawidSkene(**options)
    with warnings.catch_warnings():
        # crowd-kit calls pandas in a way that pandas is about to remove.
        warnings.simplefilter("ignore", DeprecationWarning)
        found = model.fit_predict_proba(table, pandas.Series(truths) if truths else None)
    asked = sorted(set(given_votes.questions.tolist()))
    return model, found.reindex(index=asked, columns=range(given_votes.label_count), fill_value=0)


def reference(given_votes, *, iterations, known=()):
    """The probabilities that crowd-kit computes in so many steps."""
    return fitted(given_votes, known=known, n_iter=iterations, tol=-np.inf)[1]


def log_likelihood(given_votes, estimate):
    """The logarithm of the probability of the votes by the model."""
    of_questions = np.tile(estimate.shares, (len(estimate.probabilities), 1))
    for question, worker, said in zip(*given_votes[:3], strict=True):
        of_questions[question] *= estimate.error_rates[worker, :, said]
    return np.log(of_questions.sum(axis=1)).sum()


def voters(*, accuracy, questions=60, answers=5, label_count=3, seed=3):
    """Random true labels, and votes of workers whose probability of being right is `accuracy`."""
    rng = random.Random(seed)
    truths = [rng.randrange(label_count) for _ in range(questions)]
    rows = [
        (number, worker, truth if rng.random() < accuracy[worker] else rng.randrange(label_count))
        for number, truth in enumerate(truths)
        for worker in rng.sample(range(len(accuracy)), answers)
    ]
    return np.array(truths), votes(rows, label_count)


@settings(max_examples=20, deadline=None)
@given(sparse_votes())
@example(votes([(0, 0, 1)], 2))
@example(votes([(0, 0, 0), (0, 1, 1)], 2))
def test_probabilities_are_those_of_crowd_kit(random_votes):
    # Few steps: where two labels are exactly alike, rounding alone decides between them in time.
    found = dawid_skene(random_votes, iterations=6, tolerance=-1)

    expected = reference(random_votes, iterations=6).to_numpy()
    assert found.probabilities == pytest.approx(expected, abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(sparse_votes())
def test_known_questions_count_as_in_crowd_kit(random_votes):
    count = random_votes.label_count
    known = np.full((count, count), 1) + 3 * np.eye(count, dtype=int)

    found = dawid_skene(random_votes, known=known, iterations=6, tolerance=-1)

    expected = reference(random_votes, iterations=6, known=known).to_numpy()
    assert found.probabilities == pytest.approx(expected, abs=1e-6)


def test_a_crowd_converges_to_what_crowd_kit_finds():
    _, said = voters(accuracy=[0.9, 0.9, 0.7, 0.7, 0.5, 0.3, 0.3])

    found = dawid_skene(said, iterations=500)

    assert found.converged
    assert found.iterations < 500
    expected = reference(said, iterations=found.iterations + 20).to_numpy()
    assert found.probabilities == pytest.approx(expected, abs=1e-4)


def test_crowd_kit_differs_only_where_it_stops_while_the_likelihood_still_rises():
    _, said = voters(accuracy=[0.8, 0.6, 0.4], questions=10, answers=3, label_count=2, seed=0)
    model, early = fitted(said)
    steps = len(model.loss_history_)

    ours = dawid_skene(said, iterations=1000)

    assert ours.converged
    assert np.abs(ours.probabilities - early.to_numpy()).max() > 0.5
    # Its bound counts the shares of the labels once for each vote, so it can fall.
    assert steps < 10
    assert model.loss_history_[-1] < model.loss_history_[-2]
    same = dawid_skene(said, iterations=steps, tolerance=-1)
    assert same.probabilities == pytest.approx(early.to_numpy(), abs=1e-6)
    rising = [
        log_likelihood(said, dawid_skene(said, iterations=count, tolerance=-1))
        for count in (steps, 2 * steps, 10 * steps, 100 * steps)
    ]
    assert rising == sorted(rising)
    assert rising[-1] > rising[0] + 0.1


def test_error_rates_and_shares_are_those_that_the_votes_were_drawn_with():
    truths, said = voters(accuracy=[0.9] * 4 + [0.4] * 4, questions=3000, label_count=2)

    found = dawid_skene(said)

    right = np.diagonal(found.error_rates, axis1=1, axis2=2).mean(axis=1)
    # Half of the errors are right by chance.
    assert right == pytest.approx([0.95] * 4 + [0.7] * 4, abs=0.04)
    assert found.shares == pytest.approx(np.bincount(truths) / len(truths), abs=0.03)
    assert found.error_rates.sum(axis=2) == pytest.approx(np.ones((8, 2)))


def test_a_worker_who_is_often_right_outweighs_a_majority_who_are_not():
    truths, said = voters(accuracy=[0.95] * 4 + [0.1] * 8, questions=400)

    counted = (vote_shares(said).argmax(axis=1) == truths).mean()
    weighed = (dawid_skene(said).probabilities.argmax(axis=1) == truths).mean()

    assert weighed > counted + 0.1


def test_the_order_of_votes_changes_no_bit():
    _, said = voters(accuracy=[0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    order = np.random.default_rng(1).permutation(len(said.questions))
    shuffled = Votes(said.questions[order], said.workers[order], said.labels[order], 3)

    assert (dawid_skene(said).probabilities == dawid_skene(shuffled).probabilities).all()


def test_one_worker_is_believed():
    found = dawid_skene(votes([(0, 0, 1), (1, 0, 0), (2, 0, 1)], 2))

    assert found.probabilities == pytest.approx(np.array([[0, 1], [1, 0], [0, 1]]), abs=1e-9)


def test_unanimous_votes_are_certain():
    said = [(question, worker, question % 2) for question in range(4) for worker in range(3)]

    found = dawid_skene(votes(said, 2))

    assert found.probabilities == pytest.approx(np.array([[1, 0], [0, 1]] * 2), abs=1e-9)
    assert found.converged


def test_a_tie_of_workers_of_whom_nothing_else_is_known_stays_one():
    found = dawid_skene(votes([(0, 0, 0), (0, 1, 1)], 2), known=[[4, 1], [1, 4]])

    assert found.probabilities == pytest.approx(np.array([[0.5, 0.5]]))


def test_with_one_label_nothing_is_in_doubt():
    assert dawid_skene(votes([(0, 0, 0), (1, 1, 0)], 1)).probabilities.tolist() == [[1], [1]]


def test_a_label_that_nobody_gave_is_never_the_answer():
    found = dawid_skene(votes([(0, 0, 0), (0, 1, 2)], 4))

    assert found.probabilities[:, [1, 3]] == pytest.approx(np.zeros((1, 2)), abs=1e-9)


def test_no_votes_make_no_rows():
    found = dawid_skene(votes([], 2))

    assert found.probabilities.shape == (0, 2)
    assert found.error_rates.shape == (0, 2, 2)


def test_a_question_without_a_vote_is_refused():
    with pytest.raises(ValueError, match="question 1 has no vote"):
        dawid_skene(votes([(0, 0, 0), (2, 0, 1)], 2))


def test_an_estimate_that_ran_out_of_iterations_says_so():
    _, said = voters(accuracy=[0.9, 0.7, 0.5, 0.4, 0.3])

    assert not dawid_skene(said, iterations=1).converged
