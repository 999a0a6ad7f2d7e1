"""What a reviewer is shown of a check, and where their verdict goes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2s
from typing import Any

from django.contrib.auth.models import User

from annotate.kinds import KINDS
from annotate.models import Campaign, Caption, Response, ResponseStatus, Worker
from qualcontrol.cases import block_of
from qualcontrol.models import Gold, GoldAnswer, Judgement, Standing, Verdict
from qualcontrol.risk import Crowd
from qualcontrol.services.gold import answer_gold
from qualcontrol.services.judging import judge
from qualcontrol.services.standings import crowd_of

# Why something is shown.
SECOND, RANDOM, FIRST, WORTH = "second opinion", "random", "first of a worker", "worth"


@dataclass(frozen=True)
class Item:
    """One thing to judge: a response, or a made-up one that looks like one.

    `risk` is the probability that it is bad, `cause` one of SECOND, RANDOM, FIRST, WORTH.
    """

    response: Response
    cause: str
    risk: float
    flags: list[dict[str, Any]]
    gold: Gold | None = None

    @property
    def key(self) -> int:
        """What the item goes by in addresses: even for responses, odd for made-up ones."""
        if self.gold is not None and self.gold.response_id is None:
            return 2 * self.gold.pk + 1
        return 2 * self.response.pk

    @property
    def is_random(self) -> bool:
        """Whether it is in the random sample, from which the estimate is made."""
        check = getattr(self.response, "spot_check", None)
        return check is not None and check.is_random


def items_of(campaign: Campaign, causes: Mapping[int, str], reviewer: User | None) -> list[Item]:
    """The items of these responses, by their keys and with the cause to show each, in that order;
    for a reviewer with gold items between."""
    items = _items(campaign, causes)
    every = campaign.config.review.gold_every
    if reviewer is None or not every:
        return items
    done = _judged_by(campaign, reviewer)
    waiting = _gold_items(campaign, reviewer)
    mixed: list[Item] = []
    for item in items:
        if (done + len(mixed)) % every == every - 1 and waiting:
            mixed.append(waiting.pop(0))
        mixed.append(item)
    return mixed


def item_by_key(campaign: Campaign, key: int) -> Item:
    """The item that goes by a key; raises Response.DoesNotExist or Gold.DoesNotExist."""
    if key % 2:
        return _made_up(Gold.objects.of(campaign).get(response=None, pk=key // 2))
    response = Response.objects.of(campaign).exclude(status=ResponseStatus.STORED).get(pk=key // 2)
    return _items(campaign, {response.pk: WORTH})[0]


def judge_item(
    *, item: Item, verdict: Verdict | str, reason: str, reviewer: User, at: datetime
) -> None:
    """Take a verdict on an item; on gold it tells of the reviewer, and nothing else follows.
    Raises AlreadyJudged, ReasonMissing."""
    if item.gold is not None:
        answer_gold(gold=item.gold, verdict=verdict, reviewer=reviewer, at=at)
    else:
        judge(response=item.response, verdict=verdict, reason=reason, reviewer=reviewer, at=at)


def _items(campaign: Campaign, causes: Mapping[int, str]) -> list[Item]:
    responses = Response.objects.select_related(
        "task__campaign",
        "task__image",
        "worker",
        "assessment",
        "spot_check",
        "gold",
        *KINDS[campaign.kind].content,
    ).in_bulk(list(causes))
    workers = {response.worker_id for response in responses.values()}
    crowd = crowd_of(campaign, Standing.objects.of(campaign).filter(worker__in=workers))
    return [_item(crowd, responses[pk], cause) for pk, cause in causes.items()]


def _item(crowd: Crowd | None, response: Response, cause: str) -> Item:
    gold = getattr(response, "gold", None)
    assessment = getattr(response, "assessment", None)
    if assessment is None or crowd is None or response.worker_id not in crowd.row:
        return Item(response, cause, 0.0, [], gold)
    block, codes = block_of(assessment.position - 1), tuple(assessment.codes.split())
    risk = crowd.chance_bad(response.worker_id, block, codes)
    return Item(response, cause, risk, assessment.flags, gold)


def _gold_items(campaign: Campaign, reviewer: User) -> list[Item]:
    """Gold that the reviewer has not answered and did not make, the oldest first."""
    left = Gold.objects.of(campaign).exclude(answers__reviewer=reviewer).exclude(made_by=reviewer)
    causes = {gold.response_id: WORTH for gold in left if gold.response_id is not None}
    known = {item.response.pk: item for item in _items(campaign, causes)}
    return [
        _made_up(gold) if gold.response_id is None else known[gold.response_id]
        for gold in left.order_by("pk")
    ]


def _made_up(gold: Gold) -> Item:
    """A made-up caption as the first one of a worker who does not exist, always the same."""
    digest = blake2s(f"gold {gold.pk}".encode(), digest_size=4).hexdigest().upper()
    worker = Worker(pseudonym=f"W-{digest}")
    response = Response(task=gold.task, worker=worker, status=ResponseStatus.SUBMITTED)
    response.caption = Caption(text=gold.text)
    return Item(response, FIRST, 0.0, [], gold)


def _judged_by(campaign: Campaign, reviewer: User) -> int:
    """How many things the reviewer has judged in the campaign."""
    judgements = Judgement.objects.filter(spot_check__campaign=campaign, reviewer=reviewer)
    answers = GoldAnswer.objects.filter(gold__campaign=campaign, reviewer=reviewer)
    return judgements.count() + answers.count()
