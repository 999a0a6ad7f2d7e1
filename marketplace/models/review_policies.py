"""Results and actions of review policies."""

from django.db import models

from marketplace import ids

from .hits import Hit


class ReviewLevel(models.TextChoices):
    ASSIGNMENT = "Assignment"
    HIT = "HIT"


class ReviewResult(models.Model):
    """One result of a review policy."""

    hit = models.ForeignKey(Hit, models.PROTECT, related_name="review_results")
    level = models.CharField(max_length=10, choices=ReviewLevel)
    action_id = models.CharField(max_length=64, default=ids.entity_id)
    subject_id = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=20)
    question_id = models.CharField(max_length=255, blank=True, default="")
    key = models.CharField(max_length=60)
    value = models.TextField()

    def __str__(self) -> str:
        return f"{self.key} {self.value}"


class ReviewAction(models.Model):
    """One action that a review policy took or attempted."""

    hit = models.ForeignKey(Hit, models.PROTECT, related_name="review_actions")
    level = models.CharField(max_length=10, choices=ReviewLevel)
    action_id = models.CharField(max_length=64, default=ids.entity_id)
    name = models.CharField(max_length=40)
    target_id = models.CharField(max_length=64)
    target_type = models.CharField(max_length=20)
    status = models.CharField(max_length=12)
    completed_at = models.DateTimeField()
    result = models.TextField(blank=True, default="")
    error_code = models.CharField(max_length=60, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.name} {self.status}"
