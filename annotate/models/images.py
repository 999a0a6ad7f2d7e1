"""Contents of datasets: object classes with their hierarchy, images and boxes."""

from typing import Any, Self

from django.db import models
from django.db.models import Exists, F, Q

from accounts.models import Row, Team, TeamRows


class ImportedRows(TeamRows[Row]):
    """Rows of imports. Those without a team are shared: members of any team see them."""

    def _seen_by(self, user: Any) -> Q:
        return Q(Exists(Team.objects.of(user)), team=None) | super()._seen_by(user)

    def of_team(self, team: Team | None) -> Self:
        """The rows that the team can use: its own and the shared ones."""
        return self.filter(Q(team=None) | Q(team=team))


class ObjectClass(models.Model):
    """The class of a box: an Open Images class or a COCO category.

    A team may name one otherwise than the shared class of the same label.
    """

    team = models.ForeignKey(
        Team, models.PROTECT, null=True, blank=True, related_name="object_classes"
    )
    label = models.CharField(max_length=64, help_text="/m/0199g, or coco:17")
    name = models.CharField(max_length=100, db_index=True)

    objects = ImportedRows["ObjectClass"].as_manager()

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "object classes"
        constraints = [
            models.UniqueConstraint(
                fields=["label"], condition=Q(team=None), name="shared_class_label_once"
            ),
            models.UniqueConstraint(
                fields=["team", "label"],
                condition=Q(team__isnull=False),
                name="class_label_once_in_team",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ClassName(models.Model):
    """The name of a class in a language other than English."""

    object_class = models.ForeignKey(ObjectClass, models.CASCADE, related_name="names")
    language = models.CharField(max_length=35, help_text="BCP 47 tag in lower case, such as de")
    name = models.CharField(max_length=100)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["object_class", "language"], name="class_has_one_name_in_a_language"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.object_class}: {self.name} ({self.language})"


class RelationKind(models.TextChoices):
    SUBCATEGORY = "SUBCATEGORY"
    PART = "PART"


class ClassRelation(models.Model):
    """An edge of the class hierarchy, which is a graph: a class may have several parents."""

    parent = models.ForeignKey(ObjectClass, models.CASCADE, related_name="relations_down")
    child = models.ForeignKey(ObjectClass, models.CASCADE, related_name="relations_up")
    kind = models.CharField(max_length=11, choices=RelationKind)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["parent", "child", "kind"], name="class_relation_stated_once"
            ),
            models.CheckConstraint(
                condition=~Q(parent=F("child")), name="class_relation_joins_two_classes"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.parent} > {self.child} ({self.get_kind_display()})"


class ImageSource(models.TextChoices):
    OPEN_IMAGES = "OPEN_IMAGES", "Open Images"
    COCO = "COCO", "COCO"
    OWN = "OWN", "Own files"


