"""Studies for participants from panels."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.db import models
from django.db.models import Q
from django.urls import reverse

from .accounts import Worker
from .hits import AssignmentQuerySet, HitType

CODE_PARAMETER = "cc"


class Study(models.Model):
    """A number of HITs of one group for each participant, and where participants return to."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=100)
    hit_type = models.ForeignKey(HitType, models.PROTECT, related_name="studies")
    # Number of HITs that each participant does.
    assignments = models.PositiveIntegerField()
    id_parameter = models.CharField(max_length=64)
    return_url = models.CharField(max_length=1000)
    completion_code = models.CharField(max_length=100)
    # For participants when no HITs are left; empty if the panel has no such code.
    no_work_code = models.CharField(max_length=100, blank=True, default="")
    is_open = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(name="study_has_assignments", condition=Q(assignments__gt=0)),
        ]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("study", args=[self.slug])

    @property
    def completed_url(self) -> str:
        """URL to which a participant returns when done."""
        return self._return_url(self.completion_code)

    @property
    def no_work_url(self) -> str:
        """URL to which a participant returns when no HITs are left."""
        return self._return_url(self.no_work_code)

    def _return_url(self, code: str) -> str:
        parts = urlsplit(self.return_url)
        query = [*parse_qsl(parts.query, keep_blank_values=True), (CODE_PARAMETER, code)]
        return urlunsplit(parts._replace(query=urlencode(query)))


class Participation(models.Model):
    """One worker's participation in a study."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="participations")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="participations")
    started_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "worker"], name="participation_once_per_study"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.study}"

    def assignments(self) -> AssignmentQuerySet:
        """The worker's assignments of the study's HITs since joining."""
        return self.worker.assignments.filter(
            hit__hit_type_id=self.study.hit_type_id, accepted_at__gte=self.started_at
        )
