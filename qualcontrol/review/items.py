"""Items: what reviewers see of a check."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2s
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404

from annotate.kinds import KINDS
from annotate.models import Campaign, Response, ResponseStatus, Worker
from qualcontrol.models import (
    Gold,
    GoldAnswer,
    Judgement,
    SecondOpinion,
    SpotCheck,
    Verdict,
)
from qualcontrol.risk.estimate import random_order
from qualcontrol.risk.hypotheses import block_of
from qualcontrol.risk.model import Crowd
from qualcontrol.services.flagging import flags_if_written
from qualcontrol.services.worker_risks import crowd_of, newcomer_risk, stored_tallies

# The causes to show an item.
SECOND, ASKED, HELD = "second opinion", "asked for", "held payment"
RANDOM, FIRST, MOST_USEFUL = "random", "first of a worker", "most useful"


@dataclass(frozen=True)
class Item:
    """A response to judge, or a made-up one (gold) that looks like one.

    `risk` is the probability that it is bad. `cause` is one of SECOND, ASKED, HELD, RANDOM, FIRST,
    MOST_USEFUL.
    """

    response: Response
    cause: str
    risk: float
    flags: list[dict[str, Any]]
    gold: Gold | None = None
    # The request of a reviewer who wants a second opinion on it.
    asked: SecondOpinion | None = None

    @property
    def key(self) -> UUID:
        """The item's name on pages. It does not show whether the item is made up."""
        is_made_up = self.gold is not None and self.gold.response_id is None
        return self.gold.key if self.gold is not None and is_made_up else self.response.key

    @property
    def is_random(self) -> bool:
        """Whether the item is in the random sample, from which the estimate is made."""
        check = getattr(self.response, "spot_check", None)
        return check is not None and check.is_random


def items_of(
    campaign: Campaign,
    causes: Mapping[int, str],
    reviewer: User | None,
    skipped: Collection[UUID] = (),
) -> list[Item]:
    """The items of these responses, from each response's key and cause, in that order. For a
    reviewer, gold items are inserted between them, except those with the keys `skipped`."""
    items = _items(campaign, causes)
    every = campaign.config.review.gold_every
    if reviewer is None or not every:
        return items
    judged = _judged_by(campaign, reviewer)
    waiting = deque(_gold_to_show(campaign, reviewer, most=len(items), skipped=skipped))
    mixed: list[Item] = []
    for item in items:
        if (judged + len(mixed)) % every == every - 1 and waiting:
            mixed.append(_gold_item(campaign, waiting.popleft()))
        mixed.append(item)
    return mixed


def item_by_key(campaign: Campaign, key: UUID) -> Item:
    """The item with this key. Raises Response.DoesNotExist."""
    made_up = Gold.objects.of(campaign).filter(response=None, key=key).first()
    if made_up is not None:
        return _made_up(made_up)
    response = Response.objects.of(campaign).get(key=key)
    return _items(campaign, {response.pk: MOST_USEFUL})[0]


@contextmanager
def or_404(key: UUID) -> Iterator[None]:
    """Raise Http404 instead of Response.DoesNotExist for the item with this key."""
    try:
        yield
    except Response.DoesNotExist as error:
        raise Http404(f"There is no check with the key {key}.") from error


def responses_among(campaign: Campaign, keys: Iterable[UUID]) -> list[int]:
    """The keys of the responses among the items with these public keys."""
    return list(Response.objects.of(campaign).filter(key__in=keys).values_list("pk", flat=True))


