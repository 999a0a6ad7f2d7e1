"""Reviewers, policy, reconciler and releases run concurrently in random order.

The only errors are refusals with a message, and the data are consistent afterwards.
"""

import random
from collections.abc import Callable
from functools import partial

import pytest
from django.db import transaction

from annotate.models import Release, Response, ResponseStatus
from corpora.errors import DomainError
from hits.services.claims import recount_places
from qualcontrol.models import Act, Appeal, Decision, Judgement, SpotCheck
from qualcontrol.review import judging
from qualcontrol.services import exclusions
from qualcontrol.services.exclusions import (
    answer_appeal,
    count_unwelcome,
    exclude_worker,
    pause_worker,
    record_appeal,
    reinstate_worker,
)
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.policies import decide
from qualcontrol.services.releasing import release_campaign
from qualcontrol.services.worker_risks import learn, recount_worker_risks
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

THREADS, ACTS = 6, 12


class People:
    """The actors of one campaign, and their possible next actions."""

    def __init__(self, seed: int, **review: object) -> None:
        self.rng = random.Random(seed)
        config = {"references": 1, "baselines": 1, "review": {"share": 0.3, "first": 1, **review}}
        self.campaign = CampaignFactory(config=config)
        self.reviewers = UserFactory.create_batch(3)
        self.workers = WorkerFactory.create_batch(4)
        self.tasks = TaskFactory.create_batch(8, campaign=self.campaign)
        for task in self.tasks:
            responses = [
                ResponseFactory(task=task, worker=worker)
                for worker in self.rng.sample(self.workers, 2)
            ]
            review_submitted(campaign=self.campaign, responses=responses, at=NOON)

    def plan(self) -> list[Callable[[], object]]:
        """The actions of one thread, in order."""
        acts = [
            self.judge,
            self.judge,
            self.judge,
            self.exclude,
            self.reinstate,
            self.pause,
            self.resume_worker,
            self.appeal,
            self.answer,
            self.submit,
            self.sync,
            self.release,
        ]
        return [
            partial(act, random.Random(self.rng.random())) for act in self.rng.choices(acts, k=ACTS)
        ]

    def about(self, rng: random.Random) -> dict:
        actor = rng.choice(self.reviewers)
        worker = rng.choice(self.workers)
        return {"campaign": self.campaign, "worker": worker, "actor": actor, "at": NOON}

    def judge(self, rng: random.Random) -> None:
        response = Response.objects.of(self.campaign).order_by("?").first()
        verdict = rng.choice(["GOOD", "BAD"])
        judging.judge(
            response=response,
            verdict=verdict,
            reason="vague",
            reviewer=rng.choice(self.reviewers),
            at=NOON,
        )

    def exclude(self, rng: random.Random) -> None:
        exclude_worker(**self.about(rng), reason="lists")

    def reinstate(self, rng: random.Random) -> None:
        reinstate_worker(**self.about(rng), reason="a mistake")

    def pause(self, rng: random.Random) -> None:
        pause_worker(**self.about(rng), reason="asks")

    def resume_worker(self, rng: random.Random) -> None:
        exclusions.resume_worker(**self.about(rng), reason="fine")

    def appeal(self, rng: random.Random) -> None:
        record_appeal(**self.about(rng), text="I wrote them myself.")

    def answer(self, rng: random.Random) -> None:
        appeal = Appeal.objects.filter(exclusion__campaign=self.campaign).last()
        if appeal is not None:
            answer_appeal(
                appeal=appeal,
                is_granted=rng.random() < 0.5,
                answer="We looked again.",
                actor=rng.choice(self.reviewers),
                at=NOON,
            )

    def submit(self, rng: random.Random) -> None:
        with transaction.atomic():
            response = ResponseFactory(task=rng.choice(self.tasks))
            review_submitted(campaign=self.campaign, responses=[response], at=NOON)

    def sync(self, rng: random.Random) -> None:
        learn(campaign=self.campaign)
        decide(campaign=self.campaign, at=NOON)

    def release(self, rng: random.Random) -> None:
        release_campaign(
            campaign=self.campaign,
            name=f"v{rng.randrange(10**6)}",
            seed=1,
            at=NOON,
            partial=rng.random() < 0.7,
        )


def run(plan: list[Callable[[], object]]) -> None:
    for act in plan:
        try:
            act()
        except DomainError:
            continue


@pytest.mark.parametrize(
    ("seed", "review"),
    [(1, {}), (2, {"discard": "since_first_bad"}), (3, {"reviewers": 2}), (4, {"trial": 3})],
)
def test_whatever_many_people_do_at_once_everything_agrees_afterwards(seed, review):
    people = People(seed, **review)

    at_once(run, [people.plan() for _ in range(THREADS)])

    campaign = people.campaign
    assert recount_places(campaign) == 0
    assert recount_worker_risks(campaign=campaign) == 0
    excluded = campaign.exclusions.in_force().values_list("worker", flat=True)
    assert len(excluded) == len(set(excluded))
    assert count_unwelcome(campaign) == 0
    bad = Response.objects.of(campaign).filter(spot_check__verdict="BAD")
    assert set(bad.values_list("status", flat=True)) <= {ResponseStatus.DISCARDED}
    for check in SpotCheck.objects.of(campaign).exclude(verdict=""):
        agreeing = check.judgements.filter(verdict=check.verdict).count()
        assert agreeing == campaign.config.review.reviewers
    reviewed = Judgement.objects.values_list("spot_check", "reviewer")
    assert len(reviewed) == len(set(reviewed))
    for release in Release.objects.filter(campaign=campaign):
        captions = [image.captions.count() for image in release.images.all()]
        assert set(captions) == {2}
        assert release.is_partial or len(captions) == len(people.tasks)
    log = Decision.objects.filter(campaign=campaign, act__in=[Act.DISCARD, Act.RESTORE])
    for response in Response.objects.of(campaign):
        acts = list(log.filter(response=response).order_by("pk").values_list("act", flat=True))
        assert acts == [Act.DISCARD, Act.RESTORE] * (len(acts) // 2) + acts[-1:] * (len(acts) % 2)
        assert (response.status == ResponseStatus.DISCARDED) == (acts[-1:] == [Act.DISCARD])
