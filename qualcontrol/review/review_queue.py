"""The queue of checks: which responses a reviewer is shown next, in this order:

1. what the reviewer was shown before and has not judged yet;
2. responses on which another reviewer asks for a second opinion;
3. responses that wait for a second reviewer's judgement;
4. responses whose payment is held until a verdict;
5. in a campaign with a trial, workers' first responses, as their workers wait or soon will;
6. the checks with the highest expected value; every REQUIRED_EVERY checks a required check.

Gold items are inserted between them.
"""

from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.models import Campaign, ResponseStatus
from qualcontrol.models import (
    Assessment,
    Exclusion,
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
from qualcontrol.risk.hypotheses import BLOCK_STARTS
from qualcontrol.risk.random_sample import REQUIRED_EVERY, is_required_turn, random_order
from qualcontrol.risk.ranking import CheckRanking, Pick
from qualcontrol.services.worker_risks import crowd_of
from shared.prepared import Change, prepared, prepared_update

# How long a response is reserved for a reviewer. After that others are shown it.
RESERVED_FOR = timedelta(minutes=15)
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
) -> list[Item]:
    """The next items to judge, at most `count`, without the responses `without`.

    They are reserved for the reviewer, who gets them again until they are judged or the reservation
    expires. Without a reviewer the call writes nothing, and returns the same items if repeated.
    Gold items are inserted in addition to `count`.
    """
    candidates = _Candidates(campaign, reviewer, count, at, set(without))
    chosen: dict[int, str] = {}
    for response, cause in candidates.in_order():
        if len(chosen) == count:
            break
        if reviewer is None or _reserve(campaign, response, reviewer, at):
            chosen[response] = cause
    return items_of(campaign, chosen, reviewer)


