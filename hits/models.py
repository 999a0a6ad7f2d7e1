"""What we asked of the marketplace and what it told us: HIT types, HITs, assignments, payments."""

from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import F, Q

from annotate.models import Campaign, Claim, Worker

# MTurk charges more from ten assignments on, and a HIT created below ten can never grow to ten.
MOST_ASSIGNMENTS = 9


class WorkerAccount(models.Model):
    """The marketplace's id of a worker: personal data, kept in this table only."""

    worker = models.OneToOneField(Worker, models.PROTECT, related_name="account")
    endpoint = models.CharField(max_length=300)
    marketplace_id = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "marketplace_id"], name="worker_account_once_per_endpoint"
            ),
        ]

    def __str__(self) -> str:
        return str(self.worker)


class HitType(models.Model):
    """A campaign's HIT type; requirements belong to it, so a change of them makes another."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="hit_types")
    hit_type_id = models.CharField(max_length=64)
    # Has a worker this qualification, the marketplace shows them nothing of the campaign.
    exclusion_type_id = models.CharField(max_length=64)
    # The queue that the marketplace was told to send this type's events to; empty: none.
    queue_url = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "hit_type_id"], name="hit_type_once_per_campaign"
            ),
        ]

    def __str__(self) -> str:
        return self.hit_type_id


class HitStatus(models.TextChoices):
    PLANNED = "PLANNED", "planned: written down here, perhaps asked for already"
    OPEN = "OPEN", "open at the marketplace"
    EXPIRED = "EXPIRED", "expired: takes no new workers"
    RETIRED = "RETIRED", "retired: deleted at the marketplace, all its work settled"


class HitQuerySet(models.QuerySet["Hit"]):
    def alive(self) -> Self:
        """HITs the marketplace has, or will have once a planned one is created."""
        return self.exclude(status=HitStatus.RETIRED)

    def created(self) -> Self:
        return self.exclude(hit_id=None)


class Hit(models.Model):
    """Seats for at most nine workers, bound to the campaign and not to an image."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="hits")
    hit_type = models.ForeignKey(HitType, models.PROTECT, related_name="hits")
    # UniqueRequestToken and RequesterAnnotation of the creating call, written before it is made.
    token = models.CharField(max_length=64, unique=True)
    hit_id = models.CharField(max_length=64, unique=True, null=True, blank=True)
    status = models.CharField(max_length=7, choices=HitStatus, default=HitStatus.PLANNED)
    seats = models.PositiveSmallIntegerField()
    reward = models.DecimalField(max_digits=8, decimal_places=2)
    fee = models.DecimalField(max_digits=8, decimal_places=2, help_text="for one assignment")
    planned_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    # What ListHITs said last: seats nobody took, and seats somebody is working at.
    available = models.PositiveSmallIntegerField(default=0)
    pending = models.PositiveSmallIntegerField(default=0)
    # Since when submissions are known of that were not read yet; empty: none.
    unread_since = models.DateTimeField(null=True, blank=True)
    # When its assignments were read because of answers that were stored here.
    read_at = models.DateTimeField(null=True, blank=True)
    # Assignments of this HIT that were read and, of them, those with the marketplace's decision.
    ingested = models.PositiveSmallIntegerField(default=0)
    settled = models.PositiveSmallIntegerField(default=0)

    objects = HitQuerySet.as_manager()

    class Meta:
        verbose_name = "HIT"
        verbose_name_plural = "HITs"
        constraints = [
            models.CheckConstraint(
                condition=Q(seats__gte=1, seats__lte=MOST_ASSIGNMENTS), name="hit_one_to_nine_seats"
            ),
            models.CheckConstraint(
                condition=Q(available__lte=F("seats")) & Q(pending__lte=F("seats")),
                name="hit_counts_within_seats",
            ),
            models.CheckConstraint(
                condition=Q(settled__lte=F("ingested")) & Q(ingested__lte=F("seats")),
                name="hit_settled_within_ingested",
            ),
            models.CheckConstraint(
                condition=Q(status=HitStatus.PLANNED, hit_id=None)
                | (~Q(status=HitStatus.PLANNED) & Q(hit_id__isnull=False)),
                name="hit_has_an_id_once_created",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "status"], name="hit_by_status")]

    def __str__(self) -> str:
        return self.hit_id or f"planned {self.pk}"


class AssignmentStatus(models.TextChoices):
    OPENED = "OPENED", "opened: the task page was shown, the marketplace reported no answer yet"
    SUBMITTED = "SUBMITTED"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"


DECIDED = [AssignmentStatus.APPROVED, AssignmentStatus.REJECTED]


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(hit__campaign=campaign)

    def ingested(self) -> Self:
        """Assignments that the marketplace reported as submitted."""
        return self.exclude(status=AssignmentStatus.OPENED)


