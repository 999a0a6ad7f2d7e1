"""Releases. The data are copied into these tables, so that a release never changes."""

from functools import cached_property
from typing import Self

from django.conf import settings
from django.contrib.contenttypes.fields import GenericRelation
from django.db import models
from django.db.models import OuterRef, Q
from django.urls import reverse

from accounts.models import Team, TeamRows
from annotate.campaign_file import CampaignConfig
from annotate.models.campaigns import Campaign, Task
from annotate.models.responses import Response
from background.models import Job


class ReleaseQuerySet(TeamRows["Release"]):
    team_path = "campaign__team"

    def of_campaign(self, campaign: Campaign) -> Self:
        """Releases of the campaign, also together with others of its family."""
        if not campaign.family:
            return self.filter(campaign=campaign)
        together = Q(campaign__team=campaign.team_id, campaign__family=campaign.family)
        return self.filter(Q(campaign=campaign) | (together & ~Q(languages=[])))

    def of_outer_campaign(self) -> Self:
        """The releases of an outer query's campaigns, as in `of_campaign`."""
        together = Q(campaign__team=OuterRef("team"), campaign__family=OuterRef("family"))
        together &= ~Q(campaign__family="") & ~Q(languages=[])
        return self.filter(Q(campaign=OuterRef("pk")) | together)

    def describe_regions(self) -> bool:
        """Whether one of these releases has captions of parts of images."""
        return self.filter(images__task__serial__gt=0).exists()

    def one_language(self) -> str:
        """BCP 47 tag of the language that all captions of these releases are in; empty if there
        is none."""
        releases = self.select_related("campaign")
        tags = {tag for release in releases for tag in release.all_languages}
        return tags.pop() if len(tags) == 1 else ""


class Release(models.Model):
    """The responses of a campaign as drawn once, with the seed of the draw."""

    name = models.SlugField(max_length=100, unique=True)
    # Of a release of several languages, the campaign of the first one.
    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="releases")
    # BCP 47 tags of a release of several languages; empty if it is of one campaign.
    languages = models.JSONField(default=list, blank=True)
    seed = models.BigIntegerField()
    is_partial = models.BooleanField(default=False)
    # Statistics of the whole release, computed when it was made; they depend on the task type.
    figures = models.JSONField(default=dict, blank=True)
    # What the campaign was: `campaign_file`, `selection`, `caption_set`, `software_version` and
    # `domains` (annotate.exports.records); and where the responses come from: `imports`, the files
    # that they were imported from, and if there are any, `collected`, the number of those collected
    # here; `writing`, how their texts came (`annotate.characters`); and `spot_checks`, for each
    # campaign with checks its `language` and the estimated share of bad responses.
    context = models.JSONField()
    # How the images were chosen whose captions are hidden: {"splits": […]}, or {"share": …,
    # "seed": …}. Null if the release is public.
    hidden = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField()
    jobs = GenericRelation(Job, "about_id", "about_type")

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("annotate:release", args=[self.name])

    @property
    def team(self) -> Team:
        return self.campaign.team

    @cached_property
    def config(self) -> CampaignConfig:
        """The campaign file as it was when the release was made; a draft can change since."""
        return CampaignConfig.model_validate(self.context["campaign_file"])

    @cached_property
    def configs(self) -> list[CampaignConfig]:
        """The campaign files of all its campaigns, which may differ, as they were then."""
        files = self.context.get("campaign_files", {}).values()
        return [CampaignConfig.model_validate(file) for file in files] or [self.config]

    @property
    def language(self) -> str:
        """BCP 47 tag of the captions' language, or of the first of several."""
        return self.campaign.config.language

    @property
    def all_languages(self) -> list[str]:
        """BCP 47 tags of all languages of the captions."""
        return self.languages or [self.language]

    @property
    def source(self) -> str:
        """The name of the campaign, or of the family of campaigns, as it was released."""
        return self.campaign.family if self.languages else self.config.name


class ReleasedImage(models.Model):
    """An image of a release, or one of its captions as a subject, with its record for exports."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="images")
    task = models.ForeignKey(Task, models.PROTECT, related_name="released")
    number = models.PositiveIntegerField(help_text="its id in exports")
    # The image as captions.json has it; task types add keys of their own.
    record = models.JSONField()
    # Further facts: author, source page, boxes, keywords (annotate.exports.records).
    details = models.JSONField()
    # Captions of hidden images are not in public files, pages or API answers.
    is_hidden = models.BooleanField(default=False)

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
    REASON = "REASON", "why the image cannot be described, in place of a caption"


class PublicCaptions(models.Manager["ReleasedCaption"]):
    """Captions of images that are not hidden."""

    def get_queryset(self) -> models.QuerySet["ReleasedCaption"]:
        return super().get_queryset().filter(image__is_hidden=False)


class ReleasedCaption(models.Model):
    """A caption of a release; the worker's number is valid in this release only."""

    image = models.ForeignKey(ReleasedImage, models.CASCADE, related_name="captions")
    response = models.ForeignKey(Response, models.PROTECT, related_name="released")
    worker_number = models.PositiveIntegerField()
    role = models.CharField(max_length=9, choices=Role)
    text = models.TextField()
    # As in Caption.
    remark = models.TextField(blank=True, default="", db_default="")
    # The given captions that the worker rated first: each its `text`, `rating` and `label`.
    ratings = models.JSONField(null=True, blank=True)
    # BCP 47 tag, in releases of several languages only.
    language = models.CharField(max_length=20, blank=True, default="", db_default="")
    # As in Response. Null if unknown, for example of imported captions.
    seconds = models.PositiveIntegerField(null=True, blank=True)
    # Whether the worker saw the keywords. Null if unknown.
    primed = models.BooleanField(null=True, blank=True)
    # The file that the caption was imported from, as its place in the release's `imports`, from 1.
    # Null if the caption was collected here.
    import_number = models.PositiveIntegerField(null=True, blank=True)

    # The default manager has no hidden captions, so that code which does not ask for them never
    # shows them. That of `image.captions` is the same.
    objects = PublicCaptions()
    with_hidden = models.Manager["ReleasedCaption"]()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["image", "language", "worker_number"],
                name="released_caption_by_different_workers",
            ),
            models.UniqueConstraint(
                fields=["image", "language"],
                condition=Q(role=Role.BASELINE),
                name="released_one_baseline",
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
    # As in ReleasedCaption.
    seconds = models.PositiveIntegerField(null=True, blank=True)

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


class HiddenExport(models.Model):
    """An export of a release's hidden captions: who wrote the files, and when.

    Database triggers refuse changes (`shared.database.triggers`).
    """

    release = models.ForeignKey(Release, models.PROTECT, related_name="hidden_exports")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="hidden_exports"
    )
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"hidden captions of {self.release} by {self.actor}"
