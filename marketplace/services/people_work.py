"""The work of a group's people: hours and tasks, by which they are paid, and withdrawn work."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Sum
from django.db.models.fields import DurationField

from marketplace.models import (
    REVEALED,
    Assignment,
    AssignmentStatus,
    Consent,
    ConsentText,
    HitType,
    Membership,
    Offer,
    PeopleGroup,
    Transfer,
    TransferKind,
    Worker,
)

HOURS_COLUMNS = [
    "name", "worker_id", "joined", "tasks", "hours", "accepted", "waiting", "not_accepted",
    "earned_usd", "withdrawn",
]  # fmt: skip
WITHDRAWAL_COLUMNS = ["worker_id", "assignment_id", "withdrawn_at"]
TIME = ExpressionWrapper(F("submitted_at") - F("accepted_at"), output_field=DurationField())
# What is counted of submitted assignments.
COUNTS = {
    "tasks": Count("pk"),
    "time": Sum(TIME, default=timedelta()),
    "accepted": Count("pk", filter=Q(status=AssignmentStatus.APPROVED)),
    "waiting": Count("pk", filter=Q(status=AssignmentStatus.SUBMITTED)),
    "not_accepted": Count("pk", filter=Q(status=AssignmentStatus.REJECTED)),
}


@dataclass(frozen=True)
class PersonsWork:
    """One member's work in a group, between two moments."""

    membership: Membership
    tasks: int = 0
    time: timedelta = timedelta()
    accepted: int = 0
    waiting: int = 0
    not_accepted: int = 0
    earned: Decimal = Decimal("0.00")

    @property
    def hours(self) -> Decimal:
        """The time from opening to sending each task, in hours with two places."""
        return (Decimal(self.time.total_seconds()) / 3600).quantize(Decimal("0.01"))

    @property
    def row(self) -> list[object]:
        """The values of HOURS_COLUMNS."""
        member = self.membership
        withdrawn = member.withdrawn_at.isoformat() if member.withdrawn_at else ""
        return [
            member.worker.name, member.worker.public_id, member.joined_at.isoformat(),
            self.tasks, self.hours, self.accepted, self.waiting, self.not_accepted, self.earned,
            withdrawn,
        ]  # fmt: skip


def work_by_person(
    *, group: PeopleGroup, since: datetime | None = None, before: datetime | None = None
) -> list[PersonsWork]:
    """Each member's work in the group, in the order of joining.

    Tasks count by the moment when they were sent. Withdrawn work counts too: it was done.
    """
    work = Assignment.objects.filter(status__in=REVEALED, offer__group=group)
    if since is not None:
        work = work.filter(submitted_at__gte=since)
    if before is not None:
        work = work.filter(submitted_at__lt=before)
    counts = {row.pop("worker"): row for row in work.order_by().values("worker").annotate(**COUNTS)}
    paid = Transfer.objects.filter(
        kind__in=[TransferKind.REWARD, TransferKind.BONUS], assignment__in=work.values("pk")
    )
    earned = dict(paid.values_list("worker").annotate(sum=Sum("amount")))
    members = group.memberships.select_related("worker").order_by("pk")
    return [
        PersonsWork(
            membership,
            **counts.get(membership.worker_id, {}),
            earned=earned.get(membership.worker_id, Decimal("0.00")),
        )
        for membership in members
    ]


def members_of(hit_type: HitType) -> list[str]:
    """The ids of the people who can do these HITs: without those who withdrew, are blocked by the
    requester, or are suspended, as closed accounts are."""
    seen = Offer.objects.filter(hit_type=hit_type, is_open=True)
    members = Membership.objects.filter(
        group__offers__in=seen, withdrawn_at=None, worker__is_suspended=False
    )
    members = members.exclude(worker__blocks__requester=hit_type.requester_id)
    return list(members.order_by().values_list("worker__public_id", flat=True).distinct())


def withdrawals(offers: QuerySet[Offer]) -> Iterator[list[str]]:
    """The values of WITHDRAWAL_COLUMNS for each submitted assignment that was withdrawn, of a group
    or of a type of HITs."""
    gone = Assignment.objects.filter(
        status__in=REVEALED,
        offer__in=offers,
        worker__memberships__group=F("offer__group"),
        worker__memberships__withdrawn_at__isnull=False,
    )
    columns = ("worker__public_id", "public_id", "worker__memberships__withdrawn_at")
    rows = gone.order_by("pk").values_list(*columns)
    return ([worker, assignment, time.isoformat()] for worker, assignment, time in rows)


def people_of(hit_type: HitType) -> tuple[list[Worker], int]:
    """Those whose names the requester may see, of the members of groups that see these HITs or did,
    and the number of others, among them who withdrew their work.

    A person is named if they agreed to the group's latest text, and it says that names are shown.
    """
    members = Membership.objects.filter(group__offers__hit_type=hit_type).select_related("worker")
    later = ConsentText.objects.filter(
        group=OuterRef("text__group"), version__gt=OuterRef("text__version")
    )
    given = Consent.objects.filter(
        ~Exists(later), membership=OuterRef("pk"), text__shows_names=True
    )
    agreed = members.filter(Exists(given), withdrawn_at=None, worker__erased_at=None)
    named = list(
        dict.fromkeys(membership.worker for membership in agreed.order_by("joined_at", "pk"))
    )
    everybody = members.order_by().values("worker").distinct().count()
    return named, everybody - len(named)
