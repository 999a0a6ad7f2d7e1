"""What we asked of the marketplace and what it told us: HIT types, HITs, assignments, payments."""

from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import F, Q
from django.utils.crypto import get_random_string

from annotate.models import Campaign, Device, Worker
from qualcontrol.models import HeldPayment

# MTurk charges more from ten assignments on, and a HIT created below ten can never grow to ten.
MOST_ASSIGNMENTS = 9


def new_installation_name() -> str:
    return get_random_string(16)


class Installation(models.Model):
    """The random name of this database, by which its HITs are recognised (mturk.annotations)."""

    ONLY = 1  # the key of its one row

    name = models.CharField(max_length=16, default=new_installation_name, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="installation_is_one"),
        ]

    def __str__(self) -> str:
        return self.name


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
    GONE = "GONE", "gone: the marketplace does not have it, and it was not deleted from here"


class HitQuerySet(models.QuerySet["Hit"]):
    def alive(self) -> Self:
        """HITs the marketplace has, or will have once a planned one is created."""
        return self.exclude(status__in=[HitStatus.RETIRED, HitStatus.GONE])

    def created(self) -> Self:
        return self.exclude(hit_id=None)


class Hit(models.Model):
    """Slots for at most nine workers, bound to the campaign and not to an image."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="hits")
    hit_type = models.ForeignKey(HitType, models.PROTECT, related_name="hits")
    # UniqueRequestToken of the creating call, written before it is made; the RequesterAnnotation
    # has it, too (hits.mturk.annotations).
    token = models.CharField(max_length=64, unique=True)
    hit_id = models.CharField(max_length=64, unique=True, null=True, blank=True)
    status = models.CharField(max_length=7, choices=HitStatus, default=HitStatus.PLANNED)
    slots = models.PositiveSmallIntegerField()
    reward = models.DecimalField(max_digits=8, decimal_places=2)
    fee = models.DecimalField(max_digits=8, decimal_places=2, help_text="for one assignment")
    planned_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    # What ListHITs said last: slots nobody took, and slots somebody is working at.
    available = models.PositiveSmallIntegerField(default=0)
    pending = models.PositiveSmallIntegerField(default=0)
    # Since when submissions are known of that were not read yet; empty: none.
    unread_since = models.DateTimeField(null=True, blank=True)
    # When it was last seen at the marketplace; empty: not since it was created.
    listed_at = models.DateTimeField(null=True, blank=True)
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
                condition=Q(slots__gte=1, slots__lte=MOST_ASSIGNMENTS), name="hit_one_to_nine_slots"
            ),
            models.CheckConstraint(
                condition=Q(available__lte=F("slots")) & Q(pending__lte=F("slots")),
                name="hit_counts_within_slots",
            ),
            models.CheckConstraint(
                condition=Q(settled__lte=F("ingested")) & Q(ingested__lte=F("slots")),
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


class TaskPageQuerySet(models.QuerySet["TaskPage"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(hit__campaign=campaign)

    def answered(self) -> Self:
        """Pages with an answer that the worker sent here and may have submitted since."""
        return self.filter(answered_at__isnull=False)

    def lapsed(self, at: datetime) -> Self:
        """Pages whose assignment can no longer be submitted."""
        return self.filter(expires_at__lte=at)


class TaskPage(models.Model):
    """A task page that somebody opened, and what they sent from it.

    The marketplace has confirmed nothing of it: anybody can make up the three ids. So a page binds
    nothing but itself. It reserves its tasks, which steers other pages and turns nobody away, and
    it ends when the marketplace reports its assignment, or when its time is over.
    """

    hit = models.ForeignKey(Hit, models.CASCADE, related_name="pages")
    assignment_id = models.CharField(max_length=64)
    # As the address of the page has it; personal data, as WorkerAccount.marketplace_id.
    marketplace_id = models.CharField(max_length=64)
    opened_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)
    # The answer as it was checked: the fields that go on to the marketplace.
    fields = models.JSONField(default=dict, blank=True)
    # What the page counted while the answer was made, by the number of the task.
    counts = models.JSONField(default=dict, blank=True)
    device = models.CharField(max_length=8, choices=Device, blank=True)

    objects = TaskPageQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "assignment_id", "marketplace_id"], name="task_page_once_per_worker"
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("opened_at")), name="task_page_lasts"
            ),
        ]
        indexes = [
            models.Index(fields=["expires_at"], name="task_page_lapsing"),
            models.Index(fields=["marketplace_id"], name="task_page_by_worker"),
        ]

    def __str__(self) -> str:
        return f"page {self.pk}"


class AssignmentStatus(models.TextChoices):
    SUBMITTED = "SUBMITTED"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    LOST = "LOST", "lost: the marketplace does not have it any more"


DECIDED = [AssignmentStatus.APPROVED, AssignmentStatus.REJECTED]


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(hit__campaign=campaign)

    def not_lost(self) -> Self:
        """Assignments that the marketplace has, as far as is known."""
        return self.exclude(status=AssignmentStatus.LOST)

    def undecided(self) -> Self:
        """Assignments that are neither approved nor rejected."""
        return self.filter(status=AssignmentStatus.SUBMITTED)

    def payable(self) -> Self:
        """Undecided assignments that may be approved as soon as their review window is over: those
        that do not wait for a person."""
        held = HeldPayment.objects.open().filter(assignment=models.OuterRef("pk"))
        return self.undecided().filter(~models.Exists(held))


class Assignment(models.Model):
    """One worker's assignment of a HIT, as the marketplace reported it. The marketplace may give
    the id of a returned assignment to another worker, so a row is known by the id and the worker
    together."""

    hit = models.ForeignKey(Hit, models.PROTECT, related_name="assignments")
    account = models.ForeignKey(WorkerAccount, models.PROTECT, related_name="assignments")
    assignment_id = models.CharField(max_length=64)
    status = models.CharField(
        max_length=9, choices=AssignmentStatus, default=AssignmentStatus.SUBMITTED
    )
    # The decision that the marketplace is being told, from before the call until its outcome is
    # known here. Nobody can decide otherwise meanwhile, as the call may have taken effect.
    deciding = models.CharField(max_length=9, choices=AssignmentStatus, blank=True, default="")
    accepted_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    feedback = models.CharField(max_length=1024, blank=True, help_text="what the worker was told")
    # The answer as the marketplace gave it, kept where it could not be joined to a task; the
    # beginning of a long one.
    unplaced_answer = models.TextField(blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment_id", "account"], name="assignment_once_per_worker"
            ),
            models.CheckConstraint(
                condition=Q(status=AssignmentStatus.SUBMITTED, decided_at=None)
                | Q(status__in=[*DECIDED, AssignmentStatus.LOST], decided_at__isnull=False),
                name="assignment_decided_at_matches_status",
            ),
            models.CheckConstraint(
                condition=Q(deciding="")
                | Q(deciding__in=DECIDED, status=AssignmentStatus.SUBMITTED),
                name="assignment_deciding_while_submitted",
            ),
        ]
        indexes = [
            models.Index(
                fields=["submitted_at"],
                name="assignment_to_settle",
                condition=Q(status=AssignmentStatus.SUBMITTED),
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


class WorkerBarring(models.Model):
    """Whether a campaign's HITs must be hidden from a worker (`is_wanted`), and whether the
    marketplace hides them (`is_in_force`).

    A worker is barred while excluded or paused, and after submitting an answer to every task that
    still needs one.
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


