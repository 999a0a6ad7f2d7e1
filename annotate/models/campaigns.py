"""A campaign and its tasks."""

from functools import cached_property
from typing import Self

from django.db import models
from django.db.models import Q
from django.urls import reverse

from annotate.campaign_file import CampaignConfig
from annotate.models.captions import CaptionSet, GivenCaption
from annotate.models.images import Image
from annotate.models.selections import Selection


class CampaignStatus(models.TextChoices):
    DRAFT = "DRAFT"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FINISHED = "FINISHED"


class Campaign(models.Model):
    """One collection of responses, on the images of a selection or on the captions of a set, at one
    marketplace."""

    slug = models.SlugField(max_length=100, unique=True)
    kind = models.CharField(max_length=20, help_text="a name of annotate.kinds")
    selection = models.ForeignKey(
        Selection, models.PROTECT, null=True, blank=True, related_name="campaigns"
    )
    caption_set = models.ForeignKey(
        CaptionSet, models.PROTECT, null=True, blank=True, related_name="campaigns"
    )
    status = models.CharField(
        max_length=8, choices=CampaignStatus, default=CampaignStatus.DRAFT, db_index=True
    )
    # Bound at creation: `local`, `sandbox`, `production` or a URL (see settings.MTURK_ENDPOINT).
    endpoint = models.CharField(max_length=300)
    budget = models.DecimalField(max_digits=10, decimal_places=2, help_text="US dollars, with fees")
    # The campaign file as it was checked, presets filled in; `config` reads it.
    config_json = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(budget__gte=0), name="campaign_budget_not_negative"),
            models.CheckConstraint(
                condition=Q(selection__isnull=False, caption_set=None)
                | Q(selection=None, caption_set__isnull=False),
                name="campaign_on_images_or_captions",
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("hits:campaign", args=[self.slug])

    @property
    def material(self) -> Selection | CaptionSet:
        """What the campaign works on: its selection of images, or its set of captions."""
        found = self.selection or self.caption_set
        assert found is not None, "the database keeps one of the two"
        return found

    @cached_property
    def config(self) -> CampaignConfig:
        """The campaign file as an object."""
        return CampaignConfig.model_validate(self.config_json)


class TaskQuerySet(models.QuerySet["Task"]):
    def unfinished(self) -> Self:
        """Tasks with fewer counting responses than wanted, whatever pages are open."""
        return self.filter(answers_missing__gt=0)

    def open_to(self, worker: models.Model | None) -> Self:
        """Unfinished tasks that the worker has no response to; None is a worker of whom nothing
        was submitted yet."""
        if worker is None:
            return self.unfinished()
        answered = worker.responses.filter(task=models.OuterRef("pk"))  # type: ignore[attr-defined]
        return self.unfinished().filter(~models.Exists(answered))

    def with_subject(self) -> Self:
        """Tasks with all that a page needs to show what they are about."""
        return self.select_related("campaign", "image", "subject")

    def emptiest_first(self) -> Self:
        """The order in which pages are given tasks: breadth first, then the campaign's order."""
        return self.order_by("-places_left", "number")


class Task(models.Model):
    """One image of a campaign, or one caption of it, which wants so many responses by that many
    workers."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="tasks")
    image = models.ForeignKey(Image, models.PROTECT, related_name="tasks")
    # Empty where the image itself is the subject; else a caption of that image.
    subject = models.ForeignKey(
        GivenCaption, models.PROTECT, null=True, blank=True, related_name="tasks"
    )
    number = models.PositiveIntegerField(help_text="place in the campaign's selection or set")
    wanted = models.PositiveSmallIntegerField()
    # Both are kept in the transaction of each claim and response, because a page must not count a
    # campaign's rows; `recount_tasks` computes them anew, and a test compares.
    # wanted − responses that count; below zero where more came in than were wanted.
    answers_missing = models.SmallIntegerField()
    # answers_missing − claims that take a place; below zero where more pages show the task than it
    # misses answers.
    places_left = models.SmallIntegerField()
    shows_keywords = models.BooleanField(default=True)
    # What a kind of task needs besides the image and the subject, for that kind to read.
    payload = models.JSONField(null=True, blank=True)

    objects = TaskQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "image"],
                condition=Q(subject=None),
                name="task_once_per_image",
            ),
            models.UniqueConstraint(fields=["campaign", "subject"], name="task_once_per_caption"),
            models.UniqueConstraint(fields=["campaign", "number"], name="task_numbered_once"),
            models.CheckConstraint(
                condition=Q(places_left__lte=models.F("answers_missing"))
                & Q(answers_missing__lte=models.F("wanted")),
                name="task_places_within_wanted",
            ),
        ]
        indexes = [
            models.Index(
                "campaign",
                models.F("places_left").desc(),
                "number",
                name="task_emptiest_first",
                condition=Q(answers_missing__gt=0),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} {self.number}: {self.subject or self.image}"
