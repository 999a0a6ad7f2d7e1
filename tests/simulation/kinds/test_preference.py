"""Simulated comparisons: workers prefer the text that fits the image, and the judge agrees."""

import random

import pytest
from bs4 import BeautifulSoup

from simulation.kinds import SIMULATED
from simulation.workers.crowd import HONEST, Crew
from simulation.workers.pages import read_form
from tests.factories import BoxFactory, ClassFactory, HitFactory, HitTypeFactory
from tests.hits.opened_pages import open_page
from tests.hits.test_preferences import PREFERENCES, make_campaign, respond


@pytest.mark.django_db
def test_honest_workers_prefer_the_text_that_fits_and_careless_ones_the_left_one(client):
    campaign = make_campaign(images=1)
    task = campaign.tasks.get()
    BoxFactory(image=task.image, object_class=ClassFactory(name="Dog"))
    for caption in task.payload["captions"]:
        [source] = caption["sources"]
        caption["text"] = "A dog." if source == "good" else "Two people."
    task.payload |= {"votes_known": 0, "pairs": [{"captions": [1, 0], "sources": [["x"], ["y"]]}]}
    task.payload["captions"][0]["text"], task.payload["captions"][1]["text"] = "A dog.", "A tree."
    task.save()
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    page = BeautifulSoup(open_page(client, hit, "A1", "AWORKER1").content, "html.parser")
    form = read_form(page.select_one("form[data-task]"))
    hands = SIMULATED["preference"].hands(campaign, Crew(2, 1, 0.0, 1), random.Random(1), {1})

    chosen = {
        hand.kind: [
            int(hand.work.fill(form, random.Random(n), refused=False)[f"better-1-{task.number}"])
            for n in range(20)
        ]
        for hand in hands
    }

    assert sum(chosen[HONEST]) / 20 > 3.5
    assert set(chosen["always A"]) == {1}


@pytest.mark.django_db
def test_the_judge_finds_a_clearly_wrong_choice():
    campaign = make_campaign(images=1)
    task = campaign.tasks.get()
    for name in ("Dog", "Cat"):
        BoxFactory(image=task.image, object_class=ClassFactory(name=name))
    task.payload["captions"][0]["text"] = "A dog and a cat."
    task.payload["pairs"] = [{"captions": [0, 1], "sources": [["good"], ["poor"]]}]
    task.save()
    judge = SIMULATED["preference"].judge(campaign)

    right, wrong = respond(task, 1), respond(task, 5)

    assert (judge(right), judge(wrong)) == ("", PREFERENCES.faults["not-looked-at"])
