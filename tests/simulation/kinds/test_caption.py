"""Simulated workers of campaigns in which images may be said to be impossible to describe."""

import random

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotate.models import Response
from simulation.kinds import hands_for, judge_of
from simulation.kinds.caption import is_poor
from simulation.workers.browser import read_form
from simulation.workers.crowd import Crew, filled
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    TaskFactory,
    WorkerAccountFactory,
)
from tests.hits.opened_pages import listed, open_page
from tests.submitted import take_submission

REASONS = {"cannot_describe": ["too dark", "too blurred"], "cannot_describe_quorum": 9}


@pytest.mark.django_db
def test_a_careless_worker_gives_a_reason_for_every_image_and_the_judge_tells():
    campaign = CampaignFactory(config={"captions": REASONS})
    for _ in range(12):
        BoxFactory(image=TaskFactory(campaign=campaign).image)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    rng = random.Random(1)

    for hand in hands_for(campaign, Crew(size=2, careless=1, errors=0, seed=1)):
        account = WorkerAccountFactory()
        for turn in range(12):
            assignment = f"A{account.pk}{turn}"
            page = open_page(Client(), hit, assignment, account.marketplace_id)
            form = BeautifulSoup(page.content, "html.parser").select_one("form[data-task]")
            task = read_form(form)
            for refused in (False, True, True):
                fields = {**task.hidden, **filled(hand.work, task, rng, refused=refused)}
                sent = Client().post(
                    f"/task/{campaign.slug}/", fields, headers={"accept": "application/json"}
                )
                if sent.status_code == 200:
                    break
            answer = listed(assignment, account.marketplace_id, **sent.json()["fields"])
            take_submission(campaign=campaign, hit=hit, listed=answer, at=NOON)

    judge = judge_of(campaign)
    said = Response.objects.exclude(cannot_describe="").select_related("task__image", "caption")
    assert said.count() >= 12
    for response in said:
        assert (judge(response) == "") == is_poor(response.task.image.url)
