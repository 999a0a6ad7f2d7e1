"""The queue of checks: what a reviewer is shown next.

Most checks go where they are worth most. Every few, one is taken from the floor, which was drawn
when the response came in: a random one or, in their turn, one of a worker's first. Where the
campaign has a trial, workers' first responses come before both, as their workers wait or soon will.
What waits for another reviewer, where two judge, goes first, and then what a payment waits for.
Now and then a gold item is put between.
"""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate.models import Campaign, ResponseStatus
from qualcontrol.models import (
    Assessment,
    Gold,
    HeldCause,
    HeldPayment,
    Hold,
    Judgement,
    SpotCheck,
    Standing,
    waiting_for_verdicts,
)
from qualcontrol.review.items import FIRST, HELD, RANDOM, SECOND, WORTH, Item, items_of
from qualcontrol.risk.hypotheses import BLOCK_STARTS
from qualcontrol.risk.random_sample import FLOOR_EVERY, is_floor_turn, random_order
from qualcontrol.risk.ranking import Pick, Queue
from qualcontrol.services.standings import crowd_of

# A response is kept for a reviewer so long; one that was skipped or forgotten goes to others then.
HOLD = timedelta(minutes=15)
# Of the floor's checks every so many is one of a worker's first, the others are random ones.
FIRSTS_EVERY = 3
# Workers who are weighed for the next checks, beside two for each check: the worth of a worker's
# second check is known only when the first was taken.
SPARE = 10


def next_checks(
    *,
    campaign: Campaign,
    reviewer: User | None,
    count: int,
    at: datetime,
    without: Collection[int] = (),
) -> list[Item]:
    """The next things to judge, at most `count`, save the responses `without`.

    They are held for the reviewer, who gets them again until they are judged, and nobody else
    does. Without a reviewer nothing is written, and the same question has the same answer. Gold
    items, where the campaign has some, are further items between the others.
    """
    desk = _Desk(campaign, reviewer, count, at, set(without))
    chosen: dict[int, str] = {}
    for response, cause in desk.stream():
        if len(chosen) == count:
            break
        if reviewer is None or _hold(campaign, response, reviewer, at):
            chosen[response] = cause
    return items_of(campaign, chosen, reviewer)


