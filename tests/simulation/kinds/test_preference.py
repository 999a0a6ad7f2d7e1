"""Simulated comparisons: workers prefer by a known order with a known bias, and the judge knows."""

import random
from statistics import fmean

import pytest
from bs4 import BeautifulSoup

from corpora.evaluation.comparisons import Vote, ranking
from simulation.kinds import SIMULATED
from simulation.kinds.preference import Comparer
from simulation.workers.browser import Item, read_form
from simulation.workers.crowd import HONEST, Crew, filled
from tests.factories import HitFactory, HitTypeFactory
from tests.hits.opened_pages import open_page
from tests.hits.preferences import MODELS, PREFERENCES, compare, make_campaign, respond


@pytest.mark.django_db
@pytest.mark.parametrize("marks", [False, True])
def test_honest_workers_prefer_the_better_source_and_careless_ones_the_left_text(client, marks):
    campaign = make_campaign(images=1, pairs="random", marks=marks)
    task = campaign.tasks.get()
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    page = BeautifulSoup(open_page(client, hit, "A1", "AWORKER1").content, "html.parser")
    form = read_form(page.select_one("form[data-task]"))
    crew = Crew(size=2, careless=1, errors=0.0, seed=1)
    hands = SIMULATED["preference"].hands(campaign, crew, random.Random(1), {1})

    chosen = {
        hand.kind: [
            int(filled(hand.work, form, random.Random(n), refused=False)[f"better-1-{task.number}"])
            for n in range(200)
        ]
        for hand in hands
    }

    [pair] = task.payload["pairs"]
    one, other = (MODELS.index(names[0]) for names in pair["sources"])
    assert fmean((step < 3) == (one < other) for step in chosen[HONEST] if step != 3) > 0.6
    assert set(chosen[HONEST]) == {1, 2, 3, 4, 5}
    assert set(chosen["always A"]) == {1}


def test_their_votes_rank_the_sources_as_they_were_given_and_favour_the_left():
    rng = random.Random(1)
    worker = Comparer({("1", name): float(-place) for place, name in enumerate(MODELS)}, False)
    votes = []
    for number in range(600):
        one, other = rng.sample(MODELS, 2)
        pair = f"<blockquote>{one}</blockquote><blockquote> {other}\n</blockquote>"
        html = f"<div class=pair>{pair}</div><input type=radio name=better-1-1>"
        item = Item(BeautifulSoup(html, "lxml"), "")
        [step] = worker.fill(item, rng, refused=False).values()
        votes.append(Vote(number, number % 10, one, other, int(step)))

    found = ranking(votes, MODELS, seed=1)

    assert [each.source for each in found.ranked] == MODELS
    for place, each in enumerate(found.ranked):
        assert each.low <= 1 - place <= each.high
    assert fmean(vote.won for vote in votes) > 0.52


@pytest.mark.django_db
def test_the_judge_finds_a_clearly_wrong_choice():
    campaign = make_campaign(images=1)
    judge = SIMULATED["preference"].judge(campaign)
    task = campaign.tasks.get()
    compare(task, 0)

    found = [judge(respond(task, step)) for step in (1, 2, 3, 4, 5)]

    assert found == ["", "", "", "", PREFERENCES.faults["not-looked-at"]]
