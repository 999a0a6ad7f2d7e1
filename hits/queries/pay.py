"""What a campaign has paid to each worker."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, F, Q, Sum

from annotate.models import Campaign
from hits.models import Assignment, AssignmentStatus, Bonus
from hits.queries.costs import ZERO


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
