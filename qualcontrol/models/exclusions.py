"""Exclusions and pauses of workers, proposals to exclude one, and appeals."""

from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q

from annotate.models import Campaign, Response, Worker
from qualcontrol.models.checks import SpotCheck


class KeptOutQuerySet(models.QuerySet[Any]):
    def in_force(self) -> Self:
        return self.filter(lifted_at=None)


class KeptOut(models.Model):
    """A worker who gets no new tasks of a campaign until `lifted_at` is set."""

    reason = models.CharField(max_length=300)
    lifted_at = models.DateTimeField(null=True, blank=True)

    objects = KeptOutQuerySet.as_manager()

    class Meta:
        abstract = True
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "worker"],
                condition=Q(lifted_at=None),
                name="%(class)s_in_force_once",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="%(class)s_has_a_reason"),
        ]


class Exclusion(KeptOut):
    """A worker excluded from a campaign. The worker's responses are discarded."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="exclusions")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="exclusions")
    excluded_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.worker} in {self.campaign}"


class Pause(KeptOut):
    """A worker who gets no new tasks for now. The worker's responses stay in the data."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="pauses")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="pauses")
    # The policy ends only pauses that it made itself.
    is_by_policy = models.BooleanField(default=False)
    paused_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.worker} in {self.campaign}"


class QuestionQuerySet(models.QuerySet[Any]):
    def open(self) -> Self:
        """Those without an answer."""
        return self.filter(answered_at=None)


class Proposal(models.Model):
    """The policy's proposal to exclude a worker, which a person decides."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="proposals")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="proposals")
    reason = models.CharField(max_length=300)
    proposed_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)

    objects = QuestionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "worker"],
                condition=Q(answered_at=None),
                name="proposal_open_once",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="proposal_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.campaign}"


class Appeal(models.Model):
    """What an excluded worker wrote about the exclusion, and the answer."""

    exclusion = models.ForeignKey(Exclusion, models.PROTECT, related_name="appeals")
    text = models.TextField()
    received_at = models.DateTimeField()
    answer = models.TextField(blank=True)
    is_granted = models.BooleanField(default=False)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    objects = QuestionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["exclusion"], condition=Q(answered_at=None), name="appeal_open_once"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="appeal_has_a_text"),
            models.CheckConstraint(
                condition=Q(answered_at=None, answer="", is_granted=False)
                | (Q(answered_at__isnull=False) & ~Q(answer="")),
                name="appeal_answered_at_matches_answer",
            ),
        ]

    def __str__(self) -> str:
        return f"appeal of {self.exclusion}"


class WorkerState(models.TextChoices):
    """A worker's state in a campaign. Of several states, the most serious one counts."""

    ACTIVE = "active", "active"
    WAITING = "waiting", "waiting for verdicts"
    PAUSED = "paused", "paused"
    PROPOSED = "proposed", "proposed for exclusion"
    EXCLUDED = "excluded", "excluded"


def worker_state(campaign: Campaign) -> models.Case:
    """The WorkerState of a query's workers."""
    is_proposed = Exists(Proposal.objects.open().filter(campaign=campaign, worker=OuterRef("pk")))
    return models.Case(
        models.When(_is_excluded(campaign), then=models.Value(WorkerState.EXCLUDED)),
        models.When(is_proposed, then=models.Value(WorkerState.PROPOSED)),
        models.When(_is_paused(campaign), then=models.Value(WorkerState.PAUSED)),
        models.When(_waits(campaign), then=models.Value(WorkerState.WAITING)),
        default=models.Value(WorkerState.ACTIVE),
    )


def kept_out(campaign: Campaign) -> models.QuerySet[Worker]:
    """The workers who get no new tasks of the campaign: excluded, paused, or waiting for
    verdicts."""
    return Worker.objects.filter(_is_excluded(campaign) | _is_paused(campaign) | _waits(campaign))


def waiting_for_verdicts(campaign: Campaign) -> models.QuerySet[Worker]:
    """The workers who have submitted as many responses as the campaign's trial allows, whose first
    ones are not all judged, and who are neither excluded nor paused. This is computed from the
    verdicts, so they can continue as soon as the last verdict is given."""
    waiting = Worker.objects.filter(_waits(campaign))
    return waiting.exclude(_is_excluded(campaign) | _is_paused(campaign))


def _is_excluded(campaign: Campaign) -> Q:
    theirs = {"campaign": campaign, "worker": OuterRef("pk")}
    return Q(Exists(Exclusion.objects.in_force().filter(**theirs)))


def _is_paused(campaign: Campaign) -> Q:
    return Q(Exists(Pause.objects.in_force().filter(campaign=campaign, worker=OuterRef("pk"))))


def _waits(campaign: Campaign) -> Q:
    trial = campaign.config.review.trial
    if not trial:
        return Q(pk__in=[])
    worker = OuterRef("pk")
    firsts = SpotCheck.objects.of(campaign).open().filter(is_first=True, response__worker=worker)
    submitted = Response.objects.of(campaign).filter(worker=worker)
    last_of_trial = submitted.order_by("pk")[trial - 1 : trial]
    return Q(Exists(firsts), Exists(last_of_trial))
