"""What a worker has submitted lately, for the page on which the worker goes on."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from marketplace import queries
from marketplace.models import Assignment, Worker

WITHIN = timedelta(days=1)


@dataclass(frozen=True)
class RecentWork:
    """The HITs that a worker submitted within a day and that are not rejected."""

    hits: int
    reward: Decimal

    def with_one_more(self, assignment: Assignment) -> "RecentWork":
        """This work once the worker has also submitted the assignment."""
        return RecentWork(self.hits + 1, self.reward + assignment.hit.hit_type.reward)


def recent_work(worker: Worker, at: datetime) -> RecentWork:
    for number, reward in queries.recent_work(worker=worker.pk, since=at - WITHIN):
        return RecentWork(number, reward)
    return RecentWork(0, Decimal(0))
