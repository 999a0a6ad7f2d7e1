"""Studies for participants from panels."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from marketplace.models.accounts import Worker
from marketplace.models.hits import AssignmentQuerySet, HitType

CODE_PARAMETER = "cc"


class Study(models.Model):
    """A number of HITs of one group for each participant, and where participants return to."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=100)
    hit_type = models.ForeignKey(HitType, models.PROTECT, related_name="studies")
    # Number of HITs that each participant does.
    assignments = models.PositiveIntegerField()
    id_parameter = models.CharField(max_length=64, default="PROLIFIC_PID")
    return_url = models.CharField(max_length=1000)
    completion_code = models.CharField(max_length=100)
    # For participants when no HITs are left; empty if the panel has no such code.
    no_work_code = models.CharField(max_length=100, blank=True, default="")
    # Of the pages that participants see.
    language = models.CharField(max_length=10, default="en")
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
        return self.return_url_with(self.completion_code)

    @property
    def no_work_url(self) -> str:
        """URL to which a participant returns when no HITs are left."""
        return self.return_url_with(self.no_work_code)

    def return_url_with(self, code: str) -> str:
        """URL to which a participant returns with this code."""
        parts = urlsplit(self.return_url)
        query = [*parse_qsl(parts.query, keep_blank_values=True), (CODE_PARAMETER, code)]
        return urlunsplit(parts._replace(query=urlencode(query)))


class Screening(models.Model):
    """What a study asks before the first HIT.

    Consent, a question on who may take part, and a question on the instructions.
    """

    study = models.OneToOneField(Study, models.PROTECT, related_name="screening")
    # Empty if the study asks for no consent.
    consent = models.TextField(blank=True, default="")
    no_consent_code = models.CharField(max_length=100, blank=True, default="")
    # Who may take part, by their answer; empty if the study does not ask.
    eligibility_question = models.CharField(max_length=500, blank=True, default="")
    eligible_choices = models.JSONField(default=list)
    ineligible_choices = models.JSONField(default=list)
    screened_out_code = models.CharField(max_length=100, blank=True, default="")
    # Empty if the study has no check.
    question = models.CharField(max_length=500, blank=True, default="")
    choices = models.JSONField(default=list)
    right_choice = models.CharField(max_length=200, blank=True, default="")
    failed_check_code = models.CharField(max_length=100, blank=True, default="")

    def __str__(self) -> str:
        return f"screening of {self.study}"


class Participation(models.Model):
    """One worker's participation in a study."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="participations")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="participations")
    started_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)
    consented_at = models.DateTimeField(null=True, blank=True)
    refused_consent_at = models.DateTimeField(null=True, blank=True)
    eligible_at = models.DateTimeField(null=True, blank=True)
    screened_out_at = models.DateTimeField(null=True, blank=True)
    wrong_answers = models.PositiveSmallIntegerField(default=0)
    passed_check_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "worker"], name="participation_once_per_study"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.study}"

    def later(self) -> models.QuerySet["Participation"]:
        """The worker's participations in studies of the same HITs that began after this one."""
        return self.worker.participations.filter(
            study__hit_type=self.study.hit_type_id, started_at__gt=self.started_at
        )

    def assignments(self) -> AssignmentQuerySet:
        """The worker's assignments of the study's HITs, from joining it until joining another study
        of the same HITs: each assignment counts for one study."""
        mine = self.worker.assignments.filter(
            hit__hit_type_id=self.study.hit_type_id, accepted_at__gte=self.started_at
        )
        others = self.later().filter(started_at__lte=OuterRef("accepted_at"))
        return mine.filter(~Exists(others))


class AttentionCheck(models.Model):
    """A question between two HITs of a study that says itself which answer to choose."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="attention_checks")
    # Asked once the participant has done this many HITs.
    after = models.PositiveIntegerField()
    question = models.CharField(max_length=500)
    choices = models.JSONField(default=list)
    right_choice = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "after"], name="attention_check_once_at"),
        ]

    def __str__(self) -> str:
        return f"attention check of {self.study} after {self.after}"


class AttentionAnswer(models.Model):
    """A participant's answer to an attention check. There is one try."""

    check_asked = models.ForeignKey(AttentionCheck, models.PROTECT, related_name="answers")
    participation = models.ForeignKey(
        Participation, models.CASCADE, related_name="attention_answers"
    )
    is_right = models.BooleanField()
    answered_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["check_asked", "participation"], name="attention_answered_once"
            ),
        ]

    def __str__(self) -> str:
        return f"answer to {self.check_asked}"
