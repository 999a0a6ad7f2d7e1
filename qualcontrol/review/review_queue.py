"""The queue of checks: which responses a reviewer is shown next, in this order:

1. what the reviewer was shown before and has not judged yet;
2. responses on which another reviewer asks for a second opinion;
3. responses that wait for a second reviewer's judgement;
4. responses whose payment is held until a verdict;
5. in a campaign with a trial, workers' first responses, as their workers wait or soon will;
6. the checks with the highest expected value; every REQUIRED_EVERY checks a required check.

Gold items are inserted between them. A reviewer can do the required checks alone: then step 6 has
these only, and step 1 no others.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import count
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate.models import Campaign, ResponseStatus
from qualcontrol.models import (
    Assessment,
    Gold,
    HeldCause,
    HeldPayment,
    Judgement,
    Reservation,
    SecondOpinion,
    SpotCheck,
    WorkerRisk,
    waiting_for_verdicts,
)
from qualcontrol.models.checks import RESERVED_FOR, is_over
from qualcontrol.review.items import (
    ASKED,
    FIRST,
    HELD,
    MOST_USEFUL,
    RANDOM,
    SECOND,
    Item,
    items_of,
)
from qualcontrol.risk.estimate import REQUIRED_EVERY, is_required_turn, random_order
from qualcontrol.risk.hypotheses import BLOCK_STARTS
from qualcontrol.risk.ranking import CheckRanking, Pick
from qualcontrol.services.worker_risks import crowd_of

# One of this many required checks is a worker's first response; the others are random checks.
FIRSTS_EVERY = 3
# The workers who are ranked: two for each check and these. The stored expected values are those of
# each worker's first check; the order after it is only known once it is taken.
SPARE = 10
# Responses that are read at once. Most pages need fewer.
READ_AT_ONCE = 100


def next_checks(
    *,
    campaign: Campaign,
    reviewer: User | None,
    count: int,
    at: datetime,
    without: Collection[int] = (),
    skipped: Collection[UUID] = (),
    only_required: bool = False,
) -> list[Item]:
    """The next items to judge, at most `count`, without the responses `without` and the gold items
    with the keys `skipped`.

    They are reserved for the reviewer, who gets them again until they are judged or the reservation
    expires. Without a reviewer the call writes nothing, and returns the same items if repeated.
    Gold items are inserted in addition to `count`.
    """
    candidates = _Candidates(campaign, reviewer, count, at, set(without), only_required)
    chosen: dict[int, str] = {}
    rows = candidates.in_order()
    while len(chosen) < count and (row := next(rows, None)):
        response, cause = row
        if reviewer is None or _reserve(campaign, response, reviewer, at):
            chosen[response] = cause
    return items_of(campaign, chosen, reviewer, skipped)


class _Candidates:
    """The responses that one reviewer can be shown now, each with the cause to show it."""

    def __init__(
        self,
        campaign: Campaign,
        reviewer: User | None,
        count: int,
        at: datetime,
        without: set[int],
        only_required: bool,
    ) -> None:
        self.campaign, self.reviewer, self.count, self.at = campaign, reviewer, count, at
        self.taken, self.only_required = without, only_required

    def in_order(self) -> Iterator[tuple[int, str]]:
        checks = SpotCheck.objects.of(self.campaign)
        yield from self._new(self._mine())
        yield from self._new(self._free(_asked(self.campaign), ASKED))
        if self.campaign.config.review.reviewers > 1:
            yield from self._new(self._free(checks.half_judged().order_by("pk"), SECOND))
        yield from self._new(self._free(_of_held_payments(self.campaign), HELD))
        if self.campaign.config.review.trial:
            yield from self._new(self._firsts_of_waiting())
            yield from self._new(self._free(_firsts(self.campaign), FIRST))
        if self.only_required:
            yield from self._new(self._free(_drawn(self.campaign), RANDOM))
            yield from self._new(self._free(_firsts(self.campaign), FIRST))
            yield from self._new(self._free(checks.open().order_by("pk"), MOST_USEFUL))
            return
        turn = checks.exclude(verdict="").count()
        turn += Reservation.objects.of(self.campaign).in_force(self.at).count()
        sources = {
            RANDOM: self._new(self._free(_drawn(self.campaign), RANDOM)),
            FIRST: self._new(self._free(_firsts(self.campaign), FIRST)),
            MOST_USEFUL: self._new(self._most_useful()),
        }
        while first := _first_of(sources[cause] for cause in _causes(turn)):
            yield first
            turn += 1

    def _new(self, rows: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        for response, cause in rows:
            if response not in self.taken:
                self.taken.add(response)
                yield response, cause

    def _mine(self) -> Iterator[tuple[int, str]]:
        """The responses that the reviewer was shown and has not judged."""
        if self.reviewer is None:
            return
        mine = (
            Reservation.objects.of(self.campaign)
            .in_force(self.at)
            .filter(
                # A reservation may have been made while somebody judged the response.
                reviewer=self.reviewer,
                response__status=ResponseStatus.SUBMITTED,
            )
        )
        columns = (
            "response_id",
            "response__spot_check__is_random",
            "response__spot_check__is_first",
        )
        if self.only_required:
            mine = mine.filter(response__spot_check__isnull=False)
        unjudged = _unjudged(mine, self.reviewer).order_by("pk").values_list(*columns)
        for response, is_random, is_first in unjudged:
            yield response, RANDOM if is_random else FIRST if is_first else MOST_USEFUL

    def _free(self, source: QuerySet[Any], cause: str) -> Iterator[tuple[int, str]]:
        """The source's responses that the reviewer can judge, in its order."""
        free = self._free_rows(source)
        for start in count(step=READ_AT_ONCE):
            rows = free[start : start + READ_AT_ONCE]
            yield from ((response, cause) for response in rows)
            if len(rows) < READ_AT_ONCE:
                return

    def _firsts_of_waiting(self) -> Iterator[tuple[int, str]]:
        """First responses of workers who wait for verdicts, the earliest first."""
        waiting = waiting_for_verdicts(self.campaign)
        firsts = _firsts(self.campaign).filter(response__worker__in=waiting)
        for response in self._free_rows(firsts).iterator():
            yield response, FIRST

    def _most_useful(self) -> Iterator[tuple[int, str]]:
        """The responses of the workers whose next check has the highest expected value, of those
        with a response that the reviewer can judge."""
        excluded = self.campaign.exclusions.in_force().values("worker")
        theirs = self._submitted.filter(worker=OuterRef("worker")).exclude(response__in=self.taken)
        risks = WorkerRisk.objects.of(self.campaign).filter(
            Exists(self._free_rows(theirs)), expected_value__gte=0
        )
        best = risks.exclude(worker__in=excluded).most_valuable_first()[: 2 * self.count + SPARE]
        crowd = crowd_of(self.campaign, best.values_list("worker_id", "tally"))
        ranking = CheckRanking(crowd) if crowd else None
        while ranking is not None and (pick := ranking.take()):
            response = self._response_of(pick)
            if response is not None:
                yield response, MOST_USEFUL

    @property
    def _submitted(self) -> QuerySet[Assessment]:
        """The assessments of the campaign's responses that count."""
        return Assessment.objects.filter(
            campaign=self.campaign, response__status=ResponseStatus.SUBMITTED
        )

    def _response_of(self, pick: Pick) -> int | None:
        """The first response in the random order that fits the pick, or None."""
        alike = self._submitted.filter(
            worker=pick.worker,
            codes=" ".join(pick.codes),
            position__gt=BLOCK_STARTS[pick.block],
            position__lte=[*BLOCK_STARTS, 2**31][pick.block + 1],
        )
        seed = self.campaign.config.seed
        left = [response for response in self._free_rows(alike) if response not in self.taken]
        return min(left, key=lambda pk: random_order(seed, pk), default=None)

    def _free_rows(self, rows: QuerySet[Any]) -> QuerySet[Any, int]:
        """The responses of the rows that the reviewer can judge: without a verdict, not judged by
        this reviewer, not reserved for another one, and not gold items. If this reviewer has asked
        for a second opinion on one, another reviewer has judged it."""
        response = OuterRef("response_id")
        of_others = Reservation.objects.of(self.campaign).in_force(self.at)
        if self.reviewer is not None:
            of_others = of_others.exclude(reviewer=self.reviewer)
        asked = SecondOpinion.objects.wanted().filter(response=response, asked_by=self.reviewer)
        judgements = Judgement.objects.filter(spot_check__response=response)
        free = _unjudged(rows, self.reviewer).exclude(
            Exists(of_others.filter(response=response))
            | Exists(Gold.objects.filter(response=response))
            | (Exists(asked) & ~Exists(judgements))
        )
        return free.values_list("response_id", flat=True)


