"""A simulated reviewer, who follows the review queue and judges by the images' true contents."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User

from annotate.models import Campaign, Response
from qualcontrol.models import SpotCheck, Verdict
from qualcontrol.review.judging import judge
from qualcontrol.review.review_queue import next_checks
from qualcontrol.services.worker_risks import learn
from simulation.kinds import judge_of

# Number of good answers in a row after which the reviewer assumes that the queue's first items are
# not bad.
PATIENCE = 12


@dataclass(frozen=True)
class Round:
    """Numbers of one round of review."""

    judged: int
    bad: int
    excluded: int


def review(*, campaign: Campaign, reviewer: User, at: datetime) -> Round:
    """Judge queue items until many in a row are good, then the remaining required checks.

    The campaign's policy decides which workers are excluded.
    """
    learn(campaign=campaign)
    excluded_before = campaign.exclusions.in_force().count()
    judged = list(_judge_all(campaign, reviewer, at))
    excluded = campaign.exclusions.in_force().count() - excluded_before
    return Round(len(judged), judged.count(Verdict.BAD), excluded)


def _judge_all(campaign: Campaign, reviewer: User, at: datetime) -> Iterator[Verdict]:
    fault_of = judge_of(campaign)

    def judge_truly(response: Response) -> Verdict:
        reason = fault_of(response)
        verdict = Verdict.BAD if reason else Verdict.GOOD
        judge(response=response, verdict=verdict, reason=reason, reviewer=reviewer, at=at)
        return verdict

    good_in_a_row = 0
    while good_in_a_row < PATIENCE and (
        items := next_checks(campaign=campaign, reviewer=reviewer, count=1, at=at)
    ):
        verdict = judge_truly(items[0].response)
        good_in_a_row = good_in_a_row + 1 if verdict == Verdict.GOOD else 0
        yield verdict
    while check := SpotCheck.objects.of(campaign).open().order_by("pk").first():
        yield judge_truly(check.response)
