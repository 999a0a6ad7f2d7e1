"""Sets of captions that a campaign can work on, from a release or from a file."""

from django.db import models

from annotate.models.images import Image
from annotate.models.teams import Team, TeamRows


class CaptionSetQuerySet(TeamRows["CaptionSet"]):
    """Caption sets; their names are unique among all teams."""


class CaptionSet(models.Model):
    """A named set of captions: the references of a release, or the captions of a file."""

    team = models.ForeignKey(Team, models.PROTECT, related_name="caption_sets")
    name = models.SlugField(max_length=100, unique=True)
    # Null if the captions came from a file.
    release = models.OneToOneField(
        "Release", models.PROTECT, null=True, blank=True, related_name="caption_set"
    )
    created_at = models.DateTimeField()

    objects = CaptionSetQuerySet.as_manager()

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