class _Candidates:
    """The responses that one reviewer can be shown now, each with the cause to show it."""

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
        # The values of the prepared queries below.
        self.given: dict[str, Any] = {"campaign": campaign.pk, "at": at}
        if reviewer is not None:
            self.given["reviewer"] = reviewer.pk

    def in_order(self) -> Iterator[tuple[int, str]]:
        yield from self._new(self._mine())
        yield from self._new(self._free(_asked, ASKED))
        if self.campaign.config.review.reviewers > 1:
            yield from self._new(self._free(_half_judged, SECOND))
        yield from self._new(self._free(_of_held_payments, HELD))
        if self.campaign.config.review.trial:
            yield from self._new(self._firsts_of_waiting())
            yield from self._new(self._free(_firsts, FIRST))
        turn = sum(_numbers_of_judged(campaign=self.campaign.pk))
        turn += sum(_numbers_of_reserved(campaign=self.campaign.pk, at=self.at))
        sources = {
            RANDOM: self._new(self._free(_drawn, RANDOM)),
            FIRST: self._new(self._free(_firsts, FIRST)),
            MOST_USEFUL: self._new(self._most_useful()),
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
        for response, is_random, is_first in _reserved(**self.given):
            yield response, RANDOM if is_random else FIRST if is_first else MOST_USEFUL

    def _free(self, source: "Source", cause: str) -> Iterator[tuple[int, str]]:
        """The source's responses that the reviewer can judge, in its order."""
        for start in count(step=READ_AT_ONCE):
            found = _free_of(source, start, start + READ_AT_ONCE, **self.given)
            yield from ((response, cause) for response in found)
            if len(found) < READ_AT_ONCE:
                return

    def _firsts_of_waiting(self) -> Iterator[tuple[int, str]]:
        """First responses of workers who wait for verdicts, the earliest first."""
        waiting = waiting_for_verdicts(self.campaign)
        firsts = _firsts(self.campaign).filter(response__worker__in=waiting)
        free = _free_rows(firsts, self.campaign, self.at, self.reviewer)
        for response in free.values_list("response_id", flat=True).iterator():
            yield response, FIRST

    def _most_useful(self) -> Iterator[tuple[int, str]]:
        best = _best_to_check(2 * self.count + SPARE, campaign=self.campaign.pk)
        crowd = crowd_of(self.campaign, best)
        ranking = CheckRanking(crowd) if crowd else None
        while ranking is not None and (pick := ranking.take()):
            response = self._response_of(pick)
            if response is not None:
                yield response, MOST_USEFUL

    def _response_of(self, pick: Pick) -> int | None:
        """The first response in the random order that fits the pick, or None."""
        start = BLOCK_STARTS[pick.block]
        end = [*BLOCK_STARTS, 2**31][pick.block + 1]
        free = _free_alike(
            worker=pick.worker, codes=" ".join(pick.codes), start=start, end=end, **self.given
        )
        seed = self.campaign.config.seed
        left = [response for response in free if response not in self.taken]
        return min(left, key=lambda pk: random_order(seed, pk), default=None)


# The rows of a campaign that each have a response, in the order to show them.
Source = Callable[[Any], QuerySet[Any]]


def _asked(campaign: Any) -> QuerySet[SecondOpinion]:
    """Requests for a second opinion, the earliest first."""
    wanted = SecondOpinion.objects.of(campaign).wanted()
    return wanted.filter(response__status=ResponseStatus.SUBMITTED)


def _half_judged(campaign: Any) -> QuerySet[SpotCheck]:
    return SpotCheck.objects.of(campaign).half_judged().order_by("pk")


def _of_held_payments(campaign: Any) -> QuerySet[SpotCheck]:
    """Checks of responses whose payment is held until a verdict, the earliest first."""
    held = HeldPayment.objects.of(campaign).open().filter(cause=HeldCause.RULES)
    checks = SpotCheck.objects.of(campaign).open().order_by("pk")
    return checks.filter(response__assignment__in=held.values("assignment"))


def _drawn(campaign: Any) -> QuerySet[SpotCheck]:
    return SpotCheck.objects.of(campaign).open().filter(is_random=True).order_by("draw")


def _firsts(campaign: Any) -> QuerySet[SpotCheck]:
    return SpotCheck.objects.of(campaign).open().filter(is_first=True).order_by("pk")


# Queries that are compiled once, because reviewers wait for them at each item. `reviewer` is left
# out if the items are for nobody.


@prepared
def _free_of(
    source: Source, start: int, end: int, *, campaign: Any, at: Any, reviewer: Any = None
) -> QuerySet[Any, int]:
    """A part of the source's responses that the reviewer can judge."""
    free = _free_rows(source(campaign), campaign, at, reviewer)
    return free.values_list("response_id", flat=True)[start:end]


@prepared
def _free_alike(
    *, campaign: Any, at: Any, worker: Any, codes: Any, start: Any, end: Any, reviewer: Any = None
) -> QuerySet[Any, int]:
    """A worker's responses with these codes at these positions that the reviewer can judge."""
    alike = Assessment.objects.filter(
        campaign=campaign,
        worker=worker,
        codes=codes,
        position__gt=start,
        position__lte=end,
        response__status=ResponseStatus.SUBMITTED,
    )
    return _free_rows(alike, campaign, at, reviewer).values_list("response_id", flat=True)


@prepared
def _reserved(*, campaign: Any, at: Any, reviewer: Any) -> QuerySet[Any, Any]:
    """The responses that the reviewer was shown and has not judged, and why they were checked."""
    mine = Reservation.objects.of(campaign).in_force(at).filter(reviewer=reviewer)
    # A reservation may have been made while somebody judged the response.
    unjudged = _unjudged(mine.filter(response__status=ResponseStatus.SUBMITTED), reviewer)
    return unjudged.order_by("pk").values_list(
        "response_id", "response__spot_check__is_random", "response__spot_check__is_first"
    )


@prepared
def _numbers_of_judged(campaign: Any) -> QuerySet[SpotCheck, int]:
    """The number of the campaign's checks with a verdict, as the only row; none for 0."""
    judged = SpotCheck.objects.of(campaign).exclude(verdict="").order_by()
    return judged.values("campaign").annotate(number=Count("pk")).values_list("number", flat=True)


@prepared
def _numbers_of_reserved(campaign: Any, at: Any) -> QuerySet[Reservation, int]:
    """The number of the campaign's reservations in force, as the only row; none for 0."""
    reserved = Reservation.objects.of(campaign).in_force(at).order_by()
    return reserved.values("campaign").annotate(number=Count("pk")).values_list("number", flat=True)


@prepared
def _best_to_check(most: int, *, campaign: Any) -> QuerySet[WorkerRisk, Any]:
    """The workers whose next check has the highest expected value, with their tallies."""
    excluded = Exclusion.objects.in_force().filter(campaign=campaign).values("worker")
    risks = WorkerRisk.objects.of(campaign).filter(expected_value__gte=0)
    best = risks.exclude(worker__in=excluded).most_valuable_first()[:most]
    return best.values_list("worker_id", "tally")


def _free_rows(rows: QuerySet[Any], campaign: Any, at: Any, reviewer: Any) -> QuerySet[Any]:
    """The rows whose response this reviewer can judge: it has no verdict, this reviewer has not
    judged it, it is not reserved for another reviewer, and it is not a gold item. If this
    reviewer has asked for a second opinion on it, another one has judged it."""
    response = OuterRef("response_id")
    of_others = Reservation.objects.of(campaign).in_force(at)
    if reviewer is not None:
        of_others = of_others.exclude(reviewer=reviewer)
    asked = SecondOpinion.objects.wanted().filter(response=response, asked_by=reviewer)
    judgements = Judgement.objects.filter(spot_check__response=response)
    return _unjudged(rows, reviewer).exclude(
        Exists(of_others.filter(response=response))
        | Exists(Gold.objects.filter(response=response))
        | (Exists(asked) & ~Exists(judgements))
    )


def _unjudged(rows: QuerySet[Any], reviewer: Any) -> QuerySet[Any]:
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
        if found := next(source, None):
            return found
    return None


@transaction.atomic
def _reserve(campaign: Campaign, response: int, reviewer: User, at: datetime) -> bool:
    """Reserve a response for a reviewer; False if it is reserved for another one."""
    until = at + RESERVED_FOR
    if _take_over(response=response, reviewer=reviewer.pk, at=at, until=until):
        return True
    new = Reservation(campaign=campaign, response_id=response, reviewer=reviewer, until=until)
    Reservation.objects.bulk_create([new], ignore_conflicts=True)
    return bool(_reservations_of(response=response, reviewer=reviewer.pk))


@prepared_update
def _take_over(response: Any, reviewer: Any, at: Any, until: Any) -> Change:
    """Reserve a response that is reserved for this reviewer, or whose reservation has expired."""
    free = Reservation.objects.filter(Q(until__lte=at) | Q(reviewer=reviewer), response=response)
    return free, {"reviewer": reviewer, "until": until}


@prepared
def _reservations_of(response: Any, reviewer: Any) -> QuerySet[Reservation, int]:
    mine = Reservation.objects.filter(response=response, reviewer=reviewer)
    return mine.values_list("pk", flat=True)
