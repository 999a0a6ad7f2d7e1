"""Requesters' qualification types, the workers who have them, and requests for them."""

from django.db import models
from django.db.models import Q

from marketplace import ids
from marketplace.models.accounts import Requester, Worker


class QualificationStatus(models.TextChoices):
    GRANTED = "Granted"
    REVOKED = "Revoked"


class QualificationRequestStatus(models.TextChoices):
    STARTED = "Started"
    PENDING = "Pending"
    GRANTED = "Granted"
    REJECTED = "Rejected"


class QualificationType(models.Model):
    """A property that a requester assigns to workers. System types are computed and not stored."""

    requester = models.ForeignKey(Requester, models.PROTECT, related_name="qualification_types")
    public_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    name = models.CharField(max_length=200)
    description = models.TextField()
    keywords = models.CharField(max_length=1000, blank=True, default="")
    is_active = models.BooleanField(default=True)
    # A deleted type remains for the HIT types that refer to it. Its name can be used again.
    is_deleted = models.BooleanField(default=False)
    retry_delay = models.DurationField(null=True, blank=True)
    test = models.TextField(blank=True, default="")
    test_duration = models.DurationField(null=True, blank=True)
    answer_key = models.TextField(blank=True, default="")
    is_auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                condition=Q(is_deleted=False),
                name="qualification_type_named_once",
            ),
            models.CheckConstraint(
                name="qualification_type_granted_or_tested",
                condition=Q(is_auto_granted=False) | Q(test=""),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    """One worker's value of one qualification type, granted or revoked."""

    qualification_type = models.ForeignKey(
        QualificationType, models.PROTECT, related_name="qualifications"
    )
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="qualifications")
    value = models.IntegerField(null=True, blank=True)
    status = models.CharField(
        max_length=10, choices=QualificationStatus, default=QualificationStatus.GRANTED
    )
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"], name="qualification_once_per_worker"
            ),
        ]
        indexes = [
            models.Index(
                fields=["qualification_type", "status", "id"], name="qualification_of_type"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.qualification_type}"


class QualificationRequest(models.Model):
    """A worker's request for a qualification, with the answers to its test."""

    public_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    qualification_type = models.ForeignKey(
        QualificationType, models.PROTECT, related_name="requests"
    )
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="qualification_requests")
    status = models.CharField(max_length=10, choices=QualificationRequestStatus)
    # The type's at the time of the request: the worker sees and answers this test.
    test = models.TextField(blank=True, default="")
    test_duration = models.DurationField(null=True, blank=True)
    answer_key = models.TextField(blank=True, default="")
    answer = models.TextField(blank=True, default="")
    started_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(
                    status__in=[
                        QualificationRequestStatus.STARTED,
                        QualificationRequestStatus.PENDING,
                    ]
                ),
                name="qualification_request_once_open",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id
