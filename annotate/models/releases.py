"""Releases. The data are copied into these tables, so that a release never changes."""

from django.db import models
from django.db.models import Q
from django.urls import reverse

from annotate.models.campaigns import Campaign, Task
from annotate.models.responses import Response


class Release(models.Model):
    """The responses of a campaign as drawn once, with the seed of the draw."""

    name = models.SlugField(max_length=100, unique=True)
    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="releases")
    seed = models.BigIntegerField()
    is_partial = models.BooleanField(default=False)
    # Statistics of the whole release, computed when it was made; they depend on the task type.
    figures = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("annotate:release", args=[self.name])


class ReleasedImage(models.Model):
    """An image of a release, or one of its captions as a subject, with its record for exports."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="images")
    task = models.ForeignKey(Task, models.PROTECT, related_name="released")
    number = models.PositiveIntegerField(help_text="its id in exports")
    record = models.JSONField()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["release", "task"], name="released_image_once"),
            models.UniqueConstraint(fields=["release", "number"], name="released_image_numbered"),
        ]

    def __str__(self) -> str:
        return f"{self.release} {self.number}"


class Role(models.TextChoices):
    REFERENCE = "REFERENCE"
    BASELINE = "BASELINE", "human baseline"


class ReleasedCaption(models.Model):
    """A caption of a release; the worker's number is valid in this release only."""

    image = models.ForeignKey(ReleasedImage, models.CASCADE, related_name="captions")
    response = models.ForeignKey(Response, models.PROTECT, related_name="released")
    worker_number = models.PositiveIntegerField()
    role = models.CharField(max_length=9, choices=Role)
    text = models.TextField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["image", "worker_number"], name="released_caption_by_different_workers"
            ),
            models.UniqueConstraint(
                fields=["image"], condition=Q(role=Role.BASELINE), name="released_one_baseline"
            ),
            models.UniqueConstraint(fields=["image", "response"], name="released_caption_once"),
        ]

    def __str__(self) -> str:
        return self.text


class ReleasedFile(models.Model):
    """A chunk of a release's file, written when the release was made.

    A file consists of its chunks in the order of their keys.
    """

    release = models.ForeignKey(Release, models.CASCADE, related_name="files", db_index=False)
    name = models.CharField(max_length=100)
    text = models.TextField()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["release", "name"], name="released_file_by_name")]

    def __str__(self) -> str:
        return f"{self.release} {self.name}"


class ReleasedAnswer(models.Model):
    """A worker's response in a release, for task types whose answers are in records and files.

    The worker's number is valid in this release only.
    """

    image = models.ForeignKey(ReleasedImage, models.CASCADE, related_name="answers")
    response = models.ForeignKey(Response, models.PROTECT, related_name="released_answers")
    worker_number = models.PositiveIntegerField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["image", "worker_number"], name="released_answer_by_different_workers"
            ),
            models.UniqueConstraint(fields=["image", "response"], name="released_answer_once"),
        ]

    def __str__(self) -> str:
        return f"{self.image} by {self.worker_number}"
