"""Shares of a campaign's HITs: what several workers read and pay for at the same time.

A HIT is always in the same share. A process that reads the HITs of a share, or pays for them, holds
the share's lock for this work. It decides what is due after it has the lock, so a share can be
taken up any number of times, by any process, and a killed process leaves it to the next one.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from typing import Any, TypeVar

from django.db.models import F, QuerySet

from annotate.models import Campaign
from shared.database.locks import process_lock

# At most this many workers read, or pay, for one campaign at the same time.
SHARES = range(4)
# Numbers of HITs that are read, and of payments, before a worker turns to another campaign.
AT_ONCE = 200

Rows = TypeVar("Rows", bound=QuerySet[Any, Any])


class Work(StrEnum):
    """What is done in shares."""

    READ = "read"
    PAY = "pay"


@contextmanager
def held_shares(campaign: Campaign, work: Work, wanted: Sequence[int]) -> Iterator[list[int]]:
    """Hold the locks of the wanted shares during the block; yield those that nobody else holds."""
    with ExitStack() as stack:
        yield [
            share
            for share in wanted
            if stack.enter_context(process_lock(f"sync-{campaign.pk}-{work}-{share}"))
        ]


def in_shares(rows: Rows, shares: Sequence[int], *, hit: str) -> Rows:
    """Return the rows whose HIT, by the column `hit`, is in these shares."""
    if len(shares) == len(SHARES):
        return rows
    found: Rows = rows.alias(share=F(hit) % len(SHARES)).filter(share__in=shares)
    return found
