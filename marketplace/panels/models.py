"""Studies at a panel, their submissions and what is paid there. No participant's id is here."""

from django.db import models
from django.db.models import F, Q

from marketplace.models import Participation, Study, Transfer
from marketplace.models.fields import MoneyField
from marketplace.panels.panel import NOTHING


class PanelStudy(models.Model):
    """A study's counterpart at a panel."""

    study = models.OneToOneField(Study, models.PROTECT, related_name="at_panel")
    # Sent as the draft's internal name: it finds the draft if the answer was lost.
    reference = models.CharField(max_length=64, unique=True)
    # Empty until the panel has answered.
    external_id = models.CharField(max_length=64, blank=True, default="")
    # In the panel's words; empty until the draft exists there.
    status = models.CharField(max_length=20, blank=True, default="")
    description = models.TextField()
    reward = MoneyField()
    # What a participant gets who is screened out, and how many of them there are at most; 0 and 0
    # in a study that screens nobody out.
    screen_out_reward = MoneyField(default=NOTHING)
    screen_out_places = models.PositiveIntegerField(default=0)
    minutes = models.PositiveIntegerField()
    places = models.PositiveIntegerField()
    devices = models.JSONField(default=list)
    filters = models.JSONField(default=list)
    # Whether arrivals need the panel's signature.
    is_signed = models.BooleanField(default=False)
    # What went wrong last, in words; empty after a round without problems.
    problem = models.CharField(max_length=500, blank=True, default="")
    read_at = models.DateTimeField(null=True, blank=True)
    read_next_at = models.DateTimeField(db_index=True)
    # When the draft at the panel was made; until then, when this was planned. Nobody comes through
    # the panel before.
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "panel studies"
        constraints = [
            models.CheckConstraint(
                name="panel_study_is_payable",
                condition=Q(reward__gt=0, minutes__gt=0, places__gt=0),
            ),
            models.CheckConstraint(
                name="panel_study_pays_screen_outs",
                condition=Q(screen_out_reward=0, screen_out_places=0)
                | Q(
                    screen_out_reward__gt=0,
                    screen_out_reward__lt=F("reward"),
                    screen_out_places__gt=0,
                ),
            ),
            models.UniqueConstraint(
                fields=["external_id"],
                condition=~Q(external_id=""),
                name="panel_study_id_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study} at the panel"


class PanelSubmission(models.Model):
    """One participant's submission at the panel, as last read."""

    panel_study = models.ForeignKey(PanelStudy, models.PROTECT, related_name="submissions")
    external_id = models.CharField(max_length=64)
    # None if nobody arrived here with the participant's id.
    participation = models.ForeignKey(
        Participation, models.SET_NULL, null=True, related_name="panel_submissions"
    )
    status = models.CharField(max_length=20)
    code = models.CharField(max_length=100, blank=True, default="")
    started_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)
    return_requested_at = models.DateTimeField(null=True, blank=True)
    # When the site asked the panel, written before the request.
    approve_asked_at = models.DateTimeField(null=True, blank=True)
    return_asked_at = models.DateTimeField(null=True, blank=True)
    # Why a person has to decide; empty if none has to.
    question = models.CharField(max_length=300, blank=True, default="")
    # Bonuses there, as last read.
    bonuses_there = MoneyField(default=NOTHING)
    # When a round read it first. Payouts left the participant out from then on.
    known_since = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["panel_study", "external_id"], name="panel_submission_once"
            ),
        ]

    def __str__(self) -> str:
        return f"submission {self.pk}"


class BatchState(models.TextChoices):
    PLANNED = "planned"
    SET_UP = "set up"
    # Written before the request that pays. It is never sent again.
    SENDING = "sending"
    # The panel has taken the request, and pays in the following minutes.
    SENT = "sent"
    # The answer to the request that pays was lost, or the panel does not list the bonuses: a person
    # decides.
    UNCLEAR = "unclear"
    PAID = "paid"
    REFUSED = "refused"


class BonusBatch(models.Model):
    """Bonuses that the panel pays with one request."""

    panel_study = models.ForeignKey(PanelStudy, models.PROTECT, related_name="batches")
    state = models.CharField(max_length=10, choices=BatchState, default=BatchState.PLANNED)
    external_id = models.CharField(max_length=64, blank=True, default="")
    fees = MoneyField(default=NOTHING)
    tax = MoneyField(default=NOTHING)
    problem = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField()
    sending_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # The operator who decided an unclear batch.
    decided_by = models.CharField(max_length=150, blank=True, default="")

    class Meta:
        verbose_name_plural = "bonus batches"
        constraints = [
            models.CheckConstraint(
                name="batch_is_sent_with_its_time",
                condition=Q(state__in=[BatchState.PLANNED, BatchState.SET_UP, BatchState.REFUSED])
                | Q(sending_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"bonus batch {self.pk}"


class PaymentKind(models.TextChoices):
    REWARD = "reward"
    SCREEN_OUT = "screen-out"
    BONUS = "bonus"


class PanelPayment(models.Model):
    """A payment of the panel to one participant: reward, reward of a screen-out, or bonus."""

    submission = models.ForeignKey(PanelSubmission, models.PROTECT, related_name="payments")
    kind = models.CharField(max_length=10, choices=PaymentKind)
    amount = MoneyField()
    # A bonus's batch; None for what the panel pays by itself.
    batch = models.ForeignKey(BonusBatch, models.PROTECT, null=True, related_name="payments")
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="panel_payment_is_positive", condition=Q(amount__gt=0)),
            models.CheckConstraint(
                name="panel_bonus_has_batch",
                condition=Q(kind__in=[PaymentKind.REWARD, PaymentKind.SCREEN_OUT], batch=None)
                | Q(kind=PaymentKind.BONUS, batch__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["submission", "kind"],
                condition=Q(kind__in=[PaymentKind.REWARD, PaymentKind.SCREEN_OUT]),
                name="panel_reward_once",
            ),
            models.UniqueConstraint(
                fields=["submission", "batch"], name="panel_bonus_once_per_batch"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.amount}"


class PanelTransfer(models.Model):
    """What a row of the ledger records: a payment of the panel, or its charge for a batch."""

    transfer = models.OneToOneField(Transfer, models.PROTECT, related_name="at_panel")
    # The transfer's own.
    kind = models.CharField(max_length=16)
    payment = models.ForeignKey(PanelPayment, models.PROTECT, null=True, related_name="transfers")
    batch = models.ForeignKey(BonusBatch, models.PROTECT, null=True, related_name="transfers")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="panel_transfer_records_one_thing",
                condition=Q(payment__isnull=False, batch=None)
                | Q(payment=None, batch__isnull=False),
            ),
            models.UniqueConstraint(fields=["payment", "kind"], name="panel_payment_recorded_once"),
            models.UniqueConstraint(fields=["batch", "kind"], name="panel_batch_charged_once"),
        ]

    def __str__(self) -> str:
        return str(self.transfer)
