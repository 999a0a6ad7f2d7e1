"""The decision log, and submitted assignments that are not paid until a person decides."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models import Campaign, Response, Submission, Worker
from qualcontrol.models.checks import OfCampaign


class Act(models.TextChoices):
    JUDGE_GOOD = "JUDGE_GOOD", "judged good"
    JUDGE_BAD = "JUDGE_BAD", "judged bad"
    TAKE_BACK = "TAKE_BACK", "verdict taken back"
    DISCARD = "DISCARD", "discarded"
    RESTORE = "RESTORE", "restored"
    EXCLUDE = "EXCLUDE", "excluded"
    REINSTATE = "REINSTATE", "reinstated"
    REJECT = "REJECT", "to be rejected"
    PAY = "PAY", "to be paid"
    PROPOSE = "PROPOSE", "proposed for exclusion"
    DECLINE = "LEAVE", "proposal dismissed"
    PAUSE = "PAUSE", "paused"
    RESUME = "LET_GO_ON", "pause ended"
    APPEAL = "APPEAL", "appealed"
    ANSWER = "ANSWER", "appeal answered"
    BUDGET = "BUDGET", "budget raised"
    REWARD = "REWARD", "reward changed"
    SHARE = "SHARE", "share of spot checks raised"
    PUBLISH = "PUBLISH", "campaign published"
    HALT = "HALT", "campaign paused"
    CONTINUE = "CONTINUE", "campaign resumed"
    FINISH = "FINISH", "campaign finished"


# Decisions about the campaign as a whole.
OF_THE_CAMPAIGN = [
    Act.BUDGET,
    Act.REWARD,
    Act.SHARE,
    Act.PUBLISH,
    Act.HALT,
    Act.CONTINUE,
    Act.FINISH,
]
BY_POLICY, BY_COMMAND, BY_WORKER = "campaign", "command", "worker"
# Who made a decision without an actor, if not the policy.
WITHOUT_ACTOR: dict[str, str] = {
    **dict.fromkeys([*OF_THE_CAMPAIGN, Act.JUDGE_GOOD, Act.JUDGE_BAD], BY_COMMAND),
    Act.APPEAL: BY_WORKER,
}
# The reason of a discard without an actor that the worker asked for.
WITHDRAWN = "withdrawn"
# How the reason of a discard begins if the command `judge` caused it and named no reviewer.
BY_FILE = "judged by file"


class Decision(models.Model):
    """An entry of the decision log: who did what to which response or worker, or to the campaign,
    when and why.
    Database triggers refuse changes (`append_only`)."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="decisions")
    act = models.CharField(max_length=10, choices=Act)
    response = models.ForeignKey(
        Response, models.PROTECT, null=True, blank=True, related_name="decisions"
    )
    worker = models.ForeignKey(
        Worker, models.PROTECT, null=True, blank=True, related_name="decisions"
    )
    reason = models.CharField(max_length=1024, blank=True)
    # Empty if the campaign's policy or a command decided, or if a worker appealed or withdrew.
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="decisions"
    )
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(response__isnull=False)
                | Q(worker__isnull=False)
                | Q(act__in=OF_THE_CAMPAIGN),
                name="decision_has_a_subject",
            ),
            models.CheckConstraint(
                condition=~Q(act__in=[Act.REJECT, Act.EXCLUDE]) | ~Q(reason=""),
                name="decision_against_a_worker_has_a_reason",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "act"], name="decision_by_act")]

    def __str__(self) -> str:
        return f"{self.get_act_display()}: {self.response or self.worker or self.campaign}"

    @property
    def about_worker(self) -> Worker | None:
        """The worker whom it is about, directly or through a response. Load `worker` and
        `response__worker` before."""
        return self.worker or (self.response.worker if self.response else None)

    @property
    def decided_by(self) -> str:
        """The actor's user name, BY_COMMAND, BY_WORKER or BY_POLICY. Load `actor` before."""
        if self.actor:
            return self.actor.get_username()
        if self.act == Act.DISCARD and self.reason == WITHDRAWN:
            return BY_WORKER
        if self.act == Act.DISCARD and self.reason.startswith(BY_FILE):
            return BY_COMMAND
        return WITHOUT_ACTOR.get(self.act, BY_POLICY)


class HeldCause(models.TextChoices):
    NO_TASK = "NO_TASK", "fits no task"
    RULES = "RULES", "breaks the campaign's rules"


class HeldOutcome(models.TextChoices):
    """How a hold ended. The decision log names the person."""

    PAY = "PAY", "to be paid"
    REJECT = "REJECT", "to be rejected"
    JUDGED = "JUDGED", "judged: paid as other work is"
    LAPSED = "LAPSED", "decided at the marketplace before anybody decided here"


class HeldPaymentQuerySet(OfCampaign["HeldPayment"]):
    def open(self) -> Self:
        """Holds without a decision."""
        return self.filter(ended_at=None)

    def against_worker(self) -> Self:
        """Answers that fit no task and that nobody accepted. One of a lost assignment counts as
        never sent."""
        sent = self.filter(cause=HeldCause.NO_TASK, submission__lost_at=None)
        return sent.exclude(outcome=HeldOutcome.PAY)


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