def settled_among(campaign: Campaign, keys: Sequence[UUID], reviewer: User) -> list[UUID]:
    """Those of the keys that the reviewer does not need to judge now: the item was discarded, has a
    verdict or the reviewer's judgement, waits for the second opinion that the reviewer asked for,
    or does not exist."""
    counting = Response.objects.of(campaign).counting().filter(key__in=keys)
    open_ones = counting.exclude(spot_check__verdict__in=[Verdict.GOOD, Verdict.BAD])
    open_ones = open_ones.exclude(spot_check__judgements__reviewer=reviewer)
    gold = _waiting_gold(campaign, reviewer)
    marked = gold.filter(response__key__in=keys).values_list("response__key", flat=True)
    made_up = gold.filter(response=None, key__in=keys).values_list("key", flat=True)
    asked = SecondOpinion.objects.of(campaign).wanted().filter(asked_by=reviewer, key__in=keys)
    waiting = asked.filter(response__spot_check__judgements=None).values_list("key", flat=True)
    left = {*open_ones.values_list("key", flat=True), *marked, *made_up}.difference(waiting)
    return [key for key in keys if key not in left]


def checks_to_go(campaign: Campaign, reviewer: User) -> int:
    """The number of required checks left, as this reviewer is shown it. It includes the gold items
    that look like required checks. Otherwise the number would not fall after such an item, and
    reveal that it was gold."""
    to_go = SpotCheck.objects.of(campaign).open().count()
    review = campaign.config.review
    # With two reviewers, a first judgement leaves the number unchanged for real checks, too.
    if to_go and review.gold_every and review.reviewers == 1:
        to_go += sum(_looks_drawn(campaign, gold) for gold in _waiting_gold(campaign, reviewer))
    return to_go


@dataclass(frozen=True)
class ReviewCounts:
    """The review page's line about the campaign's required checks and the reviewer's work."""

    left: int
    done: int
    mine: int  # items that the reviewer has judged

    @property
    def next(self) -> int:
        """The number of the item that the reviewer judges now, among those judged by them."""
        return self.mine + 1

    @property
    def drawn(self) -> int:
        return self.left + self.done


def review_counts(campaign: Campaign, reviewer: User) -> ReviewCounts:
    """The counts as this reviewer is shown them: gold items count like the checks that they look
    like."""
    # Without a join, the database need not look up each judged response.
    is_gold = Exists(Gold.objects.filter(response=OuterRef("response_id")))
    judged = SpotCheck.objects.of(campaign).exclude(verdict="").filter(~is_gold)
    drawn = judged.filter(Q(is_random=True) | Q(is_first=True)).count()
    answered = Gold.objects.of(campaign).filter(answers__reviewer=reviewer)
    related = answered.select_related(
        "response__spot_check", "task__campaign", "task__image", "task__subject"
    )
    drawn += sum(_looks_drawn(campaign, gold) for gold in related)
    return ReviewCounts(checks_to_go(campaign, reviewer), drawn, _judged_by(campaign, reviewer))


def _items(campaign: Campaign, causes: Mapping[int, str]) -> list[Item]:
    responses, asked = _rows_of(campaign, list(causes))
    workers = {response.worker_id for response in responses.values()}
    crowd = crowd_of(campaign, stored_tallies(campaign, workers))
    return [
        replace(_item(crowd, responses[pk], cause), asked=asked.get(pk))
        for pk, cause in causes.items()
    ]


def _rows_of(
    campaign: Campaign, keys: Sequence[int]
) -> tuple[dict[int, Response], dict[int | None, SecondOpinion]]:
    """The responses with these keys, and the requests for a second opinion on them."""
    relations = KINDS[campaign.kind].answer_relations
    responses = Response.objects.select_related(
        "task__campaign", "task__image", "worker", "assessment", "spot_check", "gold", *relations
    )
    wanted = SecondOpinion.objects.wanted().select_related("asked_by")
    return (
        {row.pk: row for row in responses.filter(pk__in=keys)},
        {row.response_id: row for row in wanted.filter(response__in=keys)},
    )


def _item(crowd: Crowd | None, response: Response, cause: str) -> Item:
    gold = getattr(response, "gold", None)
    assessment = getattr(response, "assessment", None)
    if assessment is None or crowd is None or response.worker_id not in crowd.row:
        return Item(response, cause, 0.0, [], gold)
    block, codes = block_of(assessment.position - 1), tuple(assessment.codes.split())
    risk = crowd.chance_bad(response.worker_id, block, codes)
    return Item(response, cause, risk, assessment.flags, gold)


