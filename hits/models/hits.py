"""HIT types, HITs, their task pages with claims, and assignments with their bonuses."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Coalesce

from annotate.models import Campaign, CampaignStatus, Device, Submission, Task
from hits.models.workers import WorkerAccount
from qualcontrol.models import HeldPayment

# MTurk's fee is higher for HITs with ten or more assignments. A HIT created with fewer can never
# be extended to ten.
MOST_ASSIGNMENTS = 9


class HitTypeQuerySet(models.QuerySet["HitType"]):
    def needed(self) -> Self:
        """Types of campaigns that are not finished, or have HITs left."""
        alive = Hit.objects.alive().filter(campaign=models.OuterRef("campaign"))
        return self.filter(~Q(campaign__status=CampaignStatus.FINISHED) | models.Exists(alive))

    def in_use_last(self, campaign: Campaign) -> Self:
        """Types of one campaign: the newest last, after which come those with its present reward.

        A reward that was changed back uses its earlier type again.
        """
        is_present = Case(
            When(reward=campaign.config.hit.reward, then=2), When(reward=None, then=1), default=0
        )
        return self.order_by(is_present, "pk")


class HitType(models.Model):
    """A HIT type of a campaign. It includes the requirements, so changing them needs a new one."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="hit_types")
    hit_type_id = models.CharField(max_length=64)
    # Qualification type that hides the campaign's HITs from the workers who have it.
    exclusion_type_id = models.CharField(max_length=64)
    # Reward of the type's HITs. Null if unknown, for example for HITs that were found at the
    # marketplace: then the campaign's reward counts, until that changes.
    reward = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    # The queue to which the marketplace sends this type's events; empty if events are off.
    queue_url = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField()

    objects = HitTypeQuerySet.as_manager()

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
        """HITs that exist at the marketplace, and planned ones."""
        return self.exclude(status__in=[HitStatus.RETIRED, HitStatus.GONE])

    def created(self) -> Self:
        return self.exclude(hit_id=None)

    def to_read(self) -> Self:
        """HITs that a listing left to be read in shares."""
        return self.alive().filter(to_read__isnull=False)

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


class Hit(models.Model):
    """A HIT with one to nine slots. It belongs to the campaign and not to a task."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="hits")
    hit_type = models.ForeignKey(HitType, models.PROTECT, related_name="hits")
    # UniqueRequestToken of the call that creates the HIT, stored before the call. It is also part
    # of the RequesterAnnotation (hits.mturk.hit_texts).
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
    # Number of submissions when a listing left the HIT to be read in shares; empty if it is not
    # left (hits.reconcile.run).
    to_read = models.PositiveSmallIntegerField(null=True, blank=True)
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
            models.CheckConstraint(
                condition=Q(to_read=None) | Q(unread_since__isnull=False),
                name="hit_to_read_is_unread",
            ),
        ]
        indexes = [
            models.Index(fields=["campaign", "status"], name="hit_by_status"),
            models.Index(
                fields=["campaign"], name="hit_not_paid_yet", condition=Q(paid__isnull=True)
            ),
            models.Index(
                fields=["campaign"], name="hit_to_read", condition=Q(to_read__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.hit_id or f"planned {self.pk}"


class TaskPageQuerySet(models.QuerySet["TaskPage"]):
    def of(self, campaign: Campaign) -> Self:
        return self.filter(hit__campaign=campaign)

    def of_account(self, account: WorkerAccount) -> Self:
        return self.filter(
            marketplace_id=account.marketplace_id, hit__campaign__endpoint=account.endpoint
        )

    def answered(self) -> Self:
        """Pages whose answer is stored. The worker may have submitted it since."""
        return self.filter(answered_at__isnull=False)

    def lapsed(self, at: datetime) -> Self:
        """Pages whose assignment can no longer be submitted."""
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
    # Measured by the page while the worker answered, by the number of the task.
    counts = models.JSONField(default=dict, blank=True)
    # Numbers of the tasks whose keywords the form of the answer showed, where claims decide this.
    primed = models.JSONField(default=list, blank=True)
    device = models.CharField(max_length=8, choices=Device, blank=True)

    # Not columns: what the statement in `hits.services.hit_pages` adds.
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


class Claim(models.Model):
    """A reservation of one place of a task by an open task page.

    Claims only steer which tasks other pages show. They never keep a worker from a task, nor a
    response from counting.
    """

    task = models.ForeignKey(Task, models.CASCADE, related_name="claims")
    page = models.ForeignKey(TaskPage, models.CASCADE, related_name="claims")
    # False if the page's HIT was probably returned. The page keeps its task, and other pages are
    # given tasks as if this page did not exist.
    takes_place = models.BooleanField(default=True)
    # Whether the page shows the keywords. Null if the task decides it for all its responses.
    primed = models.BooleanField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["page", "task"], name="claim_once_per_page_and_task"),
        ]

    def __str__(self) -> str:
        return f"{self.task} on page {self.page_id}"


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
        """Assignments that exist at the marketplace, as far as is known."""
        return self.exclude(status=AssignmentStatus.LOST)

    def undecided(self) -> Self:
        """Assignments that are neither approved nor rejected."""
        return self.filter(status=AssignmentStatus.SUBMITTED)

    def payable(self) -> Self:
        """Undecided assignments without a held payment.

        They can be approved once their review window is over.
        """
        held = HeldPayment.objects.open().filter(submission=models.OuterRef("pk"))
        return self.undecided().filter(~models.Exists(held))


class Assignment(models.Model):
    """One worker's assignment of a HIT, as the marketplace reported it.

    The marketplace may give the id of a returned assignment to another worker. Therefore the id is
    unique only together with the worker.
    """

    submission = models.OneToOneField(
        Submission, models.PROTECT, primary_key=True, related_name="assignment"
    )
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
    # Marks of the practice that was submitted with it (annotate.kinds.practice).
    practice = models.CharField(max_length=40, blank=True, default="")
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


class WorkerBarringQuerySet(models.QuerySet["WorkerBarring"]):
    def untold(self) -> Self:
        """Barrings that the marketplace must still be told of: not of a worker whose id was
        deleted, nor of a finished campaign without HITs."""
        return self.exclude(is_in_force=F("is_wanted")).filter(
            hit_type__in=HitType.objects.needed(), account__id_deleted_at=None
        )


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

    objects = WorkerBarringQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit_type", "account"], name="barring_once_per_worker"),
        ]

    def __str__(self) -> str:
        return f"{self.account} {'kept from' if self.is_wanted else 'let into'} {self.hit_type}"


class BonusQuerySet(models.QuerySet["Bonus"]):
    def unsent(self) -> Self:
        return self.filter(sent_at=None, refusal="")

    def not_given_up(self) -> Self:
        return self.filter(refusal="")


class Bonus(models.Model):
    """A payment beyond the reward. It is stored before it is sent, and sent only once."""

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="bonuses")
    token = models.CharField(max_length=64, unique=True)
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    fee = models.DecimalField(max_digits=8, decimal_places=2)
    reason = models.CharField(max_length=1024)
    planned_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    # The marketplace's words, if it refused the bonus for good: it is then never sent.
    refusal = models.TextField(blank=True, default="")

    objects = BonusQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "bonuses"
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="bonus_is_positive"),
            models.CheckConstraint(condition=~Q(reason=""), name="bonus_has_a_reason"),
            models.CheckConstraint(
                condition=Q(refusal="") | Q(sent_at=None), name="bonus_refused_is_not_sent"
            ),
        ]

    def __str__(self) -> str:
        return f"${self.amount} for {self.assignment}"
