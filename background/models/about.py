"""What a job, failure, notice or webhook is about: a row of an app above this one."""

from typing import Any

from django.contrib.contenttypes.fields import GenericForeignKey
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models import Q, QuerySet


def about_row(row: models.Model) -> Q:
    """The condition of being about this row."""
    return Q(about_type=ContentType.objects.get_for_model(row), about_id=row.pk)


def about_any(rows: QuerySet[Any]) -> Q:
    """The condition of being about one of these rows."""
    kind = ContentType.objects.get_for_model(rows.model)
    return Q(about_type=kind, about_id__in=rows.values("pk"))


class About(models.Model):
    """A row that can be about something, such as a campaign or a release."""

    about_type = models.ForeignKey(
        ContentType, models.PROTECT, related_name="+", null=True, editable=False
    )
    about_id = models.PositiveBigIntegerField(null=True, editable=False)
    about = GenericForeignKey("about_type", "about_id")

    class Meta:
        abstract = True
