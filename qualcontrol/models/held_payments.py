"""Submitted assignments that are not paid until a person decides."""

from typing import Self

from django.db import models
from django.db.models import Q

from annotate.models import Campaign, Submission, Worker
from qualcontrol.models.decisions import Decision


class HeldCause(models.TextChoices):
    NO_TASK = "NO_TASK", "fits no task"
    RULES = "RULES", "breaks the campaign's rules"


class HeldOutcome(models.TextChoices):
    """How a hold ended. The decision log names the person."""

    PAY = "PAY", "to be paid"
    REJECT = "REJECT", "to be rejected"
    JUDGED = "JUDGED", "judged: paid as other work is"
    LAPSED = "LAPSED", "decided at the marketplace before anybody decided here"


class HeldPaymentQuerySet(models.QuerySet["HeldPayment"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(campaign=campaign)

    def open(self) -> Self:
        """Holds without a decision."""
        return self.filter(ended_at=None)

    def against_worker(self) -> Self:
        """Answers that fit no task and that nobody accepted."""
        return self.filter(cause=HeldCause.NO_TASK).exclude(outcome=HeldOutcome.PAY)


class HeldPayment(models.Model):
    """A submitted assignment that the reconciler does not approve until a person decides: its
    answer fits no task, or it came through the marketplace alone and breaks the campaign's rules.
    """

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="held_payments")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="held_payments")
    submission = models.OneToOneField(Submission, models.PROTECT, related_name="held_payment")
    cause = models.CharField(max_length=7, choices=HeldCause)
    why = models.CharField(max_length=1000)
    held_at = models.DateTimeField()
    outcome = models.CharField(max_length=6, choices=HeldOutcome, blank=True, default="")
    ended_at = models.DateTimeField(null=True, blank=True)
    # The decision that ended the hold; empty if a verdict or the marketplace did.
    decision = models.OneToOneField(
        Decision, models.PROTECT, null=True, blank=True, related_name="held_payment"
    )
    # The payment is decided, or a decision is being sent. Taking back a verdict then does not hold
    # it again.
    is_settled = models.BooleanField(default=False)
    # A person has let the worker continue since. It counts for the policy only with a new one.
    is_forgiven = models.BooleanField(default=False)

    objects = HeldPaymentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(why=""), name="held_payment_has_a_reason"),
            models.CheckConstraint(
                condition=Q(outcome="", ended_at=None)
                | Q(outcome__in=HeldOutcome.values, ended_at__isnull=False),
                name="held_payment_ended_at_matches_outcome",
            ),
        ]
        indexes = [
            models.Index(
                fields=["campaign"], name="held_payment_open", condition=Q(ended_at__isnull=True)
            ),
            models.Index(fields=["campaign", "worker"], name="held_payment_by_worker"),
        ]

    def __str__(self) -> str:
        return f"payment of {self.worker}, {self.get_outcome_display() or 'held'}"
