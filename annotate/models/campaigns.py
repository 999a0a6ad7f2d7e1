"""Campaigns with their tasks, and drafts of campaigns."""

from functools import cached_property
from typing import Self

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.contenttypes.fields import GenericRelation
from django.db import models
from django.db.models import Q
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Least
from django.urls import reverse

from accounts.models import Team, TeamRows
from annotate.campaign_file import CampaignConfig
from annotate.models.images import Image
from annotate.models.selections import CaptionSet, GivenCaption, Selection
from background.models import Failure, Job, Notice, Webhook


class CampaignStatus(models.TextChoices):
    DRAFT = "DRAFT"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FINISHED = "FINISHED"


class CampaignQuerySet(TeamRows["Campaign"]):
    """Campaigns; a campaign's rows belong to its team."""

    def family_of(self, campaign: "Campaign") -> Self:
        """The campaigns in other languages that belong together with this one, and itself."""
        if not campaign.family:
            return self.filter(pk=campaign.pk)
        return self.filter(team=campaign.team_id, family=campaign.family).order_by("pk")

    def locked(self, pk: int) -> "Campaign":
        """Lock the campaign and return it; not its key, so that others can add rows that refer to
        it. A transaction that locks workers too locks the campaign first."""
        return self.select_for_update(no_key=True).get(pk=pk)


class Campaign(models.Model):
    """A collection of responses at one marketplace, about a selection or a caption set."""

    team = models.ForeignKey(Team, models.PROTECT, related_name="campaigns")
    slug = models.SlugField(max_length=100, unique=True)
    kind = models.CharField(max_length=20, help_text="a name of annotate.kinds")
    # The same in the campaigns that one file made for several languages, over the same images.
    family = models.CharField(max_length=100, blank=True, default="")
    selection = models.ForeignKey(
        Selection, models.PROTECT, null=True, blank=True, related_name="campaigns"
    )
    caption_set = models.ForeignKey(
        CaptionSet, models.PROTECT, null=True, blank=True, related_name="campaigns"
    )
    status = models.CharField(
        max_length=8, choices=CampaignStatus, default=CampaignStatus.DRAFT, db_index=True
    )
    # Never changed after creation: `local`, `sandbox`, `production` or a URL (see
    # settings.MTURK_ENDPOINT).
    endpoint = models.CharField(max_length=300)
    budget = models.DecimalField(max_digits=10, decimal_places=2, help_text="US dollars, with fees")
    # The validated campaign file with all defaults filled in; the property `config` parses it.
    config_json = models.JSONField()
    created_at = models.DateTimeField()
    # Images of the practice, which are not among those of the tasks.
    practice_images = models.ManyToManyField(Image, blank=True, related_name="practised_in")
    jobs = GenericRelation(Job, "about_id", "about_type")
    failures = GenericRelation(Failure, "about_id", "about_type")
    notices = GenericRelation(Notice, "about_id", "about_type")
    webhooks = GenericRelation(Webhook, "about_id", "about_type")

    objects = CampaignQuerySet.as_manager()

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
        indexes = [
            models.Index("team", "family", name="campaigns_of_family", condition=~Q(family="")),
        ]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse(settings.CAMPAIGN_PAGE, args=[self.slug])

    @property
    def material(self) -> Selection | CaptionSet:
        """The selection of images or the caption set that the campaign works on."""
        material = self.selection or self.caption_set
        assert material is not None, "the database keeps one of the two"
        return material

    @cached_property
    def config(self) -> CampaignConfig:
        """The parsed campaign file."""
        return CampaignConfig.model_validate(self.config_json)


def most_places(missing: Combinable) -> Least:
    """How many places a task with this many missing answers has for pages at the same time."""
    most = Coalesce("at_once", "wanted")
    return Least(missing, most, output_field=models.SmallIntegerField())


