"""HIT types, layouts, HITs and assignments, with the constraints of their states."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Self

from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan
from django.urls import reverse

from marketplace import ids

from .accounts import Requester, Worker
from .fields import MoneyField


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
    created_at = models.DateTimeField()

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

    def open_in_order(self, at: datetime) -> Self:
        """HITs that are open at this time, oldest first, from the index on the type."""
        # The expression keeps SQLite from using the index on the expiry, which would find all rows
        # and sort them before returning the first.
        ends_at = Coalesce("expires_at", "created_at")
        found = self.filter(status=HitStatus.ASSIGNABLE, available__gt=0)
        return found.alias(ends_at=ends_at).filter(ends_at__gt=at).order_by("pk")

    def not_done_by(self, worker: Worker) -> Self:
        mine = Assignment.objects.filter(hit=models.OuterRef("pk"), worker=worker, status__in=LIVE)
        return self.exclude(models.Exists(mine))

    def move(
        self, *, at: datetime, available: int = 0, pending: int = 0, completed: int = 0,
        unreviewed: int = 0, slots: int = 0,
    ) -> int:  # fmt: skip
        """Change the counts and status of undisposed HITs; return the number of HITs.

        A single UPDATE, so that concurrent changes are not lost. Constraints of the table ensure
        that counts add up and are not negative.
        """
        moved = self.moved(
            at=at, available=available, pending=pending, completed=completed,
            unreviewed=unreviewed, slots=slots,
        )  # fmt: skip
        return self.undisposed().update(**moved)

    @staticmethod
    def moved(
        *, at: Any, available: int = 0, pending: int = 0, completed: int = 0, unreviewed: int = 0,
        slots: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """The new values of `move`, as expressions."""
        steps = {
            "available": available,
            "pending": pending,
            "completed": completed,
            "unreviewed": unreviewed,
            "max_assignments": slots,
        }
        # Unchanged columns are left out: building the SQL takes longer than running it.
        moved = {name: F(name) + step for name, step in steps.items() if step}
        # Expressions in an UPDATE see the old values, so they repeat the changes.
        is_available: GreaterThan[Any] = GreaterThan(moved.get("available", F("available")), 0)
        is_pending: GreaterThan[Any] = GreaterThan(moved.get("pending", F("pending")), 0)
        status = Case(
            When(Q(expires_at__gt=at) & Q(is_available), then=Value(HitStatus.ASSIGNABLE)),
            When(is_pending, then=Value(HitStatus.UNASSIGNABLE)),
            When(status=HitStatus.REVIEWING, then=Value(HitStatus.REVIEWING)),
            default=Value(HitStatus.REVIEWABLE),
        )
        return {"status": status, **moved}


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
    answer = models.TextField(blank=True, default="")
    requester_feedback = models.CharField(max_length=1024, blank=True, default="")

    # Not a column: False if the query that read the row found no participation in a study.
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