class Image(models.Model):
    """One image of a dataset, with its location, size, author and licence. A split has images of
    one team, or shared ones."""

    # Null if all teams share the image. Millions of images have none, so only the others are in an
    # index.
    team = models.ForeignKey(
        Team, models.PROTECT, null=True, blank=True, related_name="images", db_index=False
    )
    source = models.CharField(max_length=11, choices=ImageSource)
    key = models.CharField(max_length=64, help_text="the dataset's own id of the image")
    split = models.CharField(max_length=64, db_index=True)
    # Degrees by which to turn the file anticlockwise to make it upright; null if unknown.
    rotation = models.PositiveSmallIntegerField(null=True, blank=True)
    # Pixels as shown, after applying the file's EXIF orientation.
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    file = models.CharField(max_length=300, blank=True, help_text="path under MEDIA_ROOT")
    url = models.URLField(max_length=500, blank=True, help_text="where the image can be fetched")
    landing_url = models.URLField(max_length=500, blank=True, help_text="the image's source page")
    author = models.CharField(max_length=300, blank=True)
    author_url = models.URLField(max_length=500, blank=True)
    license_url = models.URLField(max_length=500, blank=True)
    title = models.CharField(max_length=500, blank=True)
    # The text in which the image stands, for alternative texts.
    context = models.TextField(blank=True, default="", db_default="")
    # Of own files the path in the imported folder, of COCO's images the name in the file.
    file_name = models.CharField(
        max_length=500,
        blank=True,
        default="",
        db_default="",
        help_text="original name, which exports have",
    )
    # Only of own files: of the content, in hexadecimal.
    sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")

    objects = ImportedRows["Image"].as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["team", "file"], condition=Q(team__isnull=False), name="image_of_a_team"
            ),
            # Of most images of a large dataset there is no file.
            models.Index(fields=["file"], condition=~Q(file=""), name="image_by_file"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "key"], condition=Q(team=None), name="shared_image_key_once"
            ),
            models.UniqueConstraint(
                fields=["team", "source", "key"],
                condition=Q(team__isnull=False),
                name="image_key_once_in_team",
            ),
            models.UniqueConstraint(
                fields=["split", "sha256"],
                condition=Q(source="OWN"),
                name="own_image_content_once_in_split",
            ),
            models.UniqueConstraint(
                fields=["split", "file_name"],
                condition=Q(source="OWN"),
                name="own_image_file_name_once_in_split",
            ),
            models.CheckConstraint(
                condition=Q(rotation=None) | Q(rotation__in=[0, 90, 180, 270]),
                name="image_rotation_is_a_quarter_turn",
            ),
        ]

    def __str__(self) -> str:
        return self.shown_name

    @property
    def own_name(self) -> str:
        """The name of one's own file; empty for an image of a dataset, which its id names."""
        return self.file_name if self.source == ImageSource.OWN else ""

    @property
    def shown_name(self) -> str:
        """The name by which pages call the image: the file's own name, or the dataset's id."""
        return self.own_name or self.key

    @property
    def last_name(self) -> str:
        """The name without its folders, for places with little room."""
        return self.shown_name.rsplit("/", 1)[-1]


class BoxQuerySet(models.QuerySet["Box"]):
    def verified(self) -> "BoxQuerySet":
        """Boxes that a person confirmed. Open Images gives all others confidence 0."""
        return self.filter(confidence__gt=0)


class Box(models.Model):
    """One labelled object in an image; edges are fractions of the image's width and height."""

    # No index of its own: `box_stated_once` begins with the image and serves as its index. No query
    # needs all boxes of a class.
    image = models.ForeignKey(Image, models.CASCADE, related_name="boxes", db_index=False)
    object_class = models.ForeignKey(
        ObjectClass, models.PROTECT, related_name="boxes", db_index=False
    )
    confidence = models.FloatField(default=1.0)
    x_min = models.FloatField()
    x_max = models.FloatField()
    y_min = models.FloatField()
    y_max = models.FloatField()
    # The dataset's flags; null if the dataset says that it does not know (-1).
    is_occluded = models.BooleanField(null=True, blank=True)
    is_truncated = models.BooleanField(null=True, blank=True)
    is_group = models.BooleanField(null=True, blank=True)
    is_depiction = models.BooleanField(null=True, blank=True)
    is_inside = models.BooleanField(null=True, blank=True)

    objects = BoxQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "boxes"
        constraints = [
            models.UniqueConstraint(
                fields=["image", "object_class", "x_min", "x_max", "y_min", "y_max"],
                name="box_stated_once",
            ),
            models.CheckConstraint(
                condition=Q(x_min__gte=0, x_max__lte=1, x_min__lte=F("x_max"))
                & Q(y_min__gte=0, y_max__lte=1, y_min__lte=F("y_max")),
                name="box_lies_in_the_image",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.object_class} in {self.image}"


class SplitPools(models.Model):
    """How many images of a dataset's split have how many classes, as of its last import.

    Counting them for a page would read every box of the split. Splits of own files have no row.
    """

    split = models.CharField(max_length=64, unique=True)
    # Names of the classes that were not counted. The row is out of date if these have changed.
    ignored_classes = models.JSONField()
    # Of upright images only; the last number stands for itself and all above it.
    by_classes = models.JSONField(help_text="numbers of images by number of classes")

    def __str__(self) -> str:
        return f"Pools of {self.split}"