class Listing(models.TextChoices):
    """How much of the account's list of HITs a run read."""

    NONE = "", "none, or not to its end because of an error"
    CAMPAIGN = "CAMPAIGN", "as far as the campaign's own HITs go"
    ACCOUNT = "ACCOUNT", "all of it"


class Sync(models.Model):
    """One run of the reconciler: what it did, and what stopped it."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="syncs")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    # When it was last known to go on; what it did until then is in the counts below.
    seen_at = models.DateTimeField(null=True, blank=True)
    # Whether every HIT was listed, not only those that events had named.
    is_whole = models.BooleanField(default=True)
    listing = models.CharField(max_length=8, choices=Listing, blank=True, default=Listing.NONE)
    api_calls = models.PositiveIntegerField(default=0)
    ingested = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    hits_created = models.PositiveIntegerField(default=0)
    hits_retired = models.PositiveIntegerField(default=0)
    # HITs, assignments and payments that it could not deal with; `error` has the first of them.
    problems = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    # What it seldom does, in words: HITs that were gone, adopted or closed.
    notes = models.TextField(blank=True)

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


class SyncProblem(models.Model):
    """One HIT, assignment, payment or step of a campaign that the last sync could not deal with,
    and why. The next sync tries again; the row goes once that works."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="sync_problems")
    subject = models.CharField(max_length=200)
    message = models.TextField()
    times = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        ordering = ["-last_at", "subject"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "subject"], name="sync_problem_once_per_subject"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subject}: {self.message}"


class SyncRequest(models.Model):
    """A request for a sync, made on a page, and the run that took it up: none while it waits.
    A campaign has one row; the next request replaces it."""

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="sync_request")
    requested_at = models.DateTimeField()
    sync = models.ForeignKey(Sync, models.CASCADE, null=True, blank=True, related_name="requests")

    def __str__(self) -> str:
        return f"{self.campaign}, requested at {self.requested_at:%Y-%m-%d %H:%M}"


class ProcessedMessage(models.Model):
    """A message from the marketplace's queue that was processed, so that a duplicate is ignored."""

    # The notification's own id, or a digest of a message that has none.
    document_id = models.CharField(max_length=100, unique=True)
    received_at = models.DateTimeField()
    # What could not be read is set aside here, with the reason.
    problem = models.CharField(max_length=300, blank=True)
    body = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(problem="") | Q(body=""),
                name="processed_message_body_kept_with_a_problem_only",
            ),
        ]
        indexes = [models.Index(fields=["received_at"], name="processed_message_by_age")]

    def __str__(self) -> str:
        return self.document_id