class _Desk:
    """What may be shown to one reviewer at one moment, in order."""

    def __init__(
        self,
        campaign: Campaign,
        reviewer: User | None,
        count: int,
        at: datetime,
        without: set[int],
    ) -> None:
        self.campaign, self.reviewer, self.count, self.at = campaign, reviewer, count, at
        self.taken = without
        self.held = Hold.objects.of(campaign).in_force(at)

    def stream(self) -> Iterator[tuple[int, str]]:
        """Responses with the cause to show them: what the reviewer has before them already, then
        what waits for another reviewer, then what keeps payments or workers waiting, then the
        queue."""
        yield from self._new(self._mine())
        yield from self._new(self._half_judged())
        yield from self._new(self._of_held_payments())
        if self.campaign.config.review.trial:
            yield from self._new(self._firsts_of_waiting())
            yield from self._new(self._floor(FIRST, is_first=True))
        judged = SpotCheck.objects.of(self.campaign).exclude(verdict="").count()
        turn = judged + self.held.count()
        sources = {
            RANDOM: self._new(self._floor(RANDOM, is_random=True)),
            FIRST: self._new(self._floor(FIRST, is_first=True)),
            WORTH: self._new(self._worth()),
        }
        while found := _first_of(sources[cause] for cause in _causes(turn)):
            yield found
            turn += 1

    def _new(self, found: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        for response, cause in found:
            if response not in self.taken:
                self.taken.add(response)
                yield response, cause

    def _mine(self) -> Iterator[tuple[int, str]]:
        if self.reviewer is None:
            return
        mine = self.held.filter(reviewer=self.reviewer, response__status=ResponseStatus.SUBMITTED)
        checks = mine.order_by("pk").values_list(
            "response_id", "response__spot_check__is_random", "response__spot_check__is_first"
        )
        for response, is_random, is_first in checks:
            yield response, RANDOM if is_random else FIRST if is_first else WORTH

    def _half_judged(self) -> Iterator[tuple[int, str]]:
        if self.campaign.config.review.reviewers > 1:
            checks = self._free(SpotCheck.objects.of(self.campaign).half_judged()).order_by("pk")
            for response in checks.values_list("response_id", flat=True).iterator():
                yield response, SECOND

    def _of_held_payments(self) -> Iterator[tuple[int, str]]:
        """What payments wait for, the longest waiting first."""
        held = HeldPayment.objects.of(self.campaign).open().filter(cause=HeldCause.RULES)
        yield from self._floor(HELD, response__assignment__in=held.values("assignment"))

    def _firsts_of_waiting(self) -> Iterator[tuple[int, str]]:
        """What keeps workers from going on, from who came first."""
        waiting = waiting_for_verdicts(self.campaign)
        yield from self._floor(FIRST, is_first=True, response__worker__in=waiting)

    def _floor(self, cause: str, **which: Any) -> Iterator[tuple[int, str]]:
        checks = self._free(SpotCheck.objects.of(self.campaign).open().filter(**which))
        order = ["draw"] if cause == RANDOM else ["pk"]
        for response in checks.order_by(*order).values_list("response_id", flat=True).iterator():
            yield response, cause

    def _worth(self) -> Iterator[tuple[int, str]]:
        excluded = self.campaign.exclusions.in_force().values("worker")
        standings = Standing.objects.of(self.campaign).filter(worth__gte=0)
        best = standings.exclude(worker__in=excluded).worth_most_first()[: 2 * self.count + SPARE]
        crowd = crowd_of(self.campaign, best)
        queue = Queue(crowd) if crowd else None
        while queue is not None and (pick := queue.take()):
            response = self._response_of(pick)
            if response is not None:
                yield response, WORTH

    def _response_of(self, pick: Pick) -> int | None:
        """A response that the pick describes: of all that fit, the first in the random order."""
        start = BLOCK_STARTS[pick.block]
        end = [*BLOCK_STARTS, 2**31][pick.block + 1]
        alike = Assessment.objects.filter(
            campaign=self.campaign,
            worker=pick.worker,
            codes=" ".join(pick.codes),
            position__gt=start,
            position__lte=end,
            response__status=ResponseStatus.SUBMITTED,
        )
        seed = self.campaign.config.seed
        free = self._free(alike).values_list("response_id", flat=True)
        left = [response for response in free if response not in self.taken]
        return min(left, key=lambda pk: random_order(seed, pk), default=None)

    def _free(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Of rows with a response, those that nobody else has before them, that no verdict stands
        for, that this reviewer has not judged, and that are no gold."""
        response = OuterRef("response_id")
        of_others = self.held.exclude(reviewer=self.reviewer) if self.reviewer else self.held
        judged = SpotCheck.objects.filter(response=response).exclude(verdict="")
        by_them = Judgement.objects.filter(spot_check__response=response, reviewer=self.reviewer)
        return rows.exclude(
            Exists(of_others.filter(response=response))
            | Exists(judged)
            | Exists(by_them)
            | Exists(Gold.objects.filter(response=response))
        )


def _causes(turn: int) -> list[str]:
    """Where to look for the check after so many others, and where if there is none."""
    if not is_floor_turn(turn):
        return [WORTH, RANDOM, FIRST]
    is_for_firsts = turn // FLOOR_EVERY % FIRSTS_EVERY == FIRSTS_EVERY - 1
    return [FIRST, RANDOM, WORTH] if is_for_firsts else [RANDOM, FIRST, WORTH]


def _first_of(sources: Iterator[Iterator[tuple[int, str]]]) -> tuple[int, str] | None:
    for source in sources:
        if found := next(source, None):
            return found
    return None


@transaction.atomic
def _hold(campaign: Campaign, response: int, reviewer: User, at: datetime) -> bool:
    """Keep a response for a reviewer; False if another has it."""
    holds = Hold.objects.filter(response=response)
    if holds.filter(Q(until__lte=at) | Q(reviewer=reviewer)).update(
        reviewer=reviewer, until=at + HOLD
    ):
        return True
    hold = Hold(campaign=campaign, response_id=response, reviewer=reviewer, until=at + HOLD)
    Hold.objects.bulk_create([hold], ignore_conflicts=True)
    return holds.filter(reviewer=reviewer).exists()
