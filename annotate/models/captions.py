"""Finished captions that a campaign works on: those of a release, or of somebody's file."""

from django.db import models

from annotate.models.images import Image


class CaptionSet(models.Model):
    """Captions that go by one name: a release's references, or what a file brought."""

    name = models.SlugField(max_length=100, unique=True)
    # Empty where the captions came from a file.
    release = models.OneToOneField(
        "Release", models.PROTECT, null=True, blank=True, related_name="caption_set"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name


class GivenCaption(models.Model):
    """One caption of a set, which nobody changes any more."""

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
