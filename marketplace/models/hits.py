"""HIT types with their notifications, layouts, HITs and assignments, with the constraints of their
states."""

import uuid
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Self

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import get_language_info

from marketplace import ids
from marketplace.models.accounts import Requester, Worker
from marketplace.models.fields import MoneyField
from shared.database.queues import Queued


class HitStatus(models.TextChoices):
    ASSIGNABLE = "Assignable"
    UNASSIGNABLE = "Unassignable"
    REVIEWABLE = "Reviewable"
    REVIEWING = "Reviewing"
    DISPOSED = "Disposed"


class AssignmentStatus(models.TextChoices):
    ACCEPTED = "Accepted"
    SUBMITTED = "Submitted"
    APPROVED = "Approved"
    REJECTED = "Rejected"
    RETURNED = "Returned"
    ABANDONED = "Abandoned"


# Statuses that requesters can see. Accepted assignments are visible only to their workers.
REVEALED = [AssignmentStatus.SUBMITTED, AssignmentStatus.APPROVED, AssignmentStatus.REJECTED]
# Statuses that prevent the worker from accepting the same HIT again.
LIVE = [AssignmentStatus.ACCEPTED, *REVEALED]
DECIDED = [AssignmentStatus.APPROVED, AssignmentStatus.REJECTED]


class HitTypeQuerySet(models.QuerySet["HitType"]):
    def known_as(self, public_id: str) -> Self:
        """The type with this HITTypeId or HITGroupId. Links to a group contain one or the other."""
        return self.filter(Q(public_id=public_id) | Q(group_id=public_id))

    def under_way(self) -> Self:
        """Types with HITs that are open, in work or to be reviewed."""
        return self.filter(_has_work())

    def with_under_way(self) -> Self:
        """Types with `is_under_way`: whether they are among `under_way`."""
        return self.annotate(is_under_way=_has_work())


def _has_work() -> models.Exists:
    hits = Hit.objects.undisposed().filter(hit_type=models.OuterRef("pk"))
    active = Q(status__in=[HitStatus.ASSIGNABLE, HitStatus.UNASSIGNABLE]) | Q(unreviewed__gt=0)
    return models.Exists(hits.filter(active))


class HitType(models.Model):
    """The common properties of HITs. HITs with the same properties have the same type."""

    requester = models.ForeignKey(Requester, models.PROTECT, related_name="hit_types")
    public_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    group_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    properties_digest = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    description = models.TextField()
    keywords = models.CharField(max_length=1000, blank=True, default="")
    reward = MoneyField()
    assignment_duration = models.DurationField()
    auto_approval_delay = models.DurationField()
    qualification_requirements = models.JSONField(default=list)
    # What the requester's program says that the HITs belong to (`marketplace.api.people`): a name,
    # the code of the language that workers write, and the address of a page. Titles repeat.
    campaign = models.CharField(max_length=100, blank=True, default="")
    language = models.CharField(max_length=35, blank=True, default="")
    campaign_url = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField()

    # Not a column: what `with_under_way` adds.
    is_under_way: bool

    objects = HitTypeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "properties_digest"], name="hit_type_once_per_properties"
            ),
            models.CheckConstraint(name="hit_type_reward_not_negative", condition=Q(reward__gte=0)),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("preview", args=[self.public_id])

    @property
    def language_name(self) -> str:
        """The name of the language that workers write, in the language of the page; its code if it
        has none here."""
        try:
            return str(get_language_info(self.language)["name_translated"])
        except KeyError:
            return self.language


class HitLayout(models.Model):
    """An HTMLQuestion with `${name}` placeholders for a HIT's layout parameters."""

    requester = models.ForeignKey(Requester, models.PROTECT, related_name="layouts")
    public_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    name = models.CharField(max_length=100)
    template = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "name"], name="layout_named_once"),
        ]

    def __str__(self) -> str:
        return self.name


class HitQuerySet(models.QuerySet["Hit"]):
    def undisposed(self) -> Self:
        return self.exclude(status=HitStatus.DISPOSED)

    def open_at(self, at: datetime) -> Self:
        return self.filter(status=HitStatus.ASSIGNABLE, available__gt=0, expires_at__gt=at)


