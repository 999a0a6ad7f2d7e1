"""What a campaign has paid to each worker, and the answers of payments that are held."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, F, Q, QuerySet, Sum

from annotate.models import Campaign, Worker
from hits.models import Assignment, AssignmentStatus, Bonus
from hits.mturk.hit_texts import shown_answer
from hits.queries.costs import CENT, ZERO
from qualcontrol.models import HeldPayment


@dataclass(frozen=True)
class Statement:
    """One worker's assignments and payments in a campaign, in dollars."""

    worker: int
    pseudonym: str
    approved: int = 0
    rejected: int = 0
    waiting: int = 0
    rewards: Decimal = ZERO
    bonuses: Decimal = ZERO
    fees: Decimal = ZERO

    @property
    def paid(self) -> Decimal:
        return self.rewards + self.bonuses

    @property
    def cost(self) -> Decimal:
        return self.paid + self.fees


def statements(campaign: Campaign, workers: QuerySet[Worker] | None = None) -> Iterator[Statement]:
    """The statement of each worker with an assignment, or of each of these workers, by pseudonym.
    Takes two queries."""
    assignments = Assignment.objects.of(campaign)
    sent = Bonus.objects.filter(assignment__hit__campaign=campaign, sent_at__isnull=False)
    if workers is not None:
        assignments = assignments.filter(account__worker__in=workers)
        sent = sent.filter(assignment__account__worker__in=workers)
    approved = Q(status=AssignmentStatus.APPROVED)
    bonus_rows = sent.order_by().values_list("assignment__account__worker")
    bonuses = {
        worker: (amount, fee)
        for worker, amount, fee in bonus_rows.annotate(amounts=Sum("amount"), fees=Sum("fee"))
    }
    rows = assignments.order_by("account__worker__pseudonym").values_list(
        "account__worker", "account__worker__pseudonym"
    )
    for worker, name, yes, no, waiting, rewards, fees in rows.annotate(
        yes=Count("pk", filter=approved),
        no=Count("pk", filter=Q(status=AssignmentStatus.REJECTED)),
        waiting=Count("pk", filter=Q(status=AssignmentStatus.SUBMITTED)),
        rewards=Sum(F("hit__reward"), filter=approved, default=ZERO),
        fees=Sum(F("hit__fee"), filter=approved, default=ZERO),
    ):
        bonus, bonus_fee = bonuses.get(worker, (ZERO, ZERO))
        # SQLite adds up floating-point numbers.
        amounts = (sum_.quantize(CENT) for sum_ in (rewards, bonus, fees + bonus_fee))
        yield Statement(worker, name, yes, no, waiting, *amounts)


def held_of(campaign: Campaign) -> QuerySet[HeldPayment]:
    """The campaign's held payments, the oldest first, with what `answer_held` needs."""
    rows = HeldPayment.objects.of(campaign)
    return rows.select_related("worker", "submission__assignment__account").order_by("pk")


def answer_held(held: HeldPayment) -> str:
    """The submitted text that fits no task, with the pseudonym in place of the id."""
    assignment = held.submission.assignment
    text = shown_answer(assignment.unplaced_answer)
    return text.replace(assignment.account.marketplace_id, held.worker.pseudonym)