class TaskQuerySet(models.QuerySet["Task"]):
    def unfinished(self) -> Self:
        """Tasks that need more responses, regardless of claims."""
        return self.filter(answers_missing__gt=0)

    def workable(self) -> Self:
        """Unfinished tasks that workers may do now."""
        return self.unfinished().exclude(at_once=0)

    def open_to(self, worker: models.Model | None) -> Self:
        """Workable tasks without a response by this worker.

        None stands for a worker without submitted responses.
        """
        if worker is None:
            return self.workable()
        responses = self.model._meta.get_field("responses").related_model.objects  # type: ignore[union-attr]
        answered = responses.filter(worker=worker, task=models.OuterRef("pk"))
        return self.workable().filter(~models.Exists(answered))

    def with_subject(self) -> Self:
        """Tasks with the related rows that a page needs to show them."""
        return self.with_material().select_related("campaign")

    def with_material(self) -> Self:
        """Tasks with the image and the caption that a page shows. The caller has the campaign."""
        return self.select_related("image", "subject")

    def emptiest_first(self) -> Self:
        """The order in which pages get tasks: most places left first, then by number."""
        return self.order_by("-places_left", "number")


class Task(models.Model):
    """One image of a campaign, a part of it, or one caption, that needs responses by different
    workers."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="tasks")
    image = models.ForeignKey(Image, models.PROTECT, related_name="tasks")
    # Null if the task is about the image itself, else the caption of the image that it is about.
    subject = models.ForeignKey(
        GivenCaption, models.PROTECT, null=True, blank=True, related_name="tasks"
    )
    # Tells the tasks about one image apart, such as those about its regions.
    serial = models.PositiveIntegerField(default=0, help_text="0 if the image has one task")
    number = models.PositiveIntegerField(help_text="place in the campaign's selection or set")
    wanted = models.PositiveSmallIntegerField()
    # Both counters are updated in the transaction of each claim and response, so that a page does
    # not count a campaign's rows. `recount_tasks` recomputes them.
    answers_missing = models.SmallIntegerField()
    # answers_missing, but at most at_once, minus the claims that take a place. Below zero if more
    # pages show the task than it needs responses.
    places_left = models.SmallIntegerField()
    # How many answers are collected at the same time: 1 if they build on each other, 0 while the
    # last one waits for its verdict. Null if all are.
    at_once = models.PositiveSmallIntegerField(null=True, blank=True)
    # Whether pages show the image's keywords. Null if each claim decides it for its response.
    shows_keywords = models.BooleanField(null=True, default=True)
    # Further data of the task type, besides image and subject.
    payload = models.JSONField(null=True, blank=True)

    # Not a column: what the page or the answer says that this task was read for.
    primed: bool | None = None

    objects = TaskQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "image", "serial"],
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

    def is_primed(self, decided: bool | None, *, is_imported: bool = False) -> bool | None:
        """Whether a worker sees the keywords, if the claim or the imported file decided this; None
        if nobody knows."""
        return decided if is_imported or self.shows_keywords is None else self.shows_keywords


class WorkerPage(models.Model):
    """The task page as workers of a campaign read it, with its first task as the example. There is
    one for each change of its words, for example by an update of the software."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="worker_pages")
    html = models.TextField()
    text = models.TextField(help_text="the same as plain text")
    sha256 = models.CharField(max_length=64, help_text="of the plain text, in hexadecimal")
    first_shown_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "sha256"], name="worker_page_once"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} from {self.first_shown_at:%Y-%m-%d}"


class CampaignDraftQuerySet(models.QuerySet["CampaignDraft"]):
    def of(self, owner: User) -> Self:
        return self.filter(owner=owner)

    def open(self) -> Self:
        """Drafts that were neither used nor deleted."""
        return self.filter(ended_at=None)


class CampaignDraft(models.Model):
    """A campaign file that a user prepares in steps.

    It is stored with each change, so that a reload or a second tab loses nothing.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="campaign_drafts")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="campaign_drafts"
    )
    # The campaign that the draft changes, or that was created from it. Null before that.
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="drafts"
    )
    # The campaign's file when the draft was begun; null if the draft is for a new campaign.
    begun_from = models.JSONField(null=True, blank=True)
    # Values of the campaign file so far. Keys that are missing have their defaults.
    file = models.JSONField(default=dict, blank=True)
    # What was typed and is not a valid value, by the key's full name.
    unfinished = models.JSONField(default=dict, blank=True)
    # Steps that were saved.
    visited = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = CampaignDraftQuerySet.as_manager()

    class Meta:
        ordering = ["-changed_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "campaign"],
                condition=Q(ended_at=None),
                name="draft_once_per_campaign_and_owner",
            ),
        ]

    def __str__(self) -> str:
        name = self.file.get("name")
        return name if isinstance(name, str) and name else "Unnamed draft"