class Hit(models.Model):
    """One task that is offered to a number of workers."""

    # No index of its own: indexes on several columns begin with this key.
    hit_type = models.ForeignKey(HitType, models.PROTECT, related_name="hits", db_index=False)
    # The requester of the type, repeated so that lists by requester use one index.
    requester = models.ForeignKey(Requester, models.PROTECT, related_name="hits", db_index=False)
    public_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    question = models.TextField()
    layout = models.ForeignKey(HitLayout, models.PROTECT, null=True, related_name="hits")
    requester_annotation = models.CharField(max_length=255, blank=True, default="")
    assignment_review_policy = models.JSONField(null=True)
    hit_review_policy = models.JSONField(null=True)
    # When to carry out the review policies; None if nothing new was submitted.
    policy_due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    status = models.CharField(max_length=12, choices=HitStatus, default=HitStatus.ASSIGNABLE)
    max_assignments = models.PositiveIntegerField()
    available = models.PositiveIntegerField()
    pending = models.PositiveIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0)
    unreviewed = models.PositiveIntegerField(default=0)
    # Fee for one assignment, which depends on the original number of assignments.
    fee = MoneyField()
    expires_at = models.DateTimeField()
    # Whether the expiry was processed, so that it is announced once.
    is_expired = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    objects = HitQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="hit_counts_add_up",
                condition=Q(
                    max_assignments=F("available") + F("pending") + F("completed") + F("unreviewed")
                ),
            ),
            models.CheckConstraint(
                name="hit_disposed_with_nothing_open",
                condition=~Q(status=HitStatus.DISPOSED) | Q(pending=0, unreviewed=0),
            ),
        ]
        indexes = [
            models.Index(fields=["requester", "id"], name="hit_of_requester"),
            models.Index(fields=["requester", "status", "id"], name="hit_of_requester_by_status"),
            models.Index(fields=["hit_type", "status", "id"], name="hit_of_type_by_status"),
            models.Index(fields=["is_expired", "expires_at"], name="hit_by_expiry"),
            models.Index(fields=["status", "expires_at"], name="hit_by_status_and_expiry"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def cost(self) -> Decimal:
        """Reward and fee of one assignment, in dollars."""
        return self.hit_type.reward + self.fee


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def accepted(self) -> Self:
        return self.filter(status=AssignmentStatus.ACCEPTED)

    def in_time(self, at: datetime) -> Self:
        return self.accepted().filter(deadline__gt=at)


class Assignment(models.Model):
    """One worker's work on one HIT."""

    hit = models.ForeignKey(Hit, models.PROTECT, related_name="assignments", db_index=False)
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="assignments", db_index=False)
    # By which a member of a group got it; a group's hours and withdrawals are of these.
    offer = models.ForeignKey(
        "Offer", models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    public_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    status = models.CharField(
        max_length=10, choices=AssignmentStatus, default=AssignmentStatus.ACCEPTED
    )
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approval_at = models.DateTimeField(null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    rejected_at = models.DateTimeField(null=True, blank=True)
    # What the HIT paid when the work was rejected; its type may change afterwards.
    rejected_reward = MoneyField(null=True, blank=True)  # type: ignore[misc]
    answer = models.TextField(blank=True, default="")
    requester_feedback = models.CharField(max_length=1024, blank=True, default="")

    # Not a column: False if the query that read the row found no study of the worker's.
    may_be_in_study: bool = True

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=Q(status__in=LIVE),
                name="assignment_once_per_worker",
            ),
            models.CheckConstraint(
                name="assignment_times_match_status",
                condition=Q(
                    status__in=[
                        AssignmentStatus.ACCEPTED,
                        AssignmentStatus.RETURNED,
                        AssignmentStatus.ABANDONED,
                    ],
                    submitted_at=None,
                    approved_at=None,
                    rejected_at=None,
                )
                | Q(
                    status=AssignmentStatus.SUBMITTED,
                    submitted_at__isnull=False,
                    approved_at=None,
                    rejected_at=None,
                )
                | Q(
                    status=AssignmentStatus.APPROVED,
                    submitted_at__isnull=False,
                    approved_at__isnull=False,
                )
                | Q(
                    status=AssignmentStatus.REJECTED,
                    submitted_at__isnull=False,
                    rejected_at__isnull=False,
                ),
            ),
        ]
        indexes = [
            models.Index(fields=["hit", "status", "id"], name="assignment_of_hit"),
            models.Index(fields=["worker", "id"], name="assignment_of_worker"),
            # For finding out whether a worker did a HIT without reading all of the worker's
            # assignments.
            models.Index(fields=["worker", "hit"], name="assignment_of_worker_at_hit"),
            models.Index(fields=["worker", "status", "deadline"], name="assignment_in_queue"),
            models.Index(fields=["status", "deadline"], name="assignment_by_deadline"),
            models.Index(fields=["status", "auto_approval_at"], name="assignment_by_auto_approval"),
        ]

    def __str__(self) -> str:
        return self.public_id

    def get_absolute_url(self) -> str:
        return reverse("assignment", args=[self.public_id])

    def time_left(self, at: datetime) -> timedelta:
        """The time until the deadline, at least zero."""
        return max(self.deadline - at, timedelta())


class ReviewLevel(models.TextChoices):
    ASSIGNMENT = "Assignment"
    HIT = "HIT"


class ReviewResult(models.Model):
    """One result of a review policy."""

    hit = models.ForeignKey(Hit, models.PROTECT, related_name="review_results")
    level = models.CharField(max_length=10, choices=ReviewLevel)
    action_id = models.CharField(max_length=64, default=ids.entity_id)
    subject_id = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=20)
    question_id = models.CharField(max_length=255, blank=True, default="")
    key = models.CharField(max_length=60)
    value = models.TextField()

    def __str__(self) -> str:
        return f"{self.key} {self.value}"


