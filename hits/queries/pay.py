"""What a campaign has paid to each worker, and the answers of payments that are held."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, F, Q, Sum

from annotate.models import Campaign
from hits.models import Assignment, AssignmentStatus, Bonus
from hits.mturk.answers import shown_answer
from hits.queries.costs import ZERO
from qualcontrol.models import HeldPayment


@dataclass(frozen=True)
class Statement:
    """One worker's assignments and payments in a campaign, in dollars."""

    pseudonym: str
    approved: int
    rejected: int
    waiting: int
    rewards: Decimal
    bonuses: Decimal
    fees: Decimal

    @property
    def paid(self) -> Decimal:
        return self.rewards + self.bonuses

    @property
    def cost(self) -> Decimal:
        return self.paid + self.fees


def statements(campaign: Campaign, pseudonym: str = "") -> Iterator[Statement]:
    """The statement of each worker with an assignment, by pseudonym; of one worker if named. Takes
    two queries."""
    assignments = Assignment.objects.of(campaign).not_lost()
    sent = Bonus.objects.filter(assignment__hit__campaign=campaign, sent_at__isnull=False)
    if pseudonym:
        assignments = assignments.filter(account__worker__pseudonym=pseudonym)
        sent = sent.filter(assignment__account__worker__pseudonym=pseudonym)
    approved = Q(status=AssignmentStatus.APPROVED)
    bonus_rows = sent.order_by().values_list("assignment__account__worker__pseudonym")
    bonuses = {
        name: (amount, fee)
        for name, amount, fee in bonus_rows.annotate(amounts=Sum("amount"), fees=Sum("fee"))
    }
    rows = assignments.order_by("account__worker__pseudonym").values_list(
        "account__worker__pseudonym"
    )
    for name, yes, no, waiting, rewards, fees in rows.annotate(
        yes=Count("pk", filter=approved),
        no=Count("pk", filter=Q(status=AssignmentStatus.REJECTED)),
        waiting=Count("pk", filter=Q(status=AssignmentStatus.SUBMITTED)),
        rewards=Sum(F("hit__reward"), filter=approved),
        fees=Sum(F("hit__fee"), filter=approved),
    ):
        bonus, bonus_fee = bonuses.get(name, (ZERO, ZERO))
        yield Statement(name, yes, no, waiting, rewards or ZERO, bonus, (fees or ZERO) + bonus_fee)


@dataclass(frozen=True)
class Earnings:
    """Dollars without fees: of approved assignments, and of bonuses that were sent."""

    rewards: Decimal = ZERO
    bonuses: Decimal = ZERO
    assignments: int = 0


def earnings_of(campaign: Campaign, workers: Sequence[int]) -> dict[int, Earnings]:
    """Return {worker: Earnings} for those of the workers who earned something. Two queries."""
    approved = Assignment.objects.of(campaign).filter(
        status=AssignmentStatus.APPROVED, account__worker__in=workers
    )
    paid = approved.order_by().values_list("account__worker")
    rewards = {
        worker: (total, number)
        for worker, total, number in paid.annotate(total=Sum("hit__reward"), n=Count("*"))
    }
    sent = Bonus.objects.exclude(sent_at=None).filter(
        assignment__hit__campaign=campaign, assignment__account__worker__in=workers
    )
    bonuses = dict(
        sent.order_by().values_list("assignment__account__worker").annotate(Sum("amount"))
    )
    return {
        worker: Earnings(
            rewards.get(worker, (ZERO, 0))[0],
            bonuses.get(worker, ZERO),
            rewards.get(worker, (ZERO, 0))[1],
        )
        for worker in {*rewards, *bonuses}
    }


def answer_held(held: HeldPayment) -> str:
    """What the worker submitted and fits no task, with the pseudonym in place of the worker's id.
    Needs the assignment with its account, and the worker."""
    assignment = held.submission.assignment
    text = shown_answer(assignment.unplaced_answer)
    return text.replace(assignment.account.marketplace_id, held.worker.pseudonym)
