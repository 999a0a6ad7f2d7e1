"""HIT types, HITs, assignments and payments: our requests and what the marketplace reported."""

from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils.crypto import get_random_string

from annotate.models import Campaign, Claim, Device, Worker
from qualcontrol.models import HeldPayment

# MTurk's fee is higher for HITs with ten or more assignments. A HIT created with fewer can never
# be extended to ten.
MOST_ASSIGNMENTS = 9


def new_installation_name() -> str:
    return get_random_string(16)


class Installation(models.Model):
    """The random name of this database, which identifies its HITs (hits.mturk.annotations)."""

    ONLY = 1  # primary key of the only row

    name = models.CharField(max_length=16, default=new_installation_name, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="installation_is_one"),
        ]

    def __str__(self) -> str:
        return self.name


class WorkerAccountQuerySet(models.QuerySet["WorkerAccount"]):
    def known(self, *, endpoint: str, marketplace_id: str) -> "WorkerAccount | None":
        """The account with this id at this marketplace, with its worker.

        Pages use this, because anybody can forge their parameters.
        """
        accounts = self.filter(endpoint=endpoint, marketplace_id=marketplace_id)
        return accounts.select_related("worker").first()


class WorkerAccount(models.Model):
    """A worker's id at one endpoint.

    The id is personal data. Only this table and TaskPage store it.
    """

    worker = models.OneToOneField(Worker, models.PROTECT, related_name="account")
    endpoint = models.CharField(max_length=300)
    marketplace_id = models.CharField(max_length=64)

    objects = WorkerAccountQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "marketplace_id"], name="worker_account_once_per_endpoint"
            ),
        ]

    def __str__(self) -> str:
        return str(self.worker)


