"""What campaigns work on: selections, with the parameters of the draw, and sets of captions."""

from django.db import models

from accounts.models import Team, TeamRows
from annotate.models.images import Image


class Procedure(models.TextChoices):
    """How the images of a selection were chosen."""

    NOCAPS = "nocaps", "nocaps (Agrawal et al. 2019, section 3.1)"
    ALL = "all", "all images of the split"
    RANDOM = "random", "at random"
    PICKED = "picked", "picked by hand"
    LISTED = "listed", "by a list of image ids"


class Selection(models.Model):
    """Chosen images of a split."""

    team = models.ForeignKey(Team, models.PROTECT, related_name="selections")
    name = models.SlugField(max_length=100, unique=True)
    procedure = models.CharField(max_length=6, choices=Procedure, default=Procedure.NOCAPS)
    split = models.CharField(max_length=64)
    count = models.PositiveIntegerField(help_text="images asked for")
    sample = models.PositiveIntegerField(
        default=0, help_text="images drawn from a pool for each choice; 0 except for nocaps"
    )
    seed = models.BigIntegerField(default=0)
    ignored_classes = models.JSONField(default=list, help_text="names left out of the count")
    created_at = models.DateTimeField()
    images: "models.ManyToManyField[Image, SelectedImage]" = models.ManyToManyField(
        Image, through="SelectedImage", related_name="selections"
    )

    objects = TeamRows["Selection"].as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name


class SelectedImage(models.Model):
    """An image of a selection; positions follow the order in which images were chosen."""

    selection = models.ForeignKey(Selection, models.CASCADE, related_name="selected")
    image = models.ForeignKey(Image, models.PROTECT, related_name="selected")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["selection", "image"], name="selected_once"),
            models.UniqueConstraint(fields=["selection", "position"], name="selected_in_one_order"),
        ]

    def __str__(self) -> str:
        return f"{self.selection} {self.position}: {self.image}"


class CaptionSet(models.Model):
    """A named set of captions: the references of a release, or the captions of a file."""

    team = models.ForeignKey(Team, models.PROTECT, related_name="caption_sets")
    name = models.SlugField(max_length=100, unique=True)
    # Null if the captions came from a file.
    release = models.OneToOneField(
        "Release", models.PROTECT, null=True, blank=True, related_name="caption_set"
    )
    # BCP 47 tag of all its captions; empty if it is not known.
    language = models.CharField(max_length=20, blank=True, default="", db_default="")
    created_at = models.DateTimeField()

    objects = TeamRows["CaptionSet"].as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name


class GivenCaption(models.Model):
    """One caption of a set. Its text never changes."""

    caption_set = models.ForeignKey(CaptionSet, models.CASCADE, related_name="captions")
    image = models.ForeignKey(Image, models.PROTECT, related_name="given_captions")
    number = models.PositiveIntegerField(help_text="the caption's place in its set, from 1")
    annotation_id = models.PositiveBigIntegerField(
        help_text="its id in the file, or in the release's captions.json"
    )
    text = models.TextField()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["caption_set", "number"], name="given_caption_numbered_once"
            ),
            models.UniqueConstraint(
                fields=["caption_set", "annotation_id"], name="given_caption_id_once"
            ),
        ]

    def __str__(self) -> str:
        return self.text