class Assignment(models.Model):
    """One worker's turn at one seat. The marketplace may give the id of a returned assignment to
    another worker, so a row is known by the id and the worker together."""

    hit = models.ForeignKey(Hit, models.PROTECT, related_name="assignments")
    account = models.ForeignKey(WorkerAccount, models.PROTECT, related_name="assignments")
    assignment_id = models.CharField(max_length=64)
    status = models.CharField(
        max_length=9, choices=AssignmentStatus, default=AssignmentStatus.OPENED
    )
    claims = models.ManyToManyField(Claim, related_name="assignments", blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    feedback = models.CharField(max_length=1024, blank=True, help_text="what the worker was told")
    # The answer as the marketplace gave it, kept where it could not be joined to a task.
    unplaced_answer = models.TextField(blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment_id", "account"], name="assignment_once_per_worker"
            ),
            models.CheckConstraint(
                condition=Q(status="OPENED", submitted_at=None)
                | (~Q(status="OPENED") & Q(submitted_at__isnull=False)),
                name="assignment_submitted_at_matches_status",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["OPENED", "SUBMITTED"], decided_at=None)
                | Q(status__in=["APPROVED", "REJECTED"], decided_at__isnull=False),
                name="assignment_decided_at_matches_status",
            ),
        ]
        indexes = [
            models.Index(
                fields=["submitted_at"],
                name="assignment_to_settle",
                condition=Q(status="SUBMITTED"),
            ),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk} ({self.status.lower()})"


class Bonus(models.Model):
    """A payment on top of the reward; written before it is sent, sent once."""

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="bonuses")
    token = models.CharField(max_length=64, unique=True)
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    fee = models.DecimalField(max_digits=8, decimal_places=2)
    reason = models.CharField(max_length=1024)
    planned_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "bonuses"
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="bonus_is_positive"),
            models.CheckConstraint(condition=~Q(reason=""), name="bonus_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"${self.amount} for {self.assignment}"


class Barring(models.Model):
    """That a worker is to be kept from a campaign's HITs, and whether the marketplace knows.

    A worker is barred while excluded, and while nothing is left that they have not done.
    """

    hit_type = models.ForeignKey(HitType, models.PROTECT, related_name="barrings")
    account = models.ForeignKey(WorkerAccount, models.PROTECT, related_name="barrings")
    is_wanted = models.BooleanField()
    is_in_force = models.BooleanField(default=False, help_text="as the marketplace was told last")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit_type", "account"], name="barring_once_per_worker"),
        ]

    def __str__(self) -> str:
        return f"{self.account} {'kept from' if self.is_wanted else 'let into'} {self.hit_type}"


# A run that gave no sign for so long was killed: no call of the marketplace takes longer.
SILENT_AFTER = timedelta(minutes=5)


class SyncQuerySet(models.QuerySet["Sync"]):
    def going_on(self, at: datetime) -> Self:
        """Runs that somebody is at: begun, not ended, and lately heard of."""
        return self.filter(finished_at=None, seen_at__gt=at - SILENT_AFTER)


class Sync(models.Model):
    """One run of the reconciler: what it did, and what stopped it."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="syncs")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    # When it was last known to go on; what it did until then is in the counts below.
    seen_at = models.DateTimeField(null=True, blank=True)
    # Whether every HIT was listed, not only those that events had named.
    is_whole = models.BooleanField(default=True)
    api_calls = models.PositiveIntegerField(default=0)
    ingested = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    hits_created = models.PositiveIntegerField(default=0)
    hits_retired = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    objects = SyncQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(
                fields=["seen_at"], name="sync_going_on", condition=Q(finished_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} at {self.started_at:%Y-%m-%d %H:%M}"


class SyncWish(models.Model):
    """That somebody asked on a page for a campaign to be reconciled, and the run that took the wish
    up: none as long as it waits. The next wish takes the row's place."""

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="sync_wish")
    asked_at = models.DateTimeField()
    sync = models.ForeignKey(Sync, models.CASCADE, null=True, blank=True, related_name="wishes")

    class Meta:
        verbose_name_plural = "sync wishes"

    def __str__(self) -> str:
        return f"{self.campaign}, asked for at {self.asked_at:%Y-%m-%d %H:%M}"


class Notice(models.Model):
    """A message from the marketplace's queue that was dealt with, so that its repeat is not."""

    # The notification's own id, or a digest of a message that has none.
    document_id = models.CharField(max_length=100, unique=True)
    received_at = models.DateTimeField()
    # What could not be read is set aside here, with the reason.
    problem = models.CharField(max_length=300, blank=True)
    body = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(problem="") | Q(body=""), name="notice_body_kept_with_a_problem_only"
            ),
        ]
        indexes = [models.Index(fields=["received_at"], name="notice_by_age")]

    def __str__(self) -> str:
        return self.document_id
