"""Stored flags of responses, the keys by which near-copies are found, and what the risk model
stores: counts and risk of each worker, and what it learned of a campaign."""

from typing import Any, Self

from django.db import models
from django.db.models import Q

from annotate.models import Campaign, Response, Worker
from qualcontrol.models.checks import OfCampaign


class Assessment(models.Model):
    """The flags of one response. Flags that compare it with the image's other captions are computed
    again as captions arrive; the others stay."""

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="assessment"
    )
    # Copied from the response, so that one index serves a campaign's queries.
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, related_name="assessments", db_index=False
    )
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="assessments", db_index=False)
    position = models.PositiveIntegerField(help_text="place in the worker's work, from 1")
    # A list of objects with `code`, `value`, `threshold` and `why`.
    flags = models.JSONField(default=list, blank=True)
    codes = models.CharField(max_length=400, blank=True, help_text="the flags' codes, in order")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "worker", "position"], name="assessment_position_once"
            ),
            models.CheckConstraint(
                condition=Q(position__gt=0), name="assessment_position_from_one"
            ),
        ]
        indexes = [
            models.Index(
                fields=["campaign", "worker", "codes", "position"], name="assessment_by_codes"
            )
        ]

    def __str__(self) -> str:
        return f"{self.response}: {self.codes or 'no flags'}"


class CopyKey(models.Model):
    """A key under which near-copies find a caption: a hash that captions with much text in common
    probably share (see `qualcontrol.flags.copies`)."""

    key = models.BigIntegerField()
    response = models.ForeignKey(Response, models.CASCADE, related_name="copy_keys", db_index=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key", "response"], name="copy_key_once"),
        ]

    def __str__(self) -> str:
        return f"{self.key:x} of {self.response}"


class Copying(models.Model):
    """A response that is a near-copy of another worker's earlier response."""

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="copying"
    )
    original = models.ForeignKey(Response, models.CASCADE, related_name="copies")
    similarity = models.FloatField(help_text="of the two texts, 0 to 1")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(response=models.F("original")), name="copying_of_another"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.response} copies {self.original}"


class LearnedValues(models.Model):
    """The risk model's values from a whole campaign, such as how usual each flag is. The risks of
    single workers are computed with it."""

    campaign = models.OneToOneField(
        Campaign, models.CASCADE, primary_key=True, related_name="learned_values"
    )
    values: Any = models.JSONField(
        null=True,
        help_text="Learned values, as in qualcontrol.risk; empty if nothing was learned yet.",
    )
    # Grows with each change of the campaign's worker risks. If it differs from the revision that
    # was learned from, there is something new to learn.
    revision = models.PositiveIntegerField(default=0)
    learned_at_revision = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "learned values"

    def __str__(self) -> str:
        return f"learned values of {self.campaign}"


class WorkerRiskQuerySet(OfCampaign["WorkerRisk"]):
    def most_valuable_first(self) -> Self:
        """Ordered by the expected value of the worker's next check, the highest first."""
        return self.order_by("-expected_value", "worker")


class WorkerRisk(models.Model):
    """The counts and the risk of one worker in one campaign.

    They are stored because counting a hundred thousand responses would make a reviewer wait for the
    next caption. `recount_worker_risks` computes all of them from scratch.
    """

    campaign = models.ForeignKey(
        Campaign, models.CASCADE, related_name="worker_risks", db_index=False
    )
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="worker_risks")
    # A list of [block, codes, unjudged, good, bad], one for each `qualcontrol.risk.model.Group`.
    tally: Any = models.JSONField(default=list, blank=True)
    responses = models.PositiveIntegerField(default=0)
    good = models.PositiveIntegerField(default=0, help_text="Responses judged good.")
    bad = models.PositiveIntegerField(default=0, help_text="Responses judged bad.")
    risk = models.FloatField(
        default=0, help_text="Probability that the bad share is above the tolerated share."
    )
    share = models.FloatField(default=0, help_text="Expected share of bad responses.")
    low = models.FloatField(default=0, help_text="Lower end of the share's 90% interval.")
    # Before the first estimate the share can be anything, so the interval is from 0 to 1.
    high = models.FloatField(default=1, help_text="Upper end of the share's 90% interval.")
    expected_value = models.FloatField(
        default=0,
        help_text="Of the worker's next check: bad responses removed per check. Negative if no "
        "check is left.",
    )
    # A list of objects with `sentence` and `effect`, as in `qualcontrol.risk.model.Reason`.
    reasons: Any = models.JSONField(default=list, blank=True)
    # A decision, not a count: the bad verdicts that existed when a person let the worker continue.
    # The policy takes no action against the worker until there are more.
    forgiven = models.PositiveIntegerField(default=0)

    objects = WorkerRiskQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "worker"], name="worker_risk_once_per_worker"
            ),
            models.CheckConstraint(
                condition=models.Q(responses__gte=models.F("good") + models.F("bad")),
                name="worker_risk_verdicts_within_responses",
            ),
        ]
        indexes = [
            models.Index(fields=["campaign", "-expected_value"], name="worker_risk_most_valuable")
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.campaign}"

    @property
    def favours_worker(self) -> bool:
        """Whether responses were judged and the risk is below one half."""
        return self.good + self.bad > 0 and self.risk < 0.5


class WorkerRiskChange(models.Model):
    """A request to count a worker's responses again.

    Every change adds a row, and the refresh that counts the worker deletes it. Adding a row waits
    for no lock, unlike an update of the worker's risk.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="+")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="+", db_index=False)

    def __str__(self) -> str:
        return f"{self.worker} in {self.campaign}"
