"""Subsets of a split's images, stored with the parameters of the draw."""

from django.db import models

from annotate.models.images import Image
from annotate.models.teams import Team, TeamRows


class SelectionQuerySet(TeamRows["Selection"]):
    """Selections; their names are unique among all teams."""


class Procedure(models.TextChoices):
    """How the images of a selection were chosen."""

    NOCAPS = "nocaps", "nocaps (Agrawal et al. 2019, section 3.1)"
    ALL = "all", "all images of the split"
    RANDOM = "random", "at random"
    PICKED = "picked", "picked by hand"


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

    objects = SelectionQuerySet.as_manager()

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
