"""Which two captions of an image workers compare.

A task is one image. Its pairs are drawn at random when the campaign is created. With
`pairs = "adaptive"` they are chosen anew from the votes so far when a page is about to show the
task for the first time, and then stored in the task: all workers of a task compare the same pairs,
and a form and its answer always agree with the task.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from annotate.campaign_file import Section
from annotate.kinds.rating.answers import Judging, Name, Question
from annotate.models import Campaign, Response, Task
from corpora.evaluation.comparisons import Floats, Vote, best_pair, wins_of
from corpora.language.text import gettext_noop

WHICH_IS_BETTER = gettext_noop("Which text describes the image better?")
# ImageInWords (Garg et al. 2024): five steps, of which the middle one is neutral.
STEPS = (
    gettext_noop("A is much better"),
    gettext_noop("A is slightly better"),
    gettext_noop("no difference"),
    gettext_noop("B is slightly better"),
    gettext_noop("B is much better"),
)
# The task's key with the number of votes that were known when its pairs were chosen.
KNOWN = "votes_known"

# How many of the latest responses are read to choose the pairs of an image. They leave little doubt
# about the order of sources, which are at most 12, and each image takes the same time.
LATEST = 2_000

Pair = Mapping[str, Any]


class Criterion(Section):
    name: Name = Field(description="as results name it")
    question: str = Field(min_length=1, max_length=200, description="what workers are asked")

    @property
    def as_question(self) -> Question:
        return Question(name=self.name, text=self.question, labels=STEPS)


class Preference(Judging):
    """Whose captions are compared, on which criteria, and how pairs are chosen."""

    criteria: tuple[Criterion, ...] = Field(
        default=(Criterion(name="better", question=WHICH_IS_BETTER),),
        min_length=1,
        max_length=8,
        description="what workers decide about each pair",
    )
    pairs: Literal["adaptive", "random"] = Field(
        default="adaptive", description="chosen from the votes so far, or at random"
    )
    pairs_per_image: int = Field(default=1, ge=1, le=6, description="pairs on a page, at most")
    key: ClassVar[str] = "preference"

    @model_validator(mode="after")
    def _compares_two(self) -> Self:
        if len(self.sources) == 1:
            raise ValueError("name at least two sources")
        names = [criterion.name for criterion in self.criteria]
        if len(set(names)) < len(names):
            raise ValueError("two criteria have the same name")
        return self


def candidates(captions: Sequence[Mapping[str, Any]], seed: str) -> list[dict[str, Any]]:
    """All pairs of different captions without a common source, in random order.

    A pair has the places of its `captions` in the task, and their `sources`. The captions of a task
    are in random order, so each of two sources is text A as often as the other.
    """
    chosen = [
        {"captions": [a, b], "sources": [sorted(captions[n]["sources"]) for n in (a, b)]}
        for a, b in combinations(range(len(captions)), 2)
        if not captions[a]["sources"].keys() & captions[b]["sources"].keys()
    ]
    random.Random(seed).shuffle(chosen)
    return chosen


def votes_of(
    pairs: Sequence[Pair], answer: Mapping[str, Any], criterion: str, *, image: int, rater: int
) -> Iterator[Vote]:
    """The answer's votes on a criterion: one for each two sources whose captions were compared."""
    for number, pair in enumerate(pairs, start=1):
        step = answer.get(str(number), {}).get(criterion)
        if step is not None:
            for one, other in product(*pair["sources"]):
                yield Vote(image, rater, one, other, step)


class Standing:
    """What a campaign's votes say so far; chooses the next pairs."""

    def __init__(self, campaign: Campaign, rules: Preference) -> None:
        self.sources = [source.name for source in rules.sources]
        counting = Response.objects.of(campaign).counting()
        self.known = counting.count()
        latest = counting.order_by("-submitted_at", "-pk")[:LATEST]
        rows = list(latest.values_list("task__payload__pairs", "answer__content"))
        self.wins = np.stack([self._wins(rows, criterion.name) for criterion in rules.criteria])
        self.pending = np.zeros(self.wins.shape[1:])
        chosen = campaign.tasks.unfinished().filter(payload__has_key=KNOWN)
        for pairs, missing in chosen.values_list("payload__pairs", "answers_missing"):
            for pair in pairs:
                self._await(pair, missing)

    def choose(self, task: Task, count: int, seed: str) -> list[Pair]:
        """The pairs of the task's image that are compared next."""
        assert task.payload is not None, "see tasks"
        left: list[Pair] = [*candidates(task.payload["captions"], seed)]
        chosen: list[Pair] = []
        while left and len(chosen) < count:
            compared = [list(self._places(pair)) for pair in left]
            best = best_pair(left, compared, self.wins, self.pending)
            left.remove(best)
            chosen.append(best)
            self._await(best, task.wanted)
        return chosen

    def _wins(self, rows: Iterable[tuple[Sequence[Pair], Mapping[str, Any]]], name: str) -> Floats:
        votes = [
            vote
            for pairs, answer in rows
            for vote in votes_of(pairs, answer, name, image=0, rater=0)
        ]
        return wins_of(votes, self.sources)

    def _places(self, pair: Pair) -> Iterator[tuple[int, int]]:
        for one, other in product(*pair["sources"]):
            yield self.sources.index(one), self.sources.index(other)

    def _await(self, pair: Pair, votes: int) -> None:
        for one, other in self._places(pair):
            self.pending[[one, other], [other, one]] += votes