class HitType(models.Model):
    """A HIT type of a campaign. It includes the requirements, so changing them needs a new one."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="hit_types")
    hit_type_id = models.CharField(max_length=64)
    # Qualification type that hides the campaign's HITs from the workers who have it.
    exclusion_type_id = models.CharField(max_length=64)
    # Reward of the type's HITs. Null if nobody knows, as for HITs that were found at the
    # marketplace; then it is the campaign's, until that changes.
    reward = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    # The queue to which the marketplace sends this type's events; empty if events are off.
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
        """Return HITs that exist at the marketplace, and planned ones."""
        return self.exclude(status__in=[HitStatus.RETIRED, HitStatus.GONE])

    def created(self) -> Self:
        return self.exclude(hit_id=None)

    def retire(self) -> int:
        """Mark the HITs as retired, with how many of their assignments are paid; return how many.

        The number stays empty if an assignment is undecided, as a faulty reply can cause.
        """
        own = Assignment.objects.filter(hit=models.OuterRef("pk")).order_by()
        paid = own.filter(status=AssignmentStatus.APPROVED).values("hit")
        number = models.Subquery(paid.annotate(n=models.Count("pk")).values("n"))
        return self.update(
            status=HitStatus.RETIRED,
            paid=models.Case(
                models.When(models.Exists(own.undecided()), then=None),
                default=Coalesce(number, 0),
            ),
        )

    def with_answered(self, marketplace_id: str | models.Expression) -> Self:
        """Return HITs with `has_answered`: whether a page with this worker's id, of any HIT of the
        campaign, has an answer."""
        pages = TaskPage.objects.answered().filter(marketplace_id=marketplace_id)
        theirs = pages.filter(hit__campaign=models.OuterRef("campaign"))
        return self.annotate(has_answered=models.Exists(theirs))


class Hit(models.Model):
    """A HIT with one to nine slots. It belongs to the campaign and not to a task."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="hits")
    hit_type = models.ForeignKey(HitType, models.PROTECT, related_name="hits")
    # UniqueRequestToken of the call that creates the HIT, stored before the call. It is also part
    # of the RequesterAnnotation (hits.mturk.annotations).
    token = models.CharField(max_length=64, unique=True)
    hit_id = models.CharField(max_length=64, unique=True, null=True, blank=True)
    status = models.CharField(max_length=7, choices=HitStatus, default=HitStatus.PLANNED)
    slots = models.PositiveSmallIntegerField()
    reward = models.DecimalField(max_digits=8, decimal_places=2)
    fee = models.DecimalField(max_digits=8, decimal_places=2, help_text="for one assignment")
    planned_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    # Free slots and accepted slots: from the latest ListHITs, or estimated when it was not called.
    available = models.PositiveSmallIntegerField(default=0)
    pending = models.PositiveSmallIntegerField(default=0)
    # Time since which submissions wait to be ingested; empty if none do.
    unread_since = models.DateTimeField(null=True, blank=True)
    # When the marketplace last listed the HIT; empty if it never did.
    listed_at = models.DateTimeField(null=True, blank=True)
    # When the assignments were last read because task pages had sent answers.
    read_at = models.DateTimeField(null=True, blank=True)
    # Number of ingested assignments, and how many of them the marketplace reports as decided.
    ingested = models.PositiveSmallIntegerField(default=0)
    settled = models.PositiveSmallIntegerField(default=0)
    # Number of approved assignments of a retired HIT, so that the money of a large campaign is not
    # counted from all its assignments. Null for HITs whose assignments can still change.
    paid = models.PositiveSmallIntegerField(null=True, blank=True)

    # Not a column: what `with_answered` adds.
    has_answered: bool

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
            models.CheckConstraint(
                condition=Q(paid=None) | Q(status=HitStatus.RETIRED), name="hit_paid_once_retired"
            ),
        ]
        indexes = [
            models.Index(fields=["campaign", "status"], name="hit_by_status"),
            models.Index(
                fields=["campaign"], name="hit_not_paid_yet", condition=Q(paid__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return self.hit_id or f"planned {self.pk}"


class TaskPageQuerySet(models.QuerySet["TaskPage"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(hit__campaign=campaign)

    def answered(self) -> Self:
        """Return pages whose answer is stored. The worker may have submitted it since."""
        return self.filter(answered_at__isnull=False)

    def with_places(self) -> Self:
        """Return pages with `takes_place` and `gave_place_back`: whether a claim of the page takes
        its place, and whether one does not."""
        claims = Claim.objects.filter(page=models.OuterRef("pk"))
        return self.annotate(
            takes_place=models.Exists(claims.filter(takes_place=True)),
            gave_place_back=models.Exists(claims.filter(takes_place=False)),
        )

    def lapsed(self, at: datetime) -> Self:
        """Return pages whose assignment can no longer be submitted."""
        return self.filter(expires_at__lte=at)


class TaskPage(models.Model):
    """A task page that was opened, and the answer that was sent from it.

    The marketplace has not confirmed the three ids, and anybody can make them up. A page therefore
    changes only itself and its claims. Claims influence which tasks other pages show, but never
    turn away a worker. A page ends when the marketplace reports its assignment, or when it expires.
    """

    hit = models.ForeignKey(Hit, models.CASCADE, related_name="pages")
    assignment_id = models.CharField(max_length=64)
    # The worker's id in the page's address. Personal data, like WorkerAccount.marketplace_id.
    marketplace_id = models.CharField(max_length=64)
    opened_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)
    # The checked answer: the fields that the worker submits to the marketplace.
    fields = models.JSONField(default=dict, blank=True)
    # What the page measured while the worker answered, by the number of the task.
    counts = models.JSONField(default=dict, blank=True)
    # Numbers of the tasks whose keywords the form of the answer showed, where claims decide this.
    primed = models.JSONField(default=list, blank=True)
    device = models.CharField(max_length=8, choices=Device, blank=True)

    # Not columns: what `with_places` adds.
    takes_place: bool
    gave_place_back: bool

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
        """Return assignments that exist at the marketplace, as far as is known."""
        return self.exclude(status=AssignmentStatus.LOST)

    def undecided(self) -> Self:
        """Return assignments that are neither approved nor rejected."""
        return self.filter(status=AssignmentStatus.SUBMITTED)

    def payable(self) -> Self:
        """Return undecided assignments without a held payment.

        They can be approved once their review window is over.
        """
        held = HeldPayment.objects.open().filter(assignment=models.OuterRef("pk"))
        return self.undecided().filter(~models.Exists(held))


class Assignment(models.Model):
    """One worker's assignment of a HIT, as the marketplace reported it.

    The marketplace may give the id of a returned assignment to another worker. Therefore the id is
    unique only together with the worker.
    """

    hit = models.ForeignKey(Hit, models.PROTECT, related_name="assignments")
    account = models.ForeignKey(
        WorkerAccount, models.PROTECT, related_name="assignments", db_index=False
    )  # assignment_by_account serves it
    assignment_id = models.CharField(max_length=64)
    status = models.CharField(
        max_length=9, choices=AssignmentStatus, default=AssignmentStatus.SUBMITTED
    )
    # The decision that is being sent to the marketplace: set before the call and cleared once the
    # outcome is known. Until then no other decision is possible, as the call may have succeeded.
    deciding = models.CharField(max_length=9, choices=AssignmentStatus, blank=True, default="")
    accepted_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    feedback = models.CharField(max_length=1024, blank=True, help_text="what the worker was told")
    # The marketplace's text of an answer that fits no task. A long text is cut.
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
            # With the HIT, which has the reward: what workers earned is read from the index alone.
            models.Index(fields=["account", "status", "hit"], name="assignment_by_account"),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk} ({self.status.lower()})"


class Bonus(models.Model):
    """A payment beyond the reward. It is stored before it is sent, and sent only once."""

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


class WorkerMessage(models.Model):
    """A message to workers. It is stored before it is sent."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="worker_messages")
    # The key of the request, so that a form that is sent twice makes one message.
    key = models.CharField(max_length=64, unique=True)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    sender = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="worker_messages"
    )
    planned_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(subject="") & ~Q(text=""), name="worker_message_says_something"
            ),
        ]

    def __str__(self) -> str:
        return self.subject


class MessageStatus(models.TextChoices):
    PLANNED = "PLANNED", "waits for the next sync"
    SENDING = "SENDING", "sent, or not: the outcome is not known"
    SENT = "SENT", "sent"
    NOT_REACHED = "NOT_REACHED", "the marketplace did not reach the worker"


class MessageRecipient(models.Model):
    """A worker to whom a message is sent, at most once."""

    message = models.ForeignKey(WorkerMessage, models.PROTECT, related_name="recipients")
    account = models.ForeignKey(WorkerAccount, models.PROTECT, related_name="messages")
    status = models.CharField(max_length=11, choices=MessageStatus, default=MessageStatus.PLANNED)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["message", "account"], name="message_recipient_once"),
            models.CheckConstraint(
                condition=Q(status=MessageStatus.SENT, sent_at__isnull=False)
                | (~Q(status=MessageStatus.SENT) & Q(sent_at=None)),
                name="message_recipient_sent_at_matches_status",
            ),
        ]
        indexes = [
            models.Index(
                fields=["message"],
                name="message_recipient_planned",
                condition=Q(status=MessageStatus.PLANNED),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.message} to {self.account} ({self.status.lower()})"


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


# A run that has not updated `seen_at` for this time was killed: no API call takes longer.
SILENT_AFTER = timedelta(minutes=5)


class Listing(models.TextChoices):
    """How much of the account's list of HITs a sync read."""

    NONE = "", "none, or not to its end because of an error"
    CAMPAIGN = "CAMPAIGN", "as far as the campaign's own HITs go"
    ACCOUNT = "ACCOUNT", "all of it"


class Sync(models.Model):
    """One run of the reconciler for a campaign: its counts, and its first error."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="syncs")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    # When the run last reported progress. The counts below are as of this time.
    seen_at = models.DateTimeField(null=True, blank=True)
    # Whether all HITs were listed, and not only those that events named.
    is_whole = models.BooleanField(default=True)
    listing = models.CharField(max_length=8, choices=Listing, blank=True, default=Listing.NONE)
    api_calls = models.PositiveIntegerField(default=0)
    ingested = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    hits_created = models.PositiveIntegerField(default=0)
    hits_retired = models.PositiveIntegerField(default=0)
    # Number of HITs, assignments, payments and steps that failed; `error` has the first failures.
    problems = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    # Rare events in words, such as HITs that were gone, adopted or closed.
    notes = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.campaign} at {self.started_at:%Y-%m-%d %H:%M}"

    def is_going_on(self, at: datetime) -> bool:
        """Whether the run has not finished, and updated `seen_at` within SILENT_AFTER."""
        return (
            self.finished_at is None
            and self.seen_at is not None
            and (self.seen_at > at - SILENT_AFTER)
        )


class SyncProblem(models.Model):
    """A HIT, assignment, payment or step that failed in the last sync, with the reason.

    The next sync tries again and deletes the row if it succeeds.
    """

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


class CallPace(models.Model):
    """When the next call to an endpoint may be made, by any process; see hits.mturk.pacing."""

    endpoint = models.CharField(max_length=300, unique=True)
    next_at = models.DateTimeField()
    # How long nobody called after the last throttled call; zero once a call was answered.
    pause = models.DurationField(default=timedelta)

    def __str__(self) -> str:
        return f"{self.endpoint} from {self.next_at:%Y-%m-%d %H:%M:%S}"


class ProcessedMessage(models.Model):
    """A processed message of the marketplace's queue, stored so that duplicates are ignored."""

    # The id of the notification, or a digest of the message if it has none.
    document_id = models.CharField(max_length=100, unique=True)
    received_at = models.DateTimeField()
    # The reason and the text of a message that could not be parsed; empty otherwise.
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
