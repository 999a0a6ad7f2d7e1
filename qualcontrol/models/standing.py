"""What a campaign knows of its workers: counts of their work, and the figures made from them."""

from typing import Any, Self

from django.db import models

from annotate.models import Campaign, Worker


class Weights(models.Model):
    """What the risk model learned from a campaign as a whole: how usual each flag is, how many
    workers are careless, and in which manners. The figures of its workers are made with it."""

    campaign = models.OneToOneField(
        Campaign, models.CASCADE, primary_key=True, related_name="weights"
    )
    values: Any = models.JSONField(
        null=True,
        help_text="as qualcontrol.risk gives and takes them; empty: nothing learned yet",
    )
    # Grows with each change of the standings, and tells whether anything came after the learning.
    revision = models.PositiveIntegerField(default=0)
    learned_at_revision = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "weights"

    def __str__(self) -> str:
        return f"weights of {self.campaign}"


class StandingQuerySet(models.QuerySet["Standing"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(campaign=campaign)

    def worth_most_first(self) -> Self:
        """The order in which workers' responses are worth a check."""
        return self.order_by("-worth", "worker")


class Standing(models.Model):
    """A worker's responses in a campaign, counted by their flags, their place in the worker's
    work, and their verdicts, and the figure that comes of it. Kept because a reviewer's next
    caption must not wait for a count of a hundred thousand rows; `recount_standings` makes all
    anew, and a test compares."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="standings", db_index=False)
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="standings")
    # One list for each group of like responses: block, codes, unjudged, good, bad.
    tally: Any = models.JSONField(default=list, blank=True)
    responses = models.PositiveIntegerField(default=0)
    good = models.PositiveIntegerField(default=0, help_text="responses judged good")
    bad = models.PositiveIntegerField(default=0, help_text="responses judged bad")
    risk = models.FloatField(default=0, help_text="probability of being over the limit")
    share = models.FloatField(default=0, help_text="expected share of bad responses")
    # Until a figure is made the share may be anything.
    low = models.FloatField(default=0, help_text="the share's interval of 90 % probability, from")
    high = models.FloatField(default=1, help_text="and to")
    worth = models.FloatField(default=0, help_text="of the next check of theirs")
    # What moved the risk: one object for each, `sentence` and `effect`.
    because: Any = models.JSONField(default=list, blank=True)
    # Not counted but decided: bad verdicts that a person knew of when they let the worker go on.
    # The campaign's policy does not act against the worker again until there are more.
    forgiven = models.PositiveIntegerField(default=0)

    objects = StandingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "worker"], name="standing_once_per_worker"),
            models.CheckConstraint(
                condition=models.Q(responses__gte=models.F("good") + models.F("bad")),
                name="standing_verdicts_within_responses",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "-worth"], name="standing_worth_most")]

    def __str__(self) -> str:
        return f"{self.worker} in {self.campaign}"


class StandingChange(models.Model):
    """That a worker's standing is to be counted anew. A row is added with each change, and taken
    away by the count that saw it; so nobody waits for a lock to say that something changed."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="+")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="+", db_index=False)

    def __str__(self) -> str:
        return f"{self.worker} in {self.campaign}"
