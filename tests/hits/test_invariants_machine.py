"""Random sequences of task pages, submissions, reviews, exclusions and releases keep the
invariants, which are checked by SQL that does not use the product's code."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from annotate.models import Campaign, Caption, Release, ReleasedCaption, Response, Task, Worker
from benchmarks.invariants import SITE, broken
from corpora.errors import DomainError
from hits.models import WorkerAccount
from hits.services.hit_pages import FrameParameters
from hits.services.task_pages import open_page, store_answers
from qualcontrol.models import Appeal, SecondOpinion, Verdict
from qualcontrol.review.judging import ask_second_opinion, judge, reject_response
from qualcontrol.review.undoing import change_verdict, take_back
from qualcontrol.services.exclusions import (
    answer_appeal,
    exclude_worker,
    record_appeal,
    reinstate_worker,
)
from qualcontrol.services.releasing import release_campaign
from qualcontrol.services.withdrawals import withdraw_responses
from tests.databases import rows
from tests.factories import (
    NOON,
    CampaignFactory,
    ExclusionFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SpotCheckFactory,
    UserFactory,
    make_campaign,
)
from tests.hits.opened_pages import SENTENCE, listed
from tests.submitted import take_submission

pytestmark = pytest.mark.django_db

ORIGIN = "http://127.0.0.1:8001"
WORKERS, TASKS, REVIEWERS = 4, 3, 3
DARK = "The image is too dark."
picks = st.integers(0, 1000)
reviewers = st.integers(0, REVIEWERS - 1)


class Collection(RuleBasedStateMachine):
    """Workers, forgers and two reviewers act on one campaign in any order."""

    @initialize(trial=st.sampled_from([0, 2]), images=st.integers(1, 2))
    def begin(self, trial, images):
        self.undo = transaction.atomic()
        self.undo.__enter__()
        self.campaign = make_campaign(
            tasks=TASKS,
            hit={"images": images},
            review={"share": 0.5, "first": 1, "trial": trial, "approve_after_hours": 0},
            captions={"cannot_describe": [DARK], "cannot_describe_quorum": 2},
        )
        self.hit = HitFactory(hit_type=HitTypeFactory(campaign=self.campaign))
        self.reviewers = UserFactory.create_batch(REVIEWERS)
        self.opened: list[Any] = []
        self.at = NOON

    def teardown(self):
        if hasattr(self, "undo"):
            transaction.set_rollback(True)
            self.undo.__exit__(None, None, None)

    def now(self):
        self.at += timedelta(seconds=30)
        return self.at

    def response(self, pick):
        found = list(Response.objects.order_by("pk"))
        return found[pick % len(found)] if found else None

    def worker(self, pick):
        found = list(Worker.objects.order_by("pk"))
        return found[pick % len(found)] if found else None

    @rule(worker=st.integers(1, WORKERS))
    def open(self, worker):
        """A worker accepts an assignment, or somebody makes one up, and opens its page."""
        frame = FrameParameters(f"A{len(self.opened)}", self.hit.hit_id, f"AWORKER{worker}", ORIGIN)
        with suppress(DomainError):
            self.opened.append(open_page(campaign=self.campaign, frame=frame, at=self.now()))

    @rule(pick=picks, is_dark=st.booleans())
    def answer(self, pick, is_dark):
        """A page sends its answer to the site, perhaps again."""
        if self.opened:
            form = self.opened[pick % len(self.opened)].form
            with suppress(DomainError):
                store_answers(
                    campaign=self.campaign,
                    form=form,
                    fields=self.fields(form.numbers, is_dark),
                    counts={},
                    device="",
                    at=self.now(),
                )

    @rule(
        pick=picks,
        by=st.integers(1, WORKERS),
        is_own=st.booleans(),
        is_dark=st.booleans(),
        is_empty=st.booleans(),
    )
    def submit(self, pick, by, is_own, is_dark, is_empty):
        """The marketplace reports an assignment: of the page's worker, or of another one who got it
        after it was returned; perhaps with an answer that fits no task."""
        if not self.opened or self.hit.assignments.count() == self.hit.slots:
            return
        form = self.opened[pick % len(self.opened)].form
        worker = form.frame.worker_id if is_own else f"AWORKER{by}"
        fields = {} if is_empty else self.fields(form.numbers, is_dark)
        take_submission(
            campaign=self.campaign,
            hit=self.hit,
            listed=listed(form.frame.assignment_id, worker, **fields),
            at=self.now(),
        )

    def fields(self, numbers, is_dark):
        if is_dark:
            return {f"cannot_describe-{number}": DARK for number in numbers}
        return {f"caption-{number}": f"{SENTENCE[:-1]} near gate {number}." for number in numbers}

    @rule(pick=picks, by=reviewers)
    def ask_another_reviewer(self, pick, by):
        if (response := self.response(pick)) is not None:
            with suppress(DomainError):
                ask_second_opinion(
                    campaign=self.campaign,
                    key=response.key,
                    question="",
                    reviewer=self.reviewers[by],
                    at=self.now(),
                )

    @rule(pick=picks, verdict=st.sampled_from(Verdict), by=reviewers)
    def judge(self, pick, verdict, by):
        if (response := self.response(pick)) is not None:
            reason = "It is not of this image." if verdict == Verdict.BAD else ""
            with suppress(DomainError):
                judge(
                    response=response,
                    verdict=verdict,
                    reason=reason,
                    reviewer=self.reviewers[by],
                    at=self.now(),
                )

    @rule(pick=picks)
    def take_a_verdict_back(self, pick):
        if (response := self.response(pick)) is not None:
            with suppress(DomainError):
                take_back(
                    campaign=self.campaign,
                    key=response.key,
                    reviewer=self.reviewers[0],
                    at=self.now(),
                )

    @rule(pick=picks, verdict=st.sampled_from(Verdict), by=reviewers)
    def change_a_verdict(self, pick, verdict, by):
        if (response := self.response(pick)) is not None:
            with suppress(DomainError):
                change_verdict(
                    response=response,
                    verdict=verdict,
                    reason="I looked again.",
                    actor=self.reviewers[by],
                    at=self.now(),
                )

    @rule(pick=picks)
    def reject(self, pick):
        if (response := self.response(pick)) is not None:
            with suppress(DomainError):
                reject_response(
                    response=response, reason="No words.", actor=self.reviewers[0], at=self.now()
                )

    @rule(pick=picks)
    def withdraw(self, pick):
        if (response := self.response(pick)) is not None:
            withdraw_responses(
                worker=response.worker, responses=[response.pk], actor=None, at=self.now()
            )

    @rule(pick=picks)
    def exclude(self, pick):
        if (worker := self.worker(pick)) is not None:
            with suppress(DomainError):
                exclude_worker(
                    campaign=self.campaign,
                    worker=worker,
                    reason="Lists of words.",
                    actor=self.reviewers[0],
                    at=self.now(),
                )

    @rule(pick=picks)
    def reinstate(self, pick):
        if (worker := self.worker(pick)) is not None:
            with suppress(DomainError):
                reinstate_worker(
                    campaign=self.campaign,
                    worker=worker,
                    actor=self.reviewers[1],
                    reason="A mistake.",
                    at=self.now(),
                )

    @rule(pick=picks, is_granted=st.booleans())
    def appeal(self, pick, is_granted):
        if (worker := self.worker(pick)) is not None:
            with suppress(DomainError):
                answer_appeal(
                    appeal=record_appeal(
                        campaign=self.campaign,
                        worker=worker,
                        text="Why?",
                        actor=None,
                        at=self.now(),
                    ),
                    is_granted=is_granted,
                    answer="We looked again.",
                    actor=self.reviewers[1],
                    at=self.now(),
                )

    @rule(partial=st.booleans(), seed=picks)
    def release(self, partial, seed):
        """A release holds when it is made; later decisions do not change it."""
        # A release needs the outermost transaction, which here is the test's.
        made = transaction.atomic()
        made._from_testcase = True
        with made:
            with suppress(DomainError):
                release_campaign(
                    campaign=self.campaign, name="r", seed=seed, at=self.now(), partial=partial
                )
            assert broken(rows) == []
            transaction.set_rollback(True)
        assert not Release.objects.exists()

    @invariant()
    def all_invariants_hold(self):
        assert broken(rows) == []

    @invariant()
    def nobody_is_known_who_did_not_submit(self):
        assert not WorkerAccount.objects.filter(assignments=None).exists()


def test_invariants_hold_whatever_workers_reviewers_and_forgers_do():
    quick = hypothesis_settings(max_examples=15, stateful_step_count=25, deadline=None)

    run_state_machine_as_test(Collection, settings=quick)


@pytest.fixture
def release():
    """A release of one image with two captions."""
    campaign = CampaignFactory(tasks=2, config={"references": 1})
    ResponseFactory.create_batch(2, task=campaign.tasks.first())
    return release_campaign(campaign=campaign, name="r", seed=1, at=NOON, partial=True)


def move_to_one_worker():
    first, last = Response.objects.order_by("pk")
    other = Task.objects.exclude(pk=first.task_id).get()
    Response.objects.filter(pk=last.pk).update(task=other, worker=first.worker)


def build_on_a_discarded_version():
    first, last = Response.objects.order_by("pk")
    Response.objects.filter(pk=first.pk).update(round=1, status="DISCARDED")
    Response.objects.filter(pk=last.pk).update(round=2, builds_on=first)


def keep_an_exclusion_after_its_appeal():
    Appeal.objects.create(
        exclusion=ExclusionFactory(),
        text="Why?",
        received_at=NOON,
        answer="A mistake.",
        is_granted=True,
        answered_at=NOON,
    )


def judge_alone_what_two_should_judge():
    check = SpotCheckFactory(
        response=Response.objects.first(), verdict=Verdict.GOOD, judged_at=NOON
    )
    SecondOpinion.objects.create(
        campaign=check.campaign,
        key=check.response.key,
        response=check.response,
        asked_by=UserFactory(),
        asked_at=NOON,
    )


def judge_bad_what_counts():
    SpotCheckFactory(
        response=Response.objects.first(), verdict=Verdict.BAD, reason="vague", judged_at=NOON
    )


@pytest.mark.parametrize(
    ("sentence", "break_it"),
    [
        ("has its references", lambda: ReleasedCaption.objects.filter(role="REFERENCE").delete()),
        ("has its references", lambda: ReleasedCaption.objects.update(role="REFERENCE")),
        ("has the text", lambda: Caption.objects.update(text="Another one.")),
        ("by different workers", move_to_one_worker),
        ("When it was released", lambda: Response.objects.update(status="DISCARDED")),
        ("are its rounds", build_on_a_discarded_version),
        ("has all rounds", lambda: Campaign.objects.update(kind="refine")),
        ("an appeal that was granted", keep_an_exclusion_after_its_appeal),
        ("two reviewers agree", judge_alone_what_two_should_judge),
        ("judged bad", judge_bad_what_counts),
    ],
)
def test_each_broken_invariant_is_found(release, sentence, break_it):
    def found():
        return [line for line in broken(rows) if sentence in line]

    assert found() == []

    break_it()

    assert len(found()) == 1


def test_a_discard_after_a_release_breaks_no_invariant(release):
    before = broken(rows)
    response = Response.objects.first()

    withdraw_responses(worker=response.worker, responses=[response.pk], actor=None, at=NOON)

    assert Response.objects.get(pk=response.pk).status == "DISCARDED"
    assert broken(rows) == before


def test_every_statement_runs_and_finds_nothing_in_an_empty_database():
    assert len(SITE) > 15
    assert broken(rows) == []