def _waiting_gold(campaign: Campaign, reviewer: User) -> QuerySet[Gold]:
    """Gold items that the reviewer neither made nor judged, also not before they were gold, and
    whose texts nobody has withdrawn; the oldest first."""
    left = Gold.objects.of(campaign).exclude(answers__reviewer=reviewer).exclude(made_by=reviewer)
    left = left.exclude(response__spot_check__judgements__reviewer=reviewer)
    left = left.exclude(response__withdrawn_at__isnull=False)
    return left.select_related(
        "response__spot_check", "task__campaign", "task__image", "task__subject"
    ).order_by("pk")


def _gold_to_show(
    campaign: Campaign, reviewer: User, *, most: int, skipped: Collection[UUID]
) -> list[Gold]:
    asked = SecondOpinion.objects.of(campaign).wanted().filter(asked_by=reviewer, response=None)
    waiting = _waiting_gold(campaign, reviewer)
    for keys in (asked.values("key"), skipped):
        waiting = waiting.exclude(Q(key__in=keys) | Q(response__key__in=keys))
    if SpotCheck.objects.of(campaign).open().exists():
        return list(waiting[:most])
    # No required check is left, so an item that looks like one would be recognised as gold.
    return [gold for gold in waiting if not _looks_drawn(campaign, gold)][:most]


def _gold_item(campaign: Campaign, gold: Gold) -> Item:
    if gold.response_id is None:
        return _made_up(gold)
    [item] = _items(campaign, {gold.response_id: MOST_USEFUL})
    return item


def _made_up(gold: Gold) -> Item:
    """A made-up caption as the first response of an invented worker, always the same one, with the
    flags and the risk that it would have."""
    campaign = gold.task.campaign
    digest = blake2s(f"gold {gold.pk}".encode(), digest_size=4).hexdigest().upper()
    worker = Worker(pseudonym=f"W-{digest}")
    # If claims decide about keywords, some made-up captions look primed, too.
    gold.task.primed = random_order(campaign.config.seed, gold.pk) < campaign.config.priming.share
    response = Response(
        task=gold.task, worker=worker, status=ResponseStatus.SUBMITTED, primed=gold.task.primed
    )
    # Of imported captions, it may not be known whether the worker saw keywords.
    other = gold.task.responses.order_by("pk").first()
    if other and other.imported_from_id:
        response.imported_from_id, response.primed = other.imported_from_id, other.primed
    kind = KINDS[campaign.kind]
    kind.row(response, kind.from_text(gold.text))
    check = _check_of(campaign, gold)
    if check.is_random or check.is_first:
        response.spot_check = check
    flags = flags_if_written(task=gold.task, text=gold.text)
    risk = newcomer_risk(campaign, [flag["code"] for flag in flags])
    return Item(response, MOST_USEFUL, risk, flags, gold)


def _looks_drawn(campaign: Campaign, gold: Gold) -> bool:
    check = _check_of(campaign, gold)
    return check.is_random or check.is_first


def _check_of(campaign: Campaign, gold: Gold) -> SpotCheck:
    """The spot check of a gold item, or the one that a made-up caption would have."""
    if gold.response is not None:
        return gold.response.spot_check
    review = campaign.config.review
    draw = random_order(campaign.config.seed, -gold.pk)
    return SpotCheck(is_random=draw < review.share, is_first=review.first > 0)


def _judged_by(campaign: Campaign, reviewer: User) -> int:
    """The number of items that the reviewer has judged in the campaign."""
    judgements = Judgement.objects.filter(spot_check__campaign=campaign, reviewer=reviewer)
    answers = GoldAnswer.objects.filter(gold__campaign=campaign, reviewer=reviewer)
    return judgements.count() + answers.count()
