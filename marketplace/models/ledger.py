"""The ledger: every transfer is one row with a source and a target, so accounts always balance."""

from django.db import models
from django.db.models import F, Q

from marketplace.models.accounts import Requester, Worker
from marketplace.models.fields import MoneyField
from marketplace.models.hits import Assignment, Hit


class Account(models.TextChoices):
    OUTSIDE = "outside"
    AVAILABLE = "available"
    HELD = "held"
    WORKER = "worker"
    FEES = "fees"
    # What panels have paid and charged.
    PANEL = "panel"


class TransferKind(models.TextChoices):
    DEPOSIT = "deposit"
    HOLD = "hold"
    RELEASE = "release"
    REWARD = "reward"
    FEE = "fee"
    BONUS = "bonus"
    BONUS_FEE = "bonus fee"
    PAYOUT = "payout"
    WITHDRAWAL = "withdrawal"
    PANEL_REWARD = "panel reward"
    PANEL_SCREEN_OUT = "panel screen-out"
    PANEL_BONUS = "panel bonus"
    PANEL_FEE = "panel fee"
    PANEL_TAX = "panel tax"


ROUTES = {
    TransferKind.DEPOSIT: (Account.OUTSIDE, Account.AVAILABLE),
    TransferKind.HOLD: (Account.AVAILABLE, Account.HELD),
    TransferKind.RELEASE: (Account.HELD, Account.AVAILABLE),
    TransferKind.REWARD: (Account.HELD, Account.WORKER),
    TransferKind.FEE: (Account.HELD, Account.FEES),
    TransferKind.BONUS: (Account.AVAILABLE, Account.WORKER),
    TransferKind.BONUS_FEE: (Account.AVAILABLE, Account.FEES),
    TransferKind.PAYOUT: (Account.WORKER, Account.OUTSIDE),
    TransferKind.WITHDRAWAL: (Account.AVAILABLE, Account.OUTSIDE),
    # The panel pays what the worker has earned here. A reward above it leaves a negative balance,
    # which later earnings fill before there is a bonus.
    TransferKind.PANEL_REWARD: (Account.WORKER, Account.PANEL),
    TransferKind.PANEL_BONUS: (Account.WORKER, Account.PANEL),
    # For the time that the questions took: the worker has earned nothing here that it could settle.
    TransferKind.PANEL_SCREEN_OUT: (Account.OUTSIDE, Account.PANEL),
    TransferKind.PANEL_FEE: (Account.OUTSIDE, Account.PANEL),
    TransferKind.PANEL_TAX: (Account.OUTSIDE, Account.PANEL),
}


class BonusPayment(models.Model):
    """A requester's payment to a worker in addition to an assignment's reward."""

    requester = models.ForeignKey(Requester, models.PROTECT, related_name="bonus_payments")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="bonus_payments")
    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="bonus_payments")
    hit = models.ForeignKey(Hit, models.PROTECT, related_name="bonus_payments")
    amount = MoneyField()
    reason = models.TextField()
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="bonus_is_positive", condition=Q(amount__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.amount} for {self.assignment}"


class Transfer(models.Model):
    """One transfer of money between two accounts."""

    kind = models.CharField(max_length=16, choices=TransferKind)
    source = models.CharField(max_length=10, choices=Account)
    target = models.CharField(max_length=10, choices=Account)
    amount = MoneyField()
    requester = models.ForeignKey(Requester, models.PROTECT, null=True, related_name="transfers")
    worker = models.ForeignKey(Worker, models.PROTECT, null=True, related_name="transfers")
    hit = models.ForeignKey(Hit, models.PROTECT, null=True, related_name="transfers")
    assignment = models.ForeignKey(Assignment, models.PROTECT, null=True, related_name="transfers")
    bonus = models.ForeignKey(BonusPayment, models.PROTECT, null=True, related_name="transfers")
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="transfer_is_positive", condition=Q(amount__gt=0)),
            models.CheckConstraint(
                name="transfer_goes_somewhere", condition=~Q(source=F("target"))
            ),
            models.UniqueConstraint(
                fields=["assignment"],
                condition=Q(kind=TransferKind.REWARD),
                name="assignment_paid_once",
            ),
            models.UniqueConstraint(
                fields=["bonus"], condition=Q(kind=TransferKind.BONUS), name="bonus_paid_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount}"
