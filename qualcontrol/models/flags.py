"""Stored flags of responses, and the keys by which near-copies are found."""

from django.db import models
from django.db.models import Q

from annotate.models import Campaign, Response, Worker


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