class ReviewAction(models.Model):
    """One action that a review policy took or attempted."""

    hit = models.ForeignKey(Hit, models.PROTECT, related_name="review_actions")
    level = models.CharField(max_length=10, choices=ReviewLevel)
    action_id = models.CharField(max_length=64, default=ids.entity_id)
    name = models.CharField(max_length=40)
    target_id = models.CharField(max_length=64)
    target_type = models.CharField(max_length=20)
    status = models.CharField(max_length=12)
    completed_at = models.DateTimeField()
    result = models.TextField(blank=True, default="")
    error_code = models.CharField(max_length=60, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.name} {self.status}"


class EventType(models.TextChoices):
    ASSIGNMENT_ACCEPTED = "AssignmentAccepted"
    ASSIGNMENT_ABANDONED = "AssignmentAbandoned"
    ASSIGNMENT_RETURNED = "AssignmentReturned"
    ASSIGNMENT_SUBMITTED = "AssignmentSubmitted"
    ASSIGNMENT_REJECTED = "AssignmentRejected"
    ASSIGNMENT_APPROVED = "AssignmentApproved"
    HIT_CREATED = "HITCreated"
    HIT_EXPIRED = "HITExpired"
    HIT_REVIEWABLE = "HITReviewable"
    HIT_EXTENDED = "HITExtended"
    HIT_DISPOSED = "HITDisposed"
    PING = "Ping"


class NotificationSetting(models.Model):
    """Destination and event types of one HIT type's notifications."""

    hit_type = models.OneToOneField(HitType, models.PROTECT, related_name="notification_setting")
    destination = models.TextField(blank=True, default="")
    transport = models.CharField(max_length=10, blank=True, default="")
    version = models.CharField(max_length=20, blank=True, default="")
    event_types = models.JSONField(default=list)
    is_active = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.transport} {self.destination}"


class Event(Queued):
    """An event to send, stored in the transaction of the change and sent later."""

    document_id = models.UUIDField(default=uuid.uuid4, unique=True)
    requester = models.ForeignKey(Requester, models.PROTECT, related_name="events")
    destination = models.TextField()
    transport = models.CharField(max_length=10)
    version = models.CharField(max_length=20)
    body = models.JSONField()
    happened_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["due_at"], condition=Q(due_at__isnull=False), name="event_still_due"
            ),
            models.Index(fields=["happened_at"], name="event_by_time"),
        ]

    def __str__(self) -> str:
        return str(self.document_id)
