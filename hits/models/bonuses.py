"""Bonuses that are paid for an assignment."""

from django.db import models
from django.db.models import Q

from hits.models.hits import Assignment


class Bonus(models.Model):
    """A payment beyond the reward. It is stored before it is sent, and sent only once."""

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="bonuses")
    token = models.CharField(max_length=64, unique=True)
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    fee = models.DecimalField(max_digits=8, decimal_places=2)
    reason = models.CharField(max_length=1024)
    planned_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "bonuses"
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="bonus_is_positive"),
            models.CheckConstraint(condition=~Q(reason=""), name="bonus_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"${self.amount} for {self.assignment}"