# The rows of a campaign that each have a response, in the order to show them.


def _asked(campaign: Campaign) -> QuerySet[SecondOpinion]:
    """Requests for a second opinion, the earliest first."""
    wanted = SecondOpinion.objects.of(campaign).wanted()
    return wanted.filter(response__status=ResponseStatus.SUBMITTED)


def _of_held_payments(campaign: Campaign) -> QuerySet[SpotCheck]:
    """Checks of responses whose payment is held until a verdict, the earliest first."""
    held = HeldPayment.objects.of(campaign).open().filter(cause=HeldCause.RULES)
    checks = SpotCheck.objects.of(campaign).open().order_by("pk")
    return checks.filter(response__submission__in=held.values("submission"))


def _drawn(campaign: Campaign) -> QuerySet[SpotCheck]:
    return SpotCheck.objects.of(campaign).open().filter(is_random=True).order_by("draw")


def _firsts(campaign: Campaign) -> QuerySet[SpotCheck]:
    return SpotCheck.objects.of(campaign).open().filter(is_first=True).order_by("pk")


def _unjudged(rows: QuerySet[Any], reviewer: User | None) -> QuerySet[Any]:
    """The rows whose response has neither a verdict nor this reviewer's judgement."""
    response = OuterRef("response_id")
    judged = SpotCheck.objects.filter(response=response).exclude(verdict="")
    by_them = Judgement.objects.filter(spot_check__response=response, reviewer=reviewer)
    return rows.exclude(Exists(judged) | Exists(by_them))


def _causes(turn: int) -> list[str]:
    """The cause of the check after `turn` others, then those to fall back on."""
    if not is_required_turn(turn):
        return [MOST_USEFUL, RANDOM, FIRST]
    is_for_firsts = turn // REQUIRED_EVERY % FIRSTS_EVERY == FIRSTS_EVERY - 1
    return [FIRST, RANDOM, MOST_USEFUL] if is_for_firsts else [RANDOM, FIRST, MOST_USEFUL]


def _first_of(sources: Iterator[Iterator[tuple[int, str]]]) -> tuple[int, str] | None:
    for source in sources:
        if first := next(source, None):
            return first
    return None


@transaction.atomic
def _reserve(campaign: Campaign, response: int, reviewer: User, at: datetime) -> bool:
    """Reserve a response for a reviewer; False if it is reserved for another one."""
    until = at + RESERVED_FOR
    new = Reservation(campaign=campaign, response_id=response, reviewer=reviewer, until=until)
    Reservation.objects.bulk_create([new], ignore_conflicts=True)
    # Theirs, or its reservation has expired.
    free = Reservation.objects.filter(is_over(at) | Q(reviewer=reviewer), response=response)
    return bool(free.update(reviewer=reviewer, until=until))
