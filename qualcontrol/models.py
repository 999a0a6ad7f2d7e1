"""Judgements of responses and workers: spot checks, exclusions, and the log of decisions."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models import Campaign, Response, Task, Worker


class Verdict(models.TextChoices):
    GOOD = "GOOD"
    BAD = "BAD"


class SpotCheckQuerySet(models.QuerySet["SpotCheck"]):
    def open(self) -> Self:
        """Checks that wait for a reviewer; a response that was discarded needs none."""
        return self.filter(verdict="").exclude(response__status="DISCARDED")

    def of(self, campaign: Campaign) -> Self:
        # Checks are few and responses many: this form has the database begin with the checks.
        task = Task.objects.filter(pk=models.OuterRef("response__task"), campaign=campaign)
        return self.filter(models.Exists(task))


class SpotCheck(models.Model):
    """A response drawn for a reviewer's judgement."""

    response = models.OneToOneField(Response, models.PROTECT, related_name="spot_check")
    drawn_at = models.DateTimeField()
    verdict = models.CharField(max_length=4, choices=Verdict, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    judged_at = models.DateTimeField(null=True, blank=True)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="spot_checks"
    )

    objects = SpotCheckQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(verdict="", judged_at=None)
                | Q(verdict__in=["GOOD", "BAD"], judged_at__isnull=False),
                name="spot_check_judged_at_matches_verdict",
            ),
            models.CheckConstraint(
                condition=~Q(verdict="BAD") | ~Q(reason=""), name="spot_check_bad_has_a_reason"
            ),
        ]
        indexes = [
            models.Index(fields=["drawn_at"], name="spot_check_open", condition=Q(verdict=""))
        ]

    def __str__(self) -> str:
        return f"{self.response}: {self.get_verdict_display() or 'open'}"


class ExclusionQuerySet(models.QuerySet["Exclusion"]):
    def in_force(self) -> Self:
        return self.filter(lifted_at=None)


class Exclusion(models.Model):
    """A worker kept out of a campaign; what they wrote was discarded."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="exclusions")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="exclusions")
    reason = models.CharField(max_length=300)
    excluded_at = models.DateTimeField()
    lifted_at = models.DateTimeField(null=True, blank=True)

    objects = ExclusionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "worker"],
                condition=Q(lifted_at=None),
                name="exclusion_in_force_once",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="exclusion_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.campaign}"


class Act(models.TextChoices):
    JUDGE_GOOD = "JUDGE_GOOD", "judged good"
    JUDGE_BAD = "JUDGE_BAD", "judged bad"
    DISCARD = "DISCARD", "discarded"
    RESTORE = "RESTORE", "restored"
    EXCLUDE = "EXCLUDE", "excluded"
    REINSTATE = "REINSTATE", "reinstated"
    REJECT = "REJECT", "to be rejected"


class Decision(models.Model):
    """A line of the log: who did what to which response or worker, when and why. Only appended."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="decisions")
    act = models.CharField(max_length=10, choices=Act)
    response = models.ForeignKey(
        Response, models.PROTECT, null=True, blank=True, related_name="decisions"
    )
    worker = models.ForeignKey(
        Worker, models.PROTECT, null=True, blank=True, related_name="decisions"
    )
    reason = models.CharField(max_length=1024, blank=True)
    # Empty where the campaign's own policy decided.
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="decisions"
    )
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(response__isnull=False) | Q(worker__isnull=False),
                name="decision_has_a_subject",
            ),
            models.CheckConstraint(
                condition=~Q(act__in=["REJECT", "EXCLUDE"]) | ~Q(reason=""),
                name="decision_against_a_worker_has_a_reason",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "act"], name="decision_by_act")]

    def __str__(self) -> str:
        return f"{self.get_act_display()}: {self.response or self.worker}"
